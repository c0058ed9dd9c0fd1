"""The program of the process that judges the cassettes of a pytest session.

It is started by path, so that Python adds no folder to `sys.path`: see `parity_entry.serving`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# At the end of the path: only this package, whose name is unique, must be found there.
sys.path.append(str(Path(__file__).resolve().parents[1]))
import_module("parity_entry.ours_first")

if __name__ == "__main__":
    import_module("harness.pytest_serving").main()
