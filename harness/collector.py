"""How often Python looks for garbage: seldom, as commands and workers make little of it."""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["collect_seldom"]

_THRESHOLDS: Final = (50_000, 20, 100)


def collect_seldom() -> None:
    """Have this process, and those that are forked from it, look for garbage less often.

    Imports make half a million objects and no garbage. By default a sixth of their time, and a
    tenth of a case's, goes into looking for some.
    """
    gc.set_threshold(*_THRESHOLDS)
