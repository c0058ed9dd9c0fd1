"""The program of the process that judges the cassettes of a pytest session.

It is started by path, so that Python adds no folder to `sys.path`: see `parity_entry.serving`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# At the end of the path: only our packages, whose names are unique, must be found there.
sys.path.append(str(Path(__file__).resolve().parents[1]))

if __name__ == "__main__":
    import_module("parity.harness.pytest_serving").main()
