"""What happens around a session in the same way behind every surface."""

from __future__ import annotations

from pathlib import Path

from harness.cassette.format import WriteFile
from harness.errors import ReplayFailure
from runtimes.contract import ConversationCommands, Runtime

__all__ = ["resume", "write_file"]


def write_file(root: Path, action: WriteFile) -> None:
    """Write a file of the workspace, as another program does."""
    target = root / action.path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(action.text)


async def resume(runtime: Runtime, recording: Path, cassette: str) -> None:
    """Go on from a chat recording, before the first prompt.

    Raises:
        ReplayFailure: the runtime cannot.
    """
    if not isinstance(runtime, ConversationCommands):
        problem, mend = "this runtime cannot do `resume`", "leave it out, or use a runtime that can"
        raise ReplayFailure(cassette, problem, mend)
    await runtime.resume(recording)
    await runtime.settled()
