"""Probes over what a client receives: events and their parts, errors, tools, retries, answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from harness.coverage.words import answered, objects_in, texts_in, tier_of, tool_word, word_of
from harness.replay.observation import Observation
from services.wire import JsonObject

__all__ = ["event_probes", "retry_probes", "side_probes", "state_probes"]

_OVERFLOW: Final = "Context window will overflow"
_CODE: Final = re.compile(r'"code":\s*(\d{3})\b')
_HOOK_SAID: Final = (
    ("Tool execution blocked: ", "hook:tool_blocked"),
    ("Agent execution stopped by hook: ", "hook:tool_stopped"),
    ("Tool result blocked: ", "hook:result_blocked"),
    ("Tool parameter modification by hook failed", "hook:input_refused"),
)


def event_probes(seen: Observation) -> Iterator[str]:
    """Kinds of events, with the details of each kind."""
    before: JsonObject = {}
    streams = rounds = 0
    for event in seen.events:
        kind = word_of(event.get("type"))
        yield f"event:{kind}"
        if kind in _DETAILS:
            yield from _DETAILS[kind](event, before)
        streams += kind == "agent_start"
        rounds += kind == "tool_response" and before.get("type") != "tool_response"
        before = event
    if streams > 1:
        yield "session:several_streams"
    if rounds > 1:
        yield "session:several_tool_rounds"


def _message(event: JsonObject, before: JsonObject) -> Iterator[str]:
    role = word_of(event.get("role"))
    meta = event.get("_meta")
    if before.get("type") == "message" and before.get("role") == "agent":
        yield "message:agent.in_pieces"
    for part in objects_in(event.get("content")):
        yield f"message:{role}.{word_of(part.get('type'))}"
    if isinstance(meta, dict):
        for key in ("citation", "subject"):
            if meta.get(key):
                yield f"message:{role}.{key}"


def _end(event: JsonObject, before: JsonObject) -> Iterator[str]:
    reason = word_of(event.get("reason"))
    yield f"end:{reason}"
    data = event.get("data")
    if isinstance(data, dict) and "message" in data:
        yield "hook:agent_stopped"
    if reason == "aborted":
        yield f"abort:after_{word_of(before.get('type'))}"


def _error(event: JsonObject, _before: JsonObject) -> Iterator[str]:
    yield f"error:{word_of(event.get('status'))}"
    yield "error:fatal" if event.get("fatal") else "error:not_fatal"
    meta = event.get("_meta")
    if str(event.get("message", "")).startswith(_OVERFLOW):
        yield "limit:overflow"
    if not isinstance(meta, dict):
        return
    if meta.get("code") is not None:
        yield f"error_code:{word_of(meta['code'])}"
    if meta.get("code") == "AGENT_EXECUTION_BLOCKED":
        yield "hook:agent_blocked"
    if meta.get("code") == "LOOP_DETECTED":
        yield "loop:ended"
    if meta.get("errorType") is not None:
        yield f"invalid_stream:{word_of(meta['errorType'])}"
    status = meta.get("status")
    if isinstance(status, int):
        yield f"http:{status}"


def _tool_request(event: JsonObject, before: JsonObject) -> Iterator[str]:
    yield f"tool:{tool_word(event.get('name'))}"
    if before.get("type") == "tool_request":
        yield "tool:several_in_one_answer"


def _usage(event: JsonObject, _before: JsonObject) -> Iterator[str]:
    if event.get("cachedTokens") is not None:
        yield "event:usage.cached"


def _tool_response(event: JsonObject, _before: JsonObject) -> Iterator[str]:
    data = event.get("data")
    error = data.get("errorType") if isinstance(data, dict) else None
    failed = event.get("isError") is True or error is not None
    name = tool_word(event.get("name"))
    yield f"tool_result:{name}.{'error' if failed else 'success'}"
    for part in objects_in(event.get("content")):
        if part.get("type") == "media":
            yield "tool_result:media"
    if error is None:
        return
    yield f"tool_error:{word_of(error)}"
    heads = [text[:80] for text in texts_in([event.get("content"), event.get("display")])]
    by_hook = {probe for sign, probe in _HOOK_SAID if any(sign in head for head in heads)}
    yield from by_hook
    if error == "policy_violation" and not by_hook:
        yield "policy:denied"


_DETAILS: Final[Mapping[str, Callable[[JsonObject, JsonObject], Iterator[str]]]] = {
    "message": _message,
    "agent_end": _end,
    "error": _error,
    "tool_response": _tool_response,
    "tool_request": _tool_request,
    "usage": _usage,
}
"""Kind of event to the probes over an event and the one before it."""


def retry_probes(seen: Observation) -> Iterator[str]:
    """Causes of retries (a status, a network failure, a bad stream), and their numbers."""
    for retry in seen.retries:
        # A broken runtime may give a cause that is no text.
        cause = str(retry.error)
        if match := _CODE.search(cause):
            yield f"retry:{match[1]}"
        elif word_of(cause) == cause and cause.isupper():
            yield f"retry:{cause}"
        else:
            yield "retry:other"
        if retry.attempt == 1:
            yield "retry:first"
        elif retry.attempt >= retry.max_attempts - 1:
            yield "retry:last"
        if retry.delay_ms == 0:
            yield "retry:at_once"


def state_probes(seen: Observation) -> Iterator[str]:
    """Yield the scheduler's states of tool calls: each state, each step, and the last state."""
    for states in seen.tool_states.values():
        names = [word_of(state) for state in states]
        for name in names:
            yield f"tool_state:{name}"
        for one, other in pairwise(names):
            yield f"tool_step:{one}>{other}"
            if (one, other) == ("executing", "validating"):
                yield "hook:tail_call"
        if names:
            yield f"tool_end:{names[-1]}"
        if "awaiting_approval" in names:
            yield "policy:asked"
        elif "executing" in names:
            yield "policy:allowed"


def side_probes(seen: Observation) -> Iterator[str]:
    """Changes of model and mode, confirmations and their outcomes, fallback questions."""
    for side in seen.side_events:
        match side.get("event"):
            case "model-changed":
                yield "side:model_changed"
                yield f"side:model_changed.{tier_of(side.get('model'))}"
            case "approval-mode-changed":
                yield f"side:mode.{word_of(side.get('mode'))}"
            case "approval-mode-rejected":
                yield "side:mode_rejected"
            case "confirmation":
                yield f"confirmed:{answered(side)}"
            case "fallback-handler":
                failed, instead = tier_of(side.get("failed")), tier_of(side.get("fallback"))
                yield f"handler:{failed}->{instead}"
                yield f"handler:{_answer(side.get('intent'))}"
                yield f"handler:{word_of(side.get('error'))}"
            case "question":
                yield f"question:{word_of(side.get('kind'))}.{_answer(side.get('answer'))}"
            case "hints-kept":
                yield "steering:kept"
            case "session-updated":
                yield "side:session_updated"
            case "send-rejected":
                yield f"side:send_rejected.{word_of(side.get('kind'))}"
            case other:
                yield f"side:{word_of(other)}"


def _answer(value: object) -> str:
    return "unanswered" if value is None else word_of(value)
