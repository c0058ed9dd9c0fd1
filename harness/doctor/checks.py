"""The conformance suite: short sessions, and what a runtime must do in each.

A check reads one observation. What a runtime cannot do makes comparisons with it weaker; what it
does wrong makes their results worthless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from harness.replay.observation import Observation
from services.wire import Json, JsonObject

__all__ = ["CHECKS", "Check", "Found", "Outcome", "Tool"]


class Outcome(StrEnum):
    """What a check found."""

    WORKS = "works"
    LACKS = "lacks"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of one check."""

    name: str
    outcome: Outcome
    says: str
    """What was seen, in words."""
    cost: str = ""
    """What a comparison cannot find, if the runtime lacks something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the runtime declares to its model, and arguments for a call of it."""

    name: str
    args: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One session, and how it is judged."""

    name: str
    document: Callable[[Tool | None], Mapping[str, Any] | None]
    """The `script`, `during` and `model` of its cassette; `None` where a tool is missing."""
    judge: Callable[[Observation], tuple[Outcome, str]]
    """The outcome of a session that came to its end."""
    cost: str
    """What a comparison cannot find without it."""


def _sends(*texts: str) -> list[Json]:
    return [{"send": text} for text in texts]


def _step(*parts: JsonObject, **more: Any) -> JsonObject:
    content = {"role": "model", "parts": list(parts)}
    counts = {"promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9}
    chunk = {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": counts}
    return {"stream": [chunk], **more}


def _say(text: str) -> JsonObject:
    return _step({"text": text})


def _one_message(*steps: JsonObject) -> Callable[[Tool | None], Mapping[str, Any] | None]:
    """Return the document of a session with one message, which needs no tool."""
    return lambda tool: {"script": _sends("Hi"), "model": [*steps]}


def _calling(tool: Tool | None, times: int) -> Mapping[str, Any] | None:
    """Return a session in which the model's answer has so many calls of a tool."""
    if tool is None:
        return None
    call = {"functionCall": {"name": tool.name, "args": tool.args}}
    return {"script": _sends("Go"), "model": [_step(*[call] * times), _LATER]}


def _of(seen: Observation, kind: str) -> list[JsonObject]:
    return [event for event in seen.events if event["type"] == kind]


def _said(seen: Observation, kind: str = "text") -> str:
    messages = (each for each in _of(seen, "message") if each.get("role") == "agent")
    parts = (part for each in messages for part in each.get("content") or ())
    return "".join(str(part.get(kind, "")) for part in parts if part.get("type") == kind)


def _reasons(seen: Observation) -> list[str]:
    return [str(event.get("reason")) for event in _of(seen, "agent_end")]


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _sent(seen: Observation, number: int) -> str:
    """Return the texts of a request's contents that the request before did not have."""
    if number >= len(seen.requests):
        return ""
    request = seen.requests[number]
    kept = "" if not request.same_as_previous else _sent(seen, number - 1)
    return kept + "\n".join(_texts(request.new_contents))


def _answer(seen: Observation) -> tuple[Outcome, str]:
    if "Hello" not in _said(seen):
        return Outcome.BROKEN, "the model's answer is in no message of the agent"
    if _reasons(seen) != ["completed"]:
        return Outcome.BROKEN, f"the stream ends with {', '.join(_reasons(seen)) or 'nothing'}"
    return Outcome.WORKS, "the answer is emitted, and the stream ends"


def _model(seen: Observation) -> tuple[Outcome, str]:
    if not seen.requests:
        return Outcome.LACKS, "no request to a model arrives"
    return Outcome.WORKS, f"requests arrive; the first asks {seen.requests[0].model}"


def _conversation(seen: Observation) -> tuple[Outcome, str]:
    if len(_reasons(seen)) != 2:
        return Outcome.BROKEN, "the second message has no stream of its own"
    if "the first question" in _sent(seen, 1):
        return Outcome.WORKS, "the second request has the first message in its history"
    return Outcome.LACKS, "no later request has the first message"


def _tool_call(seen: Observation) -> tuple[Outcome, str]:
    asked, answered = len(_of(seen, "tool_request")), len(_of(seen, "tool_response"))
    if not asked:
        return Outcome.LACKS, "no event says that a tool is called"
    if not answered:
        return Outcome.LACKS, "the call is an event, and its result is none"
    if len(seen.requests) < 2:
        return Outcome.BROKEN, "the result of the tool is not sent to the model"
    return Outcome.WORKS, "the call and its result are events, and the model gets the result"


def _parallel(seen: Observation) -> tuple[Outcome, str]:
    asked, answered = len(_of(seen, "tool_request")), len(_of(seen, "tool_response"))
    if (asked, answered) == (2, 2):
        return Outcome.WORKS, "two calls in one answer are both made"
    return Outcome.LACKS, f"of two calls in one answer, {asked} are made and {answered} answered"


