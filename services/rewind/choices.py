"""The choices of `/rewind`, and how each is carried out.

Source: gemini-cli `packages/cli/src/ui/commands/rewindCommand.tsx`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from services.state import UserFeedback

__all__ = ["RewindChoice", "Rewinds", "carry_out"]


class RewindChoice(StrEnum):
    """What goes back. The values are upstream's."""

    BOTH = "rewind_and_revert"
    CONVERSATION = "rewind_only"
    FILES = "revert_only"


class Rewinds(Protocol):
    """A runtime that can go back."""

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        ...

    async def revert(self, to: str | int) -> None:
        """Take back the edits of files after a message, which is named as for `rewind`."""
        ...


async def carry_out(
    runtime: Rewinds, to: str | int, choice: RewindChoice, report: Callable[[UserFeedback], None]
) -> None:
    """Carry out a choice. `report` receives the message that the files were reverted.

    The files come first: the recording says how, until the conversation is rewound.
    """
    if choice is not RewindChoice.CONVERSATION:
        await runtime.revert(to)
    if choice is RewindChoice.FILES:
        report(UserFeedback(severity="info", message="File changes reverted."))
    else:
        await runtime.rewind(to)
