"""What a session says when it has ended, on the screen of the shell.

Source: `packages/cli` `ui/components/SessionSummaryDisplay.tsx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from surfaces.terminal.live import LiveSession

__all__ = ["GOODBYE", "farewell_of"]

GOODBYE: Final = "Agent powering down. Goodbye!"


def farewell_of(session: LiveSession, summary: Sequence[str], *, deleted: bool) -> list[str]:
    """The lines: what the session has used, and how to go on with it, unless it is `deleted`."""
    from runtimes.contract import KeepsRecording

    lines = [GOODBYE, "", *summary]
    runtime = session.runtime
    if not deleted and isinstance(runtime, KeepsRecording) and runtime.recorded:
        session_id = session.services.state.session_id
        lines += ["", f"To resume this session: parity agent --resume {session_id}"]
    return lines
