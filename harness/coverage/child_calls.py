"""Probes over calls: those that start agents, and those that agents make; rules, users, hooks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.coverage.words import HOOK_EVENT, answered, texts_in, tool_word, word_of
from harness.replay.observation import Observation
from services.threads import MAIN

__all__ = ["child_calls", "child_tools"]

_INVOKE: Final = "invoke_agent"
_BY_HOOK: Final = (
    ("Tool execution blocked: ", "child:hook.tool_blocked"),
    ("Agent execution stopped by hook: ", "child:hook.tool_stopped"),
)
_DENIED: Final = "Tool execution denied by policy."
_REMOTE_FAILED: Final = "Error calling remote agent: "
_LOOP: Final = 5
"""Equal calls in a row that are a loop in the main agent (core `services/loopDetectionService.ts`).
"""


def child_calls(seen: Observation) -> Iterator[str]:
    """Calls that should start agents, and the states of the calls that agents made."""
    yield from _starting(seen)
    places = seen.threads.get("tool_states", {})
    for index, states in enumerate(seen.tool_states.values()):
        if places.get(index, MAIN) == MAIN or not states:
            continue
        yield f"child:call.{word_of(states[-1])}"
        if "awaiting_approval" in states:
            yield "child:call.asked"
        if states.count("executing") > 1:
            yield "child:hook.tail_call"
    for index, thread in seen.threads.get("side_events", {}).items():
        side = seen.side_events[index] if index < len(seen.side_events) else {}
        if thread != MAIN and side.get("event") == "confirmation":
            yield f"child:confirmed.{answered(side)}"
    yield from _hooks(seen)
    if any(str(item.get("request")).startswith("POST ") for item in seen.custom.get("http", ())):
        yield "child:remote.asked"


def _starting(seen: Observation) -> Iterator[str]:
    calls = {
        str(event.get("requestId")): event
        for event in seen.events
        if event.get("name") == _INVOKE and event.get("type") == "tool_request"
    }
    for call in calls:
        states = seen.tool_states.get(call) or ("",)
        if "awaiting_approval" in states:
            yield "child:start.asked"
        if states[-1] == "cancelled" and "executing" in states:
            yield "child:aborted"
    for event in seen.events:
        if event.get("type") != "tool_response" or event.get("name") != _INVOKE:
            continue
        states = seen.tool_states.get(str(event.get("requestId"))) or ("",)
        texts = list(texts_in([event.get("content"), event.get("display")]))
        data = event.get("data")
        error = data.get("errorType") if isinstance(data, dict) else None
        if error is not None and "executing" not in states:
            by_hook = any(text.startswith(_BY_HOOK[0][0]) for text in texts)
            yield "child:start.hook_blocked" if by_hook else f"child:start.{word_of(error)}"
        elif error is not None:
            yield f"child:result.{word_of(error)}"
        if any(_REMOTE_FAILED in text for text in texts):
            yield "child:remote.unreachable"


def child_tools(
    activities: Sequence[tuple[str, dict[str, Any]]], states: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the outcomes of the tools that agents called.

    Args:
        activities: Thread and data of each activity, with its type in `type`.
        states: Call to the scheduler's states of it.
    """
    same: Counter[tuple[str, str]] = Counter()
    denied: defaultdict[str, set[str]] = defaultdict(set)
    done: defaultdict[str, set[str]] = defaultdict(set)
    for thread, data in activities:
        name = str(data.get("name"))
        match data.get("type"):
            case "TOOL_CALL_START":
                args = json.dumps(data.get("args"), sort_keys=True, default=str)
                same[thread, f"{name} {args}"] += 1
                call = states.get(str(data.get("callId"))) or ("",)
                if call[-1] == "success" and "awaiting_approval" not in call:
                    yield f"child:unasked.{tool_word(name)}"
            case "TOOL_CALL_END":
                done[name].add(thread)
                yield f"child:done.{tool_word(name)}"
            case "ERROR":
                text = str(data.get("error"))
                yield from (probe for sign, probe in _BY_HOOK if text.startswith(sign))
                if data.get("context") == "tool_call_unauthorized":
                    yield f"child:unauthorized.{tool_word(name)}"
                if text.startswith(_DENIED):
                    denied[name].add(thread)
                    yield "child:denied"
            case _:
                continue
    if any(threads - denied[name] for name, threads in done.items() if denied[name]):
        yield "child:denied_to_one"
    if same and max(same.values()) >= _LOOP:
        yield "child:same_call_again"


def _hooks(seen: Observation) -> Iterator[str]:
    """Events that hooks wrote down more often than the main agent alone sends them.

    AfterModel hooks receive each chunk of an answer, so cassettes have the parent's in one chunk.
    """
    if not seen.children:
        return
    received: Counter[str] = Counter()
    for text in seen.workspace_changes.values():
        received.update(HOOK_EVENT.findall(text or ""))
    prompts = sum(event.get("type") == "agent_start" for event in seen.events)
    calls = sum(event.get("type") == "tool_request" for event in seen.events)
    asked = sum(request.thread == MAIN and request.role == "main" for request in seen.requests)
    for event, count in received.items():
        if event in {"BeforeAgent", "AfterAgent"}:
            if count <= prompts:
                yield f"child:hook.not_received.{event}"
        elif count > (calls if event in {"BeforeTool", "AfterTool"} else asked):
            yield f"child:hook.received.{event}"
