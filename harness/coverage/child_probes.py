"""Probes over what child agents do: how they begin and end, what they tell, what they are asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from harness.coverage.words import texts_in, tier_of, word_of
from harness.replay.observation import ChildObservation, Observation, ObservedRequest
from services.threads import MAIN, thread_order

__all__ = ["child_probes"]

_INVOKE: Final = "invoke_agent"
_BUILT_IN: Final = frozenset({"codebase_investigator", "cli_help", "generalist", "browser_agent"})
_ENDED: Final = re.compile(
    r"\ASubagent '[^']{1,200}' finished\.\nTermination Reason: ([A-Z_]{1,40})"
)
_FAILED: Final = re.compile(r"\ASubagent '[^']{1,200}' failed\. Error: ")
_UNKNOWN: Final = re.compile(r"Subagent '[^']{1,200}' not found\.")
_LIMIT: Final = re.compile(r"\AExecution limit reached \(([A-Z_]{1,40})\)")
_TOLD: Final = (
    ("Graceful recovery succeeded.", "child:recovered"),
    ("Graceful recovery attempt failed", "child:recovery_failed"),
    ("Unauthorized tool call: ", "child:unauthorized"),
    ("Failed to parse JSON arguments", "child:arguments_refused"),
)
_ASKED: Final = (
    ("User hints:", "steering:child.hint"),
    ("Background execution update:", "steering:child.background"),
    ("You have one final chance to complete the task", "child:last_chance"),
    ("Output validation failed: ", "child:output_refused"),
    ("Missing required argument '", "child:output_refused"),
    ('Missing required "result" argument', "child:output_refused"),
    ("User rejected this operation. Please acknowledge", "child:rejected"),
    ("<state_snapshot>", "child:compressed"),
)
_END: Final = 600
"""Characters at each end of a text that are looked at."""


def child_probes(seen: Observation) -> Iterator[str]:
    """What became of every child, what it told, and what models were asked on its behalf."""
    for child in seen.children:
        yield from _child(child)
    yield from _together([child.thread for child in seen.children])
    yield from _calls(seen)
    yield from _requests(seen)
    for place, thread in seen.threads.get("side_events", {}).items():
        if thread != MAIN and place < len(seen.side_events):
            kind = str(seen.side_events[place].get("event")).replace("-", "_")
            yield f"child:side.{word_of(kind)}"
    if seen.threads.get("retries"):
        yield "child:retry"


def _child(child: ChildObservation) -> Iterator[str]:
    yield "child:started"
    yield f"child:agent.{child.agent if child.agent in _BUILT_IN else 'custom'}"
    if len(thread_order(child.thread)) > 1:
        yield "child:nested"
    for activity in child.activities:
        yield f"child:activity.{word_of(activity.get('type'))}"
        data = activity.get("data")
        if isinstance(data, dict):
            yield from _told(data)
    for event in child.events or ():
        kind = word_of(event.get("type"))
        yield f"child:event.{kind}"
        if kind == "agent_end":
            yield f"child:end.{word_of(event.get('reason'))}"


def _told(data: dict[str, Any]) -> Iterator[str]:
    for key in ("context", "errorType"):
        if data.get(key) is not None:
            yield f"child:{'error' if key == 'errorType' else key}.{word_of(data[key])}"
    for text in (data.get("text"), data.get("error")):
        if not isinstance(text, str):
            continue
        if match := _LIMIT.search(text):
            yield f"child:recovering.{match[1]}"
        yield from (probe for sign, probe in _TOLD if text.startswith(sign))


def _together(threads: list[str]) -> Iterator[str]:
    """Several children: of one answer, or one after the other; and how many."""
    answers = Counter(thread.rpartition("/")[0] for thread in threads)
    if any(count > 1 for count in answers.values()):
        yield "child:parallel"
    if len(answers) > 1:
        yield "child:one_after_another"
    if len(threads) > 4:
        yield "child:many"


def _calls(seen: Observation) -> Iterator[str]:
    """The calls that children were to be started by."""
    for event in seen.events:
        if event.get("name") != _INVOKE:
            continue
        call = str(event.get("requestId"))
        if event.get("type") == "tool_request":
            states = seen.tool_states.get(call) or ("",)
            if states[-1] == "cancelled" and "executing" in states:
                yield "child:aborted"
        elif event.get("type") == "tool_response":
            data = event.get("data")
            direct = isinstance(data, dict) and "agentId" in data
            if seen.children and not event.get("isError") and _finished(event):
                yield "child:direct" if direct else "child:session"


def _finished(event: dict[str, Any]) -> bool:
    return any("terminateReason" in text for text in texts_in(event.get("display")))


def _requests(seen: Observation) -> Iterator[str]:
    before: dict[tuple[str, str], ObservedRequest] = {}
    for request in seen.requests:
        texts = [text for content in request.new_contents for text in texts_in(content)]
        for text in texts:
            if match := _ENDED.search(text):
                yield f"child:ended.{match[1]}"
            elif _FAILED.search(text):
                yield "child:failed"
            elif _UNKNOWN.search(text[:_END]):
                yield "child:unknown"
        if request.thread == MAIN:
            continue
        yield f"child:asked.{word_of(request.role)}"
        yield f"child:model.{tier_of(request.model)}"
        yield from _of_child(texts)
        last = before.get(request.lineage)
        if last is not None and request.role == "subagent":
            yield "child:several_turns" if last.digest != request.digest else "child:asked_again"
            if last.model != request.model:
                again = last.digest == request.digest
                here, there = tier_of(last.model), tier_of(request.model)
                yield f"child:{'fallback' if again else 'switched'}.{here}->{there}"
                if again:
                    yield "child:fallback"
        before[request.lineage] = request
    asking = [thread for thread, _ in groupby(request.thread for request in seen.requests)]
    turns = Counter(thread for thread in asking if thread != MAIN)
    if any(count > 1 for count in turns.values()):
        yield "child:interleaved"


def _of_child(texts: list[str]) -> Iterator[str]:
    for text in texts:
        shown = text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"
        yield from (probe for sign, probe in _ASKED if sign in shown)
