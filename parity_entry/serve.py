"""The program of the process that judges the cassettes of a pytest session.

Started by path, so that no folder is put on `sys.path` for it: see `parity_entry.serving`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# At the end: only this package is to be found there, and its name is its own.
sys.path.append(str(Path(__file__).resolve().parents[1]))
import_module("parity_entry.ours_first")

if __name__ == "__main__":
    import_module("harness.pytest_serving").main()
