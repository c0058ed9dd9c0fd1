"""What a client of A2A cannot do: the cassettes that it does not play, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.content import TextPart
from harness.cassette.format import (
    Abort,
    Action,
    Cassette,
    Compress,
    Reset,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.replay.pace import never_idle
from services.state import ApprovalMode

__all__ = ["refusal", "texts_of"]

_PLAYED: Final = (Send, SetModel, SetApprovalMode, Compress, Reset, WriteFile)
"""The actions of a script that have a request."""
_DURING: Final = {
    "Hint": "a text during a turn waits for its end, so there is no hint",
    "Send": "a text during a turn waits for its end, instead of being refused",
    "SetApprovalMode": "no command changes the approval mode during a turn",
}


def refusal(cassette: Cassette) -> str | None:
    """Return why no client can play `cassette`, as a sentence; `None` if one may."""
    return next(_refusals(cassette), None)


def _refusals(cassette: Cassette) -> Iterator[str]:
    for action in cassette.script:
        yield from _unsendable(action)
    yield from never_idle(cassette)
    for moment in cassette.during:
        if not isinstance(moment.do, Abort):
            yield _DURING[type(moment.do).__name__]
    if cassette.answers.questions:
        yield "A2A has confirmations of calls, and no other questions"


def _unsendable(action: Action) -> Iterator[str]:
    if not isinstance(action, _PLAYED):
        yield f"A2A has no request for `{type(action).__name__}`"
    elif isinstance(action, SetApprovalMode) and action.mode is not ApprovalMode.PLAN:
        yield "A2A has no request for another approval mode than plan mode"
    elif isinstance(action, Send) and texts_of(action.payload) is None:
        yield "only a prompt of texts is sent"


def texts_of(payload: AgentSend) -> Sequence[str] | None:
    """Return the texts of a send that has nothing but texts."""
    if not isinstance(payload, MessageSend) or payload != MessageSend(content=payload.content):
        return None
    texts = [
        part.text for part in payload.content if part == TextPart(text=getattr(part, "text", ""))
    ]
    return texts if texts and all(texts) and len(texts) == len(payload.content) else None
