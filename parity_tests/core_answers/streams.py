"""The model's answers, chunk by chunk."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.chat.answer import AnswerReader
from services.clock import VirtualClock
from services.model.errors import InvalidStreamError
from services.model.parts import function_calls, parse_thought
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


SUBJECTS: Final = (
    Subject("streams.assembled", assembled),
    Subject("streams.turn", turn),
)
