"""The trace document: an `Observation` as JSON, with each request's whole contents.

Two equal runs give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from harness.replay.observation import Observation, ObservedRequest
from services.redaction import redacted_value
from services.state import RetryAttempt
from services.wire import Content, JsonObject

__all__ = [
    "CHILD_KEYS",
    "CONFIG_KEYS",
    "children_of",
    "custom_of",
    "progress_of",
    "retry_record",
    "to_trace",
    "trace_json",
    "whole_contents",
]

CHILD_KEYS: Final = ("children", "threads")
"""Keys of traces and baselines about children, absent without children."""

CONFIG_KEYS = (
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "thinkingConfig",
    "responseMimeType",
    "toolConfig",
)
"""Keys of a request's config that a trace keeps."""


def trace_json(observation: Observation) -> str:
    """Return the trace as JSON text with a final newline, with secrets masked, paths replaced."""
    document = _document(observation)
    text = observation.paths.mask_json(_text(document))
    if redacted_value(document) is document:
        return text
    # After the paths are replaced, since a run's folder may be in a user's home.
    return _text(redacted_value(json.loads(text)))


def _text(document: JsonObject) -> str:
    lines = (f"{json.dumps(key)}: {_laid_out(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def to_trace(observation: Observation) -> JsonObject:
    """Return the trace as a value that shares no object with the observation."""
    document: JsonObject = json.loads(trace_json(observation))
    return document


def whole_contents(observation: Observation) -> Iterator[list[Content]]:
    """Yield the whole contents of each request, in order."""
    latest: dict[tuple[str, str], list[Content]] = {}
    for request in observation.requests:
        before = latest.get(request.lineage, [])
        whole = before[: request.same_as_previous] + list(request.new_contents)
        latest[request.lineage] = whole
        yield whole


def retry_record(retry: RetryAttempt) -> JsonObject:
    """Return a retry as a JSON object; a whole delay becomes an integer."""
    delay = retry.delay_ms
    return {
        "attempt": retry.attempt,
        "maxAttempts": retry.max_attempts,
        "delayMs": int(delay) if float(delay).is_integer() else delay,
        "error": retry.error,
        "model": retry.model,
    }


def children_of(seen: Observation) -> JsonObject:
    """Return the keys of a trace or baseline about children; empty without children."""
    document: JsonObject = {}
    if seen.children:
        document["children"] = [child.to_json() for child in seen.children]
    if seen.threads:
        document["threads"] = {
            name: {str(index): thread for index, thread in placed.items()}
            for name, placed in seen.threads.items()
        }
    return document


def progress_of(seen: Observation) -> JsonObject:
    """Return the key of a trace or baseline about the progress of calls, if it was observed."""
    if seen.progress is None:
        return {}
    return {"progress": {call: list(shown) for call, shown in seen.progress.items()}}


def custom_of(seen: Observation) -> JsonObject:
    """Return the keys of a trace or baseline about channels, if the runtime has not all of them."""
    found: JsonObject = {}
    if seen.custom:
        found["custom"] = {name: list(items) for name, items in sorted(seen.custom.items())}
    if seen.channels is not None:
        found["channels"] = sorted(seen.channels)
    return found


def _laid_out(value: Any) -> str:
    """Format a list with one line per item, for `diff`; `indent` would be far slower."""
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]"


def _document(observation: Observation) -> JsonObject:
    requests = zip(observation.requests, whole_contents(observation), strict=True)
    return {
        "name": observation.name,
        "runtime": observation.runtime,
        "versions": dict(sorted(observation.versions.items())),
        "events": list(observation.events),
        "transcript": list(observation.transcript),
        "requests": [_request(request, contents) for request, contents in requests],
        "recording": {path: list(lines) for path, lines in sorted(observation.recording.items())},
        "toolStates": {call: list(states) for call, states in observation.tool_states.items()},
        **progress_of(observation),
        "retries": [retry_record(retry) for retry in observation.retries],
        "sideEvents": list(observation.side_events),
        **children_of(observation),
        **_shown(observation),
        "workspaceChanges": dict(sorted(observation.workspace_changes.items())),
        **custom_of(observation),
        "notes": list(observation.notes),
        "unusedSteps": list(observation.unused_steps),
        "error": observation.error,
    }


def _shown(seen: Observation) -> JsonObject:
    """Return the keys of a trace about what a surface showed, screens as text."""
    return {
        **({"screens": [list(screen.lines) for screen in seen.screens]} if seen.screens else {}),
        **({"wire": list(seen.wire)} if seen.wire else {}),
    }


def _request(request: ObservedRequest, contents: list[Content]) -> dict[str, Any]:
    written: dict[str, Any] = {
        "method": request.method,
        "role": request.role,
        "model": request.model,
        "contents": contents,
        "config": {key: request.config[key] for key in CONFIG_KEYS if key in request.config},
        "tools": list(request.tools),
    }
    if request.thread != "main":
        written["thread"] = request.thread
    if request.system_digest is not None:
        written["systemInstruction"] = request.system_digest
    if request.provider:
        written["provider"] = [finding.to_json() for finding in request.provider]
    return written
