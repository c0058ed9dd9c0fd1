"""`python -m parity_entry`: the command line, also where the current folder has our names."""

from __future__ import annotations

from parity_entry.command import main

main()
