"""What a user of the terminal cannot do: the cassettes that the terminal does not play, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.content import TextPart
from harness.cassette.format import (
    Action,
    Cassette,
    Compress,
    DuringAction,
    Hint,
    LeavePlanMode,
    Reset,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.replay.pace import never_idle
from services.steering import InjectionSource

__all__ = ["prompt_of", "refusal"]

_PLAYED: Final = (
    Send,
    SetModel,
    SetApprovalMode,
    LeavePlanMode,
    Compress,
    Reset,
    WriteFile,
)
"""The actions of a script that have keys."""


def refusal(cassette: Cassette) -> str | None:
    """Return why the terminal cannot play `cassette`, as a sentence; `None` if it may."""
    return next(_refusals(cassette), None)


def _refusals(cassette: Cassette) -> Iterator[str]:
    for action in cassette.script:
        if not isinstance(action, _PLAYED):
            yield f"`{type(action).__name__}` between streams is nothing that its user does"
        yield from _unsendable(action)
    yield from never_idle(cassette)
    for moment in cassette.during:
        meanwhile = moment.do
        if isinstance(meanwhile, Hint) and (
            meanwhile.source != InjectionSource.USER_STEERING
            or not cassette.session.settings.get("modelSteering")
        ):
            yield "only a user's hint is typed, where the settings have `modelSteering`"
        yield from _unsendable(meanwhile)
    for kind, answers in cassette.answers.questions.items():
        if any(answer.fails is not None for answer in answers):
            yield f"its handler of `{kind}` does not fail"


def _unsendable(action: Action | DuringAction) -> Iterator[str]:
    """Yield why the text of a prompt or hint cannot be typed."""
    if isinstance(action, Send):
        text = prompt_of(action.payload)
        if text is None:
            yield "a prompt is one text, without further parts and data"
            return
    elif isinstance(action, Hint):
        text = action.text
    else:
        return
    if text != text.strip() or not text:
        yield "a prompt has no blanks around it, and is not empty"
    elif text.endswith("\\") or any(not each.isprintable() and each != "\n" for each in text):
        yield "a prompt has printable letters, and no backslash at its end"
    elif text.startswith(("/", "!", "?")):
        yield "a prompt that begins with `/`, `!` or `?` is a command"


def prompt_of(payload: AgentSend) -> str | None:
    """Return the text of a send that has nothing but a text."""
    if not isinstance(payload, MessageSend) or payload != MessageSend(content=payload.content):
        return None
    if len(payload.content) != 1:
        return None
    part = payload.content[0]
    return part.text if part == TextPart(text=getattr(part, "text", "")) else None
