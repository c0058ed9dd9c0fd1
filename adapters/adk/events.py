"""What ADK's runner yields, as the contract's events. Source: `google.adk.events.Event`."""

from __future__ import annotations

from typing import Any, Final

from adapters.events import EVENTS, Emit

__all__ = ["ADK_EVENTS"]

_MADE_BY_ADK: Final = "adk-"
"""How the ids begin that ADK gives to calls without one."""
_STREAMED: Final = "adk: streamed"


def _event(event: Any, emit: Emit) -> None:
    """An event: pieces of text and thoughts, calls, results, tokens, errors, a change of agent.

    With streaming, an event with the whole text follows the pieces, which are partial events.
    """
    content = event.content
    whole = not event.partial
    repeats = whole and bool(emit.notes.pop(_STREAMED, False))
    for part in (content.parts if content is not None else None) or ():
        if part.text and not repeats:
            (emit.thought if part.thought else emit.text)(part.text)
            if not whole:
                emit.notes[_STREAMED] = True
        elif part.function_call and whole:
            call = part.function_call
            made = emit.tool_request(call.name, dict(call.args or {}), id=_given(call.id))
            emit.notes[f"adk: {call.id}"] = made
        elif part.function_response:
            answer = part.function_response
            known = emit.notes.get(f"adk: {answer.id}")
            emit.tool_response(answer.response, name=answer.name, id=known or _given(answer.id))
    if whole and event.usage_metadata:
        counts = event.usage_metadata
        emit.usage(
            event.model_version or "",
            input_tokens=counts.prompt_token_count,
            output_tokens=counts.candidates_token_count,
            cached_tokens=counts.cached_content_token_count,
        )
    if event.error_code:
        emit.error(str(event.error_code), event.error_message or "")
    if event.actions and event.actions.transfer_to_agent:
        emit.custom("transfer_to_agent", {"agent": event.actions.transfer_to_agent})


def _given(id_: str | None) -> str | None:
    """The id of a call, if the model gave it."""
    return None if id_ is None or id_.startswith(_MADE_BY_ADK) else id_


ADK_EVENTS: Final = EVENTS.extended({"google.adk.events.event:Event": _event})
"""The rows of every adapter, and that of ADK's events."""
