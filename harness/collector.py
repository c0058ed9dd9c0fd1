"""Makes Python's garbage collection rarer, since commands and workers make little garbage."""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["collect_seldom"]

_THRESHOLDS: Final = (50_000, 20, 100)


def collect_seldom() -> None:
    """Collect garbage less often in this process and in those forked from it.

    Imports make half a million objects and no garbage. By default, a sixth of their time, and a
    tenth of a case's, goes into garbage collection.
    """
    gc.set_threshold(*_THRESHOLDS)
