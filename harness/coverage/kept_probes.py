"""Probes over what a run leaves behind: chat recordings, the workspace, the replay's own notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from harness.coverage.words import HOOK_EVENT, objects_in, word_of
from harness.replay.observation import Observation

__all__ = ["recording_probes", "replay_probes", "transcript_probes", "workspace_probes"]

_MOST: Final = 64 * 1024
"""Characters of one written file that are searched for inputs of hooks."""
_KINDS: Final = frozenset(
    {
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "functionCall",
        "functionResponse",
        "inlineData",
        "text",
        "thoughtSignature",
    }
)


def transcript_probes(seen: Observation) -> Iterator[str]:
    """Kinds of parts of the history at the end, by role."""
    for content in seen.transcript:
        role = word_of(content.get("role"))
        for part in objects_in(content.get("parts")):
            yield from (f"history:{role}.{kind}" for kind in _KINDS & part.keys())


def recording_probes(seen: Observation) -> Iterator[str]:
    """Kinds of lines of the chat recordings."""
    if len(seen.recording) > 1:
        yield "recorded:several_files"
    for lines in seen.recording.values():
        records = [line for line in lines if isinstance(line, dict)]
        for line in records:
            yield from _line(line)
        if sum("projectHash" in line for line in records) > 1:
            yield "recorded:head_again"


def _line(line: dict[str, Any]) -> Iterator[str]:
    if "$rewindTo" in line:
        yield "recorded:rewind"
    elif isinstance(line.get("$set"), dict):
        changed = line["$set"]
        yield from (
            f"recorded:set_{key}" for key in ("messages", "sessionId", "summary") if key in changed
        )
    elif "type" in line:
        yield f"recorded:{word_of(line['type'])}"
        yield from (
            f"recorded:{key}"
            for key in ("displayContent", "thoughts", "tokens", "toolCalls")
            if line.get(key)
        )
    elif "sessionId" in line:
        yield "recorded:head"


def workspace_probes(seen: Observation) -> Iterator[str]:
    """Files written and deleted, and the events in the inputs that hooks wrote into files."""
    for text in seen.workspace_changes.values():
        if text is None:
            yield "workspace:deleted"
            continue
        yield "workspace:written"
        if "hook_event_name" in text[:_MOST]:
            yield from (f"hook:received.{name}" for name in HOOK_EVENT.findall(text[:_MOST]))


def replay_probes(seen: Observation) -> Iterator[str]:
    """How the replay itself went."""
    if seen.notes:
        yield "replay:noted"
    if seen.unused_steps:
        yield "replay:steps_left"
    if seen.stalled:
        yield "replay:stalled"
    if seen.error is not None:
        yield "replay:error"
