"""Probes over child agents: how they begin and end, what they report, their results."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from harness.coverage.child_calls import child_calls, child_tools
from harness.coverage.child_files import child_files
from harness.coverage.child_requests import child_requests
from harness.coverage.words import texts_in, word_of
from harness.replay.observation import ChildObservation, Observation
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
_REPORTS: Final = (
    ("Graceful recovery succeeded.", "child:recovered"),
    ("Graceful recovery attempt failed", "child:recovery_failed"),
    ("Unauthorized tool call: ", "child:unauthorized"),
    ("Failed to parse JSON arguments", "child:arguments_refused"),
    ("Graceful recovery attempt failed: AbortError", "child:abort_reported"),
    ("AbortError: ", "child:abort_reported"),
    ("Request cancelled.", "child:abort_reported"),
)
_REFUSED: Final = ("params", "Missing required ", "Output validation failed: ")
"""How those errors of complete_task begin that are about its arguments."""
_END: Final = 600
"""Characters at the beginning of a text that are looked at."""


def child_probes(seen: Observation) -> Iterator[str]:
    """Outcome and reports of every child, and the requests to models on its behalf."""
    for child in seen.children:
        yield from _child(child)
    yield from child_tools(_activities(seen.children), seen.tool_states)
    yield from _together(seen.children)
    yield from _answers(seen)
    yield from child_calls(seen)
    yield from child_requests(seen)
    yield from child_files(seen)
    for place, thread in seen.threads.get("side_events", {}).items():
        if thread != MAIN and place < len(seen.side_events):
            kind = str(seen.side_events[place].get("event")).replace("-", "_")
            yield f"child:side.{word_of(kind)}"
    if seen.threads.get("retries"):
        yield "child:retry"


def _child(child: ChildObservation) -> Iterator[str]:
    agent = child.agent if child.agent in _BUILT_IN else "custom"
    yield "child:started"
    yield f"child:agent.{agent}"
    if len(thread_order(child.thread)) > 1:
        yield "child:nested"
    reason = ""
    for _, data in _activities([child]):
        yield f"child:activity.{word_of(data['type'])}"
        if match := _LIMIT.search(str(data.get("text"))):
            reason = match[1]
        for probe in _reported(data):
            yield probe
            if probe in {"child:recovered", "child:recovery_failed"}:
                yield f"{probe}.{reason}"
        result = data.get("data")
        if isinstance(result, dict) and result.get("taskCompleted") is True:
            yield f"child:completed.{agent}"
    for event in child.events or ():
        kind = word_of(event.get("type"))
        yield f"child:event.{kind}"
        if kind == "agent_end":
            yield f"child:end.{word_of(event.get('reason'))}"


def _activities(children: Sequence[ChildObservation]) -> list[tuple[str, dict[str, Any]]]:
    """All activities, each with its thread: its data, and its type in `type`."""
    return [
        (child.thread, {**data, "type": activity.get("type")})
        for child in children
        for activity in child.activities
        if isinstance(data := activity.get("data"), dict)
    ]


def _reported(data: dict[str, Any]) -> Iterator[str]:
    for key in ("context", "errorType"):
        if data.get(key) is not None:
            yield f"child:{'error' if key == 'errorType' else key}.{word_of(data[key])}"
    refused = data["type"] == "ERROR" and data.get("name") == "complete_task"
    if refused and str(data.get("error")).startswith(_REFUSED):
        yield "child:output_refused"
    ours = False
    for text in (data.get("text"), data.get("error")):
        if not isinstance(text, str):
            continue
        if match := _LIMIT.search(text):
            yield f"child:recovering.{match[1]}"
            ours = True
        for sign, probe in _REPORTS:
            if text.startswith(sign):
                yield probe
                ours = True
    if data["type"] == "THOUGHT_CHUNK" and not ours:
        yield "child:thought"


def _together(children: Sequence[ChildObservation]) -> Iterator[str]:
    """Several children: in one answer, or one after the other; and how many."""
    answers: defaultdict[str, list[ChildObservation]] = defaultdict(list)
    for child in children:
        answers[child.thread.rpartition("/")[0]].append(child)
    for several in answers.values():
        if len(several) > 1:
            yield "child:parallel"
    if len(answers) > 1:
        yield "child:one_after_another"
        if len({child.agent_id for child in children}) == len(children):
            yield "child:own_ids"
    if len(children) > 4:
        yield "child:many"


def _answers(seen: Observation) -> Iterator[str]:
    """The results of agents' calls, as the parent receives them."""
    for event in seen.events:
        if event.get("name") == _INVOKE and event.get("type") == "tool_response":
            data = event.get("data")
            direct = isinstance(data, dict) and "agentId" in data
            if seen.children and not event.get("isError") and _finished(event):
                yield "child:direct" if direct else "child:session"
    for request in seen.requests:
        for text in texts_in([each.get("parts") for each in request.new_contents]):
            if match := _ENDED.search(text):
                yield f"child:ended.{match[1]}"
            elif _FAILED.search(text):
                yield "child:failed"
            elif _UNKNOWN.search(text[:_END]):
                yield "child:unknown"


def _finished(event: dict[str, Any]) -> bool:
    return any("terminateReason" in text for text in texts_in(event.get("display")))
