"""What a client of ACP cannot do: the cassettes that it does not play, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.cassette.format import (
    Action,
    Cassette,
    DuringAction,
    Hint,
    LeavePlanMode,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.cassette.needs import function_calls
from harness.replay.pace import never_idle
from harness.replay.surfaces.terminal_limits import prompt_of

__all__ = ["refusal"]

_PLAYED: Final = (Send, SetModel, SetApprovalMode, LeavePlanMode, WriteFile)
"""The actions of a script that have a request."""
_NEVER_ANSWERS: Final = re.compile(r"mcp_\w+_never")
"""The tool of the corpus' MCP server that waits until its call or its server is ended."""


def refusal(cassette: Cassette) -> str | None:
    """Return why no client can play `cassette`, as a sentence; `None` if one may."""
    return next(_refusals(cassette), None)


def _refusals(cassette: Cassette) -> Iterator[str]:
    for step in cassette.document.get("model") or ():
        earlier = list(function_calls([step]))[:-1]
        if any(_NEVER_ANSWERS.fullmatch(str(call.get("name"))) for call in earlier):
            yield "the calls of an answer run one after the other, and an earlier one never ends"
    for action in cassette.script:
        if not isinstance(action, _PLAYED):
            yield f"ACP has no request for `{type(action).__name__}`"
        yield from _unsendable(action)
    yield from never_idle(cassette)
    for moment in cassette.during:
        if isinstance(moment.do, Send):
            yield "a second prompt cancels the first, instead of being refused"
        if isinstance(moment.do, Hint):
            yield "ACP has no request for a hint"
    if cassette.answers.questions:
        yield "ACP has permission requests, and no other questions"
    if any(answer.payload is not None for answer in cassette.answers.confirmations):
        yield "the answer to a permission request is an option, without further data"


def _unsendable(action: Action | DuringAction) -> Iterator[str]:
    """Yield why a send is no `session/prompt` with the same meaning."""
    if not isinstance(action, Send):
        return
    text = prompt_of(action.payload)
    if text is None:
        yield "only a prompt with one text is sent"
    elif text.strip()[:1] in ("/", "$"):
        yield "a prompt that begins with `/` or `$` is a command"
