"""Whether processes of others end, however slow the machine is."""

from __future__ import annotations

import os
import select

_PATIENCE_S = 30.0


def ends(pid: int | str) -> bool:
    """Whether process `pid` has ended, or does within half a minute.

    A killed process exists until the system schedules its end, and until its new parent has reaped
    it. So the existence of its number proves little.
    """
    try:
        process = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], _PATIENCE_S)[0])
    finally:
        os.close(process)
