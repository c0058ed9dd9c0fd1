"""Whether processes of others end, however slow the machine is."""

from __future__ import annotations

import os
import select

_PATIENCE_S = 30.0


def ends(pid: int | str) -> bool:
    """Whether process `pid` has ended, or does within half a minute.

    A killed process is there until it is its turn to die, and after that until whoever it was left
    to has reaped it: so whether its number still is somebody's says little.
    """
    try:
        process = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], _PATIENCE_S)[0])
    finally:
        os.close(process)
