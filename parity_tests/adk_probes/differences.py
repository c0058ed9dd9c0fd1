"""What may differ between a stock run and one of the adk runtime: a closed list, with reasons.

A difference removes itself from the records of a probe and returns whether it occurred. If no probe
shows a difference any more, `test_adk_probes` fails.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from parity_tests.adk_probes.probe import Again, Probe

__all__ = ["DIFFERENCES", "USUAL", "Difference", "Records"]

Records = dict[str, Any]
"""The records of one run: see `probe.Seen.records`."""

_SIGNATURE: Final = "skip_thought_signature_validator"
_ENVIRONMENT: Final = "<session_context>"
_IDENTITY: Final = '\n\nYou are an agent. Your internal name is "gemini_cli_agent".'


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference that is meant to be there."""

    name: str
    reason: str
    remove: Callable[[Probe, Records, Records], bool]
    """Takes it out of the runtime's records or the stock run's; returns whether it was there."""


def _all_requests(records: Records) -> Iterator[Records]:
    """The requests as they were sent, and as the first plugin found them."""
    yield from records["requests"]
    yield from records["asked"]


def _environment(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for request in _all_requests(ours):
        for content in request["contents"][:1]:
            kept = [p for p in content["parts"] if not _is_environment(p.get("text"))]
            found |= len(kept) < len(content["parts"])
            content["parts"] = kept
        request["contents"] = [each for each in request["contents"] if each["parts"]]
    notes = _without_environment(ours["notes"])
    found |= bool(notes != ours["notes"])
    ours["notes"] = notes
    return found


def _is_environment(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(_ENVIRONMENT)


def _without_environment(value: Any) -> Any:
    """The notes without that text, and without a content `[role, texts]` of nothing else."""
    if not isinstance(value, list):
        return value
    kept = [_without_environment(each) for each in value if not _is_environment(each)]
    pairs = zip(value, kept, strict=False) if len(kept) == len(value) else ()
    emptied = {
        id(new) for old, new in pairs if isinstance(new, list) and new[1:] == [[]] and old != new
    }
    return [each for each in kept if id(each) not in emptied]


def _signatures(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for request in _all_requests(ours):
        for content in request["contents"]:
            for part in content["parts"]:
                if part.get("thoughtSignature") == _SIGNATURE:
                    del part["thoughtSignature"]
                    found = True
    return found


def _identity(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for request in _all_requests(stock):
        said = request.get("systemInstruction", "")
        if said == _IDENTITY.strip():
            del request["systemInstruction"]
            found = True
        elif isinstance(said, str) and _IDENTITY in said:
            request["systemInstruction"] = said.replace(_IDENTITY, "")
            found = True
    return found


def _labels(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for request in _all_requests(stock):
        labels = request.get("labels", {})
        found |= labels.pop("adk_agent_name", None) is not None
        if not labels:
            request.pop("labels", None)
    return found


def _http_options(_: Probe, ours: Records, stock: Records) -> bool:
    options = [request.pop("httpOptions", None) for request in _all_requests(stock)]
    return any(options)


def _coalesced(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for request in _all_requests(stock):
        joined: list[dict[str, Any]] = []
        for content in request["contents"]:
            if joined and joined[-1]["role"] == content["role"]:
                joined[-1] = {**content, "parts": [*joined[-1]["parts"], *content["parts"]]}
                found = True
            else:
                joined.append(content)
        request["contents"] = joined
    if len(ours["session"]) < len(stock["session"]):
        events: list[Records] = []
        for event in stock["session"]:
            if events and event.get("role") == "user" == events[-1].get("role"):
                for name in ("parts", "content"):
                    events[-1][name] += event[name]
            else:
                events.append(event)
        found |= len(events) < len(stock["session"])
        stock["session"] = events
    return found


def _attempts(probe: Probe, ours: Records, stock: Records) -> bool:
    again = sum(isinstance(answer, Again) for answer in probe.script)
    kept: list[Any] = []
    for request in ours["requests"]:
        last = kept[-1] if kept else {}
        if again and _same(last, request) and _falls_back(last, request) is probe.falls_back:
            again -= 1
        else:
            kept.append(request)
    found, last = len(kept) < len(ours["requests"]), ours["requests"][-1:]
    ours["requests"] = kept
    for event in (*ours["events"], *ours["session"]) if found and probe.falls_back else ():
        if event.get("model_version") == last[0]["model"]:
            event["model_version"] = probe.model
    return found


def _same(one: Records, other: Records) -> bool:
    return {**one, "model": ""} == {**other, "model": ""}


def _falls_back(one: Records, other: Records) -> bool:
    return bool(one["model"] != other["model"])


def _announcements(_: Probe, ours: Records, stock: Records) -> bool:
    kept = [
        event
        for event in ours["events"]
        if event["parts"] or event.keys() & {"error_code", "actions"}
    ]
    found = len(kept) < len(ours["events"])
    ours["events"] = kept
    return found


def _error_event(_: Probe, ours: Records, stock: Records) -> bool:
    if stock["result"][-1:] != [["end", "failed"]] or not stock["events"]:
        return False
    last = stock["events"][-1]
    if "error_code" not in last or last["parts"] or ours["events"][-1:] == [last]:
        return False
    stock["events"].pop()
    return True


def _unanswered(_: Probe, ours: Records, stock: Records) -> bool:
    kept = [event for event in stock["session"] if event.get("content") or "actions" in event]
    while len(kept) > len(ours["session"]) and kept[-1]["author"] == "user":
        kept.pop()
    found = len(kept) < len(stock["session"])
    stock["session"] = kept
    return found


def _in_place(probe: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for mine, theirs in zip(_contents(ours), _contents(stock), strict=False):
        for part, other in zip(mine, theirs, strict=False) if probe.in_place else ():
            found |= _unchanged(part, other)
    return found


def _contents(records: Records) -> Iterator[list[Records]]:
    """The parts of the events of the session, and of the requests as they were found."""
    yield from (event.get("content") or [] for event in records["session"])
    yield from (each["parts"] for request in records["asked"] for each in request["contents"])


def _unchanged(part: Records, other: Records) -> bool:
    """Undo a change of a signature or of a tool's response."""
    was = copy.deepcopy(other)
    if "thoughtSignature" not in part:
        other.pop("thoughtSignature", None)
    if "functionResponse" in part and "functionResponse" in other:
        other["functionResponse"]["response"] = part["functionResponse"]["response"]
    return bool(was != other)


def _streamed_calls(_: Probe, ours: Records, stock: Records) -> bool:
    streamed = _calls_apart(ours, stock)
    if streamed:
        # In place of those, a plugin had others run.
        _calls_apart(stock, ours)
    return streamed


def _calls_apart(one: Records, other: Records) -> bool:
    """Take the calls out of a result that the other one does not have."""
    kept = [item for item in one["result"] if item[0] != "call" or item in other["result"]]
    found = len(kept) < len(one["result"])
    one["result"] = kept
    return found


def _unannounced(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for mine, theirs in zip(ours["result"], stock["result"], strict=False):
        if mine[:2] == ["usage", "unknown"] and theirs[0] == "usage":
            theirs[1] = "unknown"
            found = True
    return found


def _call_ids(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for name in ("requests", "asked", "notes", "events", "session", "state", "result"):
        short = _replaced(ours[name], re.compile(r"\b\w+?__(?=c\d+\b)"))
        found |= bool(short != ours[name])
        ours[name] = short
    return found


_MADE: Final = re.compile(r"(\w+__)?\w+_\d{13}_\d+")


def _made_ids(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for name in ("requests", "asked", "events", "session"):
        for each in _calls_and_responses(ours[name]):
            if _MADE.fullmatch(each.get("id", "")):
                found = True
                each["id"] = "adk-UUID"
                if name in ("requests", "asked"):
                    del each["id"]
    return found


def _calls_and_responses(value: Any) -> Iterator[Records]:
    if isinstance(value, list):
        for each in value:
            yield from _calls_and_responses(each)
    elif isinstance(value, dict):
        yield from (value[key] for key in ("functionCall", "functionResponse") if key in value)
        yield from _calls_and_responses([*value.values()])


def _replaced(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub("", value)
    if isinstance(value, list):
        return [_replaced(each, pattern) for each in value]
    if isinstance(value, dict):
        return {pattern.sub("", key): _replaced(each, pattern) for key, each in value.items()}
    return value


def _tool_answers(_: Probe, ours: Records, stock: Records) -> bool:
    count = stock["errors were answers"]
    if count:
        left = stock["callbacks"].pop("after_tool", count) - count
        if left:
            stock["callbacks"]["after_tool"] = left
        stock["notes"] = [note for note in stock["notes"] if not _after_error(note)]
    return bool(count)


def _after_error(note: Any) -> bool:
    return note[0] == "after" and isinstance(note[-1], dict) and "error" in note[-1]


_UNKNOWN: Final = re.compile(r"Tool '\w+' not found\.")


def _unknown_tools(_: Probe, ours: Records, stock: Records) -> bool:
    found = False
    for mine, theirs in zip(ours["requests"], stock["requests"], strict=False):
        for response, other in zip(_responses(mine), _responses(theirs), strict=False):
            said = str(other.get("error", ""))
            if _UNKNOWN.match(said):
                found = True
                for name in ("requests", "asked", "events", "session", "notes", "result"):
                    stock[name] = _said_as(stock[name], said, response.get("error"))
    return found


def _said_as(value: Any, words: str, others: Any) -> Any:
    """JSON with other words in place of some."""
    if isinstance(value, list):
        return [_said_as(each, words, others) for each in value]
    if isinstance(value, dict):
        return {key: _said_as(each, words, others) for key, each in value.items()}
    return others if value == words else value


def _responses(request: Records) -> list[Records]:
    parts = [part for content in request["contents"] for part in content["parts"]]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


_PHASES: Final = {"before": 0, "run": 1, "after": 2, "error": 2}


def _tool_order(_: Probe, ours: Records, stock: Records) -> bool:
    notes = stock["notes"]
    if notes == ours["notes"] or not all(
        isinstance(note[0], str) and note[0] in _PHASES for note in notes
    ):
        return False
    ordered = sorted(notes, key=lambda note: _PHASES[note[0]])
    found = bool(ordered != notes)
    stock["notes"] = ordered
    return found


DIFFERENCES: Final = (
    Difference(
        "environment",
        "The product's first user turn describes the workspace. A stock agent has no such turn.",
        _environment,
    ),
    Difference(
        "signatures",
        "Gemini requires a signature with the first call of a turn. The product adds the signature "
        "that Gemini accepts for any call, as the published core does.",
        _signatures,
    ),
    Difference(
        "identity",
        "ADK's `identity` processor adds the agent's name to the instruction. The product sends "
        "its instruction unchanged.",
        _identity,
    ),
    Difference(
        "labels",
        "ADK adds a label with the agent's name to each request. The product does not, because the "
        "Gemini API refuses labels.",
        _labels,
    ),
    Difference(
        "http options",
        "These options are for google-genai's client. The product does not use that client, and "
        "retries by itself.",
        _http_options,
    ),
    Difference(
        "coalesced",
        "The product sends consecutive turns of one role as one turn, as the published core does.",
        _coalesced,
    ),
    Difference(
        "attempts",
        "The runtime's model layer repeats a request after an error. In stock ADK this is up to "
        "each `BaseLlm`, and the scripted one does not do it.",
        _attempts,
    ),
    Difference(
        "announcements",
        "The runtime emits events without parts, for instance for a chosen model.",
        _announcements,
    ),
    Difference(
        "error event",
        "With an `LlmAgent` as root, ADK yields an event of the error before it raises the error. "
        "With the runtime's root, ADK only raises the error.",
        _error_event,
    ),
    Difference(
        "unanswered",
        "A message without an answer leaves the session, as the published core takes it out of the "
        "history. An event without content leaves it too, unless it changed the state.",
        _unanswered,
    ),
    Difference(
        "edits in place",
        "What a plugin changes in place in the contents of a request is changed in that request "
        "alone. In stock ADK the events of the session are the same objects, and change too.",
        _in_place,
    ),
    Difference(
        "streamed calls",
        "Clients get a call with the delta that has it, as from the published core; a plugin that "
        "then changes it, or takes it out of the answer, only affects what is run.",
        _streamed_calls,
    ),
    Difference(
        "unannounced model",
        "The model is announced with the first message of a session. `usage` names the model that "
        "was announced in the same stream, and else none, as in the published core.",
        _unannounced,
    ),
    Difference(
        "call ids",
        "The call ids of the scheduler begin with the name of the tool, as those of the published "
        "core do.",
        _call_ids,
    ),
    Difference(
        "made ids",
        "A call without an id gets one by the product's rules, as in the published core. ADK makes "
        "an id of its own, and does not send it to the model.",
        _made_ids,
    ),
    Difference(
        "tool errors",
        "If a tool fails, the runtime sends the error to the model as the tool's response, as for "
        "the product's own tools, and calls no after_tool callback. A stock run ends with the "
        "exception, unless a plugin returns a response; then after_tool follows.",
        _tool_answers,
    ),
    Difference(
        "unknown tools",
        "If the model calls a tool that does not exist, the error has the text of the product.",
        _unknown_tools,
    ),
    Difference(
        "tool order",
        "All before_tool callbacks run before the calls of a turn, and all after_tool callbacks "
        "after them, because the scheduler runs the calls of a turn as one batch. Stock ADK "
        "interleaves callbacks and calls.",
        _tool_order,
    ),
)

USUAL: Final = frozenset(
    {"environment", "signatures", "identity", "labels", "announcements", "call ids"}
)
"""What differs in nearly every run; the page does not name it in each row."""
