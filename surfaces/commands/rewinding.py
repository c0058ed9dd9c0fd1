"""What the dialog of `/rewind` offers, and what its answer does.

Source: `packages/cli` `ui/commands/rewindCommand.tsx`, `ui/components/RewindViewer.tsx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from runtimes.contract import KeepsRecording, TakesEditsBack
from services.rewind import Change, RewindChoice, carry_out, change_of_turn, change_since
from services.state import UserFeedback
from services.wire import JsonObject
from surfaces.commands.contract import CommandError, CommandSession
from surfaces.commands.histories import is_own_text, items_of_recording, message_text
from surfaces.commands.results import Item, ItemKind, LoadHistory

__all__ = ["RewindPoint", "rewind_points", "rewind_to"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindPoint:
    """A message of the user that the conversation can go back to."""

    message_id: str
    text: str
    turn: Change | None
    """The edits until the user's next message, for the list; `None` without edits."""
    at_ms: int | None
    """When it was sent, in Unix milliseconds; `None`: the recording has no such time."""
    since: Change | None
    """All edits since, for the confirmation; `None`: only the conversation can go back."""


def rewind_points(messages: Sequence[JsonObject]) -> tuple[RewindPoint, ...]:
    """The messages of the user in a chat recording, oldest first."""
    own = (each for each in messages if each.get("type") == "user")
    return tuple(
        RewindPoint(
            message_id=str(each["id"]),
            text=message_text(each),
            at_ms=_sent_ms(each),
            turn=change_of_turn(messages, str(each["id"])),
            since=change_since(messages, str(each["id"])),
        )
        for each in own
    )


async def rewind_to(
    session: CommandSession, point: RewindPoint, choice: RewindChoice
) -> LoadHistory | Item:
    """Carry out the dialog's answer. The conversation that is left has `point`'s text as a draft,
    if the user wrote it.

    What cannot be taken back is reported as `UserFeedback`.

    Raises:
        CommandError: the runtime cannot go back.
    """
    runtime = session.runtime
    if not isinstance(runtime, TakesEditsBack) or not isinstance(runtime, KeepsRecording):
        raise CommandError("Recording service unavailable")
    reports: list[UserFeedback] = []
    await carry_out(runtime, point.message_id, choice, reports.append)
    if choice is RewindChoice.FILES:
        return Item(kind=ItemKind.INFO, text="\n".join(each.message for each in reports))
    draft = "" if is_own_text(point.text) else point.text
    return LoadHistory(items=items_of_recording(runtime.recorded), draft=draft)


def _sent_ms(message: JsonObject) -> int | None:
    try:
        return round(datetime.fromisoformat(str(message.get("timestamp"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