def _thoughts(seen: Observation) -> tuple[Outcome, str]:
    if "Pondering" in _said(seen, "thought"):
        return Outcome.WORKS, "thoughts are messages of their own kind"
    if "Pondering" in _said(seen):
        return Outcome.BROKEN, "a thought is emitted as a part of the answer"
    return Outcome.LACKS, "thoughts are not emitted"


def _usage(seen: Observation) -> tuple[Outcome, str]:
    found = _of(seen, "usage")
    if not found:
        return Outcome.LACKS, "no event has the model's tokens"
    counts = (found[0].get("inputTokens"), found[0].get("outputTokens"))
    if counts != (7, 2):
        return Outcome.BROKEN, f"7 tokens in and 2 out are emitted as {counts[0]} and {counts[1]}"
    return Outcome.WORKS, "the model's tokens are emitted"


def _failure(seen: Observation) -> tuple[Outcome, str]:
    tries, errors = len(seen.requests), _of(seen, "error")
    if not errors and "Hello" not in _said(seen):
        return Outcome.BROKEN, "neither an error nor an answer is emitted"
    again = f"asks {tries} times" if tries > 1 else "does not ask again"
    ends = "emits an error" if errors else "answers"
    return Outcome.WORKS, f"a model that is busy once: it {again}, and {ends}"


def _cut_off(seen: Observation) -> tuple[Outcome, str]:
    errors = _of(seen, "error")
    if not errors and "whole" not in _said(seen):
        return Outcome.BROKEN, "an answer that breaks off is emitted as if it were whole"
    return Outcome.WORKS, "an answer that breaks off is noticed"


def _abort(seen: Observation) -> tuple[Outcome, str]:
    if _reasons(seen) != ["aborted"]:
        ends = ", ".join(_reasons(seen)) or "nothing"
        return Outcome.BROKEN, f"after an abort the stream ends with {ends}"
    return Outcome.WORKS, "an abort ends the stream"


def _reset(seen: Observation) -> tuple[Outcome, str]:
    if "the first question" in _sent(seen, 1):
        return Outcome.BROKEN, "after a reset the model still gets the first message"
    if len(_reasons(seen)) != 2:
        return Outcome.BROKEN, "after a reset a message has no stream"
    return Outcome.WORKS, "a reset begins another conversation"


_FAILING: Final = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}
_LATER: Final = {**_say("Hello."), "repeat": 20}
_TWO: Final = _sends("the first question", "the second question")

CHECKS: Final = (
    Check(
        name="answer",
        document=_one_message(_say("Hello.")),
        judge=_answer,
        cost="everything: no comparison shows anything",
    ),
    Check(
        name="model",
        document=_one_message(_say("Hello.")),
        judge=_model,
        cost="its model is not replayed, so requests, provider rules, cost and failures of a model "
        "are not compared",
    ),
    Check(
        name="conversation",
        document=lambda tool: {"script": _TWO, "model": [_say("One."), _say("Two.")]},
        judge=_conversation,
        cost="differences in what is kept of earlier messages",
    ),
    Check(
        name="tool call",
        document=lambda tool: _calling(tool, 1),
        judge=_tool_call,
        cost="differences in calls, arguments and results of tools",
    ),
    Check(
        name="parallel calls",
        document=lambda tool: _calling(tool, 2),
        judge=_parallel,
        cost="differences in the order of calls, and lost calls",
    ),
    Check(
        name="thoughts",
        document=_one_message(_step({"text": "Pondering.", "thought": True}, {"text": "Hello."})),
        judge=_thoughts,
        cost="differences in the model's thoughts, as the client gets them",
    ),
    Check(
        name="usage",
        document=_one_message(_say("Hello.")),
        judge=_usage,
        cost="differences in tokens; the gate's limits of cost compare nothing",
    ),
    Check(
        name="busy model",
        document=_one_message(_FAILING, _LATER),
        judge=_failure,
        cost="differences in retries and errors",
    ),
    Check(
        name="broken answer",
        document=_one_message(
            {
                "stream": [{"candidates": [{"content": {"parts": [{"text": "Half"}]}}]}],
                "then_error": _FAILING["error"],
            },
            {**_say("A whole answer."), "repeat": 20},
        ),
        judge=_cut_off,
        cost="differences in answers that break off",
    ),
    Check(
        name="abort",
        document=lambda tool: {
            "script": _sends("Hi"),
            "during": [{"when": {"request": 0}, "do": "abort"}],
            "model": [{"hang": True}],
        },
        judge=_abort,
        cost="differences in what an abort leaves",
    ),
    Check(
        name="reset",
        document=lambda tool: {
            "script": [_TWO[0], {"reset": True}, _TWO[1]],
            "model": [_say("One."), _say("Two.")],
        },
        judge=_reset,
        cost="differences in a second conversation of one session",
    ),
)
"""In the order of the table."""
