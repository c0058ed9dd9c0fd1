"""The model's answers chunk by chunk, and the history that requests are made of."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.chat.answer import AnswerReader
from services.clock import VirtualClock
from services.history.transforms import apply_retry_nudge
from services.history.view import RequestView
from services.model.errors import InvalidStreamError
from services.model.parts import function_calls, parse_thought, part_list_to_string, response_text
from services.model.stream import CallIds, StreamAssembler, call_name
from services.wire import JsonObject

__all__ = ["SUBJECTS"]


def assembled(asked: dict[str, Any]) -> dict[str, Any]:
    """The turn that chunks make, or why they make none, and the calls of each chunk."""
    assembler = StreamAssembler(after_function_response=asked["afterFunctionResponse"])
    calls = []
    for chunk in deepcopy(asked["chunks"]):
        assembler.feed(chunk)
        calls.append(deepcopy(function_calls(chunk)))
    try:
        turn = assembler.finish()
    except InvalidStreamError as error:
        return {"calls": calls, "error": error.type, "message": str(error)}
    return {
        "calls": calls,
        "parts": turn.parts,
        "thoughts": [each._asdict() for each in turn.thoughts],
        "usage": turn.usage,
        "message": turn.response_text if turn.recorded_as_message else None,
    }


@dataclass(frozen=True, slots=True)
class _Call:
    call_id: str
    name: str
    args: JsonObject


def turn(asked: dict[str, Any]) -> dict[str, Any]:
    """What a client sees of an answer, in the core's words."""
    reader, ids = AnswerReader(), CallIds(VirtualClock(asked["now"]))

    def requested(call: JsonObject) -> _Call:
        return _Call(ids.assign(call), call_name(call), call.get("args") or {})

    events: list[list[Any]] = []
    for chunk in deepcopy(asked["chunks"]):
        for delta in reader.deltas(chunk, requested):
            part = delta.part or {}
            if isinstance(delta.request, _Call):
                found = delta.request
                events.append(["tool_call_request", found.call_id, found.name, found.args])
            elif part.get("thought"):
                events.append(["thought", parse_thought(part.get("text") or "")._asdict()])
            elif part:
                events.append(["content", part["text"]])
            if delta.citations:
                events.append(["citation", "\n".join(("Citations:", *delta.citations))])
            if delta.finish_reason:
                finished = {"reason": delta.finish_reason}
                usage = {} if delta.usage is None else {"usageMetadata": delta.usage}
                events.append(["finished", {**finished, **usage}])
    return {"events": events, "text": reader.text, "reason": reader.finish_reason}


def history(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The contents of requests, after each change of the history."""
    view = RequestView(strip_thoughts=asked["strip"])
    answers = []
    for what, given in asked["steps"]:
        _CHANGES[what](view, given)
        plain = view.contents(signed=False)
        answers.append(
            {
                "whole": view.whole(),
                "curated": view.curated(),
                "plain": plain,
                "signed": view.contents(signed=True),
                "nudged": apply_retry_nudge(plain, "nudge"),
            }
        )
    return answers


_CHANGES: Final[dict[str, Callable[[RequestView, Any], None]]] = {
    "append": RequestView.append,
    "truncate": RequestView.truncate,
    "replace": RequestView.replace,
    "strip": RequestView.set_strip_thoughts,
}


def texts(value: Any) -> dict[str, Any]:
    """Parts as text, in the three ways."""
    return {
        "plain": part_list_to_string(value),
        "verbose": part_list_to_string(value, verbose=True),
        "thought": parse_thought(value)._asdict() if isinstance(value, str) else None,
        "answer": response_text({"candidates": [{"content": {"parts": value}}]})
        if isinstance(value, list) and all(isinstance(part, dict) for part in value)
        else None,
    }


SUBJECTS: Final = (
    Subject("streams.assembled", assembled),
    Subject("streams.turn", turn),
    Subject("streams.history", history),
    Subject("streams.texts", texts),
)
