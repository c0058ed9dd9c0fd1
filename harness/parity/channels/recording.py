"""The recordings of the chat on disk, line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import LONE, Evidence
from harness.parity.guess import Guess, Seam, plainly, probably
from harness.parity.items import Item, dicts, join, list_of, rule
from harness.parity.rules import (
    EVERYWHERE,
    FIRST_SESSION,
    UUID,
    call_ids,
    own_environment,
    own_tasks,
    progress_ids,
    timestamps,
)
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import content_line, quoted
from services.threads import thread_order
from services.wire import JsonObject

__all__ = ["CHANNEL"]

_LATER_RECORDING: Final = re.compile(
    rf"(?<=/session-\d{{4}}-\d\d-\d\dT\d\d-\d\d-)(?!{FIRST_SESSION[:8]})[0-9a-f]{{8}}(?=\.json)"
    rf"|(?<=/chats/)(?!{FIRST_SESSION}){UUID.pattern}(?=/)"
)


@rule(marker="-")
def recorded_ids(item: Item) -> None:
    """The ids of recorded messages are random; a rewind must still name the right message.

    Only UUIDs, and ids that are derived from one (`…_response`), are hidden. Other ids, such as the
    hash of `environment-context`, stay compared. A rewind to another message, and two messages with
    one id, are differences: ids map one to one.
    """
    for holder, path in dicts(item.value):
        for key in ("id", "$rewindTo"):
            value = holder.get(key)
            if isinstance(value, str) and UUID.fullmatch(value.removesuffix("_response")):
                scope = "response" if value.endswith("_response") else "message"
                item.rename("recorded_ids", holder, key, join(path, key), scope)


@rule(marker="sessionId|session-")
def later_sessions(item: Item) -> None:
    """Later sessions of a run have random ids; which recordings share an id is compared.

    A fallback silently begins a session. The id of the first session is given and stays compared.
    A recording that continues another session than it should is a difference: ids map one to one.
    """
    for number, path in enumerate(list_of(item.value.get("files"))):
        if isinstance(path, str) and _LATER_RECORDING.search(path):
            shown = _LATER_RECORDING.sub("<later>", path)
            item.hide("later_sessions", item.value["files"], number, f"files[{number}]", shown)
    for holder, path in dicts(item.value):
        value = holder.get("sessionId")
        if isinstance(value, str) and value != FIRST_SESSION and UUID.fullmatch(value):
            item.rename("later_sessions", holder, "sessionId", join(path, "sessionId"), "session")


class _Recording(Channel):
    name = ChannelName.RECORDING
    about = "the chat recording on disk"
    did = "recorded"
    item = "line of the recording"
    cannot = "One conversation has two recordings, so a resumed session would differ."

    rules = (
        timestamps,
        call_ids,
        recorded_ids,
        later_sessions,
        progress_ids,
        *EVERYWHERE,
        own_environment,
        own_tasks,
    )
    kept = True
    kind = MomentKind.RECORDING

    def items(self, seen: Observation) -> list[JsonObject]:
        by_agent = {child.agent_id: child.thread for child in seen.children}
        threads = {path: by_agent.get(PurePosixPath(path).stem) for path in seen.recording}
        paths = sorted(
            (path for path, thread in threads.items() if thread is None),
            key=lambda path: (_started(seen.recording[path]), path),
        )
        # A child's file is identified by its thread and its start: a later session has the same
        # threads.
        of_children = sorted(
            (thread_order(thread), _started(seen.recording[path]), path, thread)
            for path, thread in threads.items()
            if thread
        )
        lines: list[JsonObject] = [
            {"file": number, "line": line}
            for number, path in enumerate(paths)
            for line in seen.recording[path]
        ]
        for *_, path, thread in of_children:
            lines.extend({"thread": thread, "line": line} for line in seen.recording[path])
        return [{"files": [*paths, *(path for *_, path, _ in of_children)]}, *lines]

    def label(self, item: JsonObject) -> str:
        if "files" in item:
            return "files"
        line = item["line"]
        if not isinstance(line, dict):
            return "line"
        where = f"file {item['file']}" if "file" in item else f"thread {item['thread']}"
        for key in ("$set", "$rewindTo"):
            if key in line:
                return f"{key} in {where}"
        kind = f"message({line.get('type')})" if "type" in line else "metadata"
        return f"{kind} in {where}"

    def text(self, item: Any) -> str:
        return f"recorded {_recorded(item)}"

    def item_of(self, found: Divergence) -> str:
        return f"{self.item} ({found.label})"

    def seam(self, evidence: Evidence) -> Guess:
        lone = evidence.first.kind in LONE
        if ChannelName.EVENTS in evidence.channels:
            if evidence.reached("abort:") or evidence.went_otherwise:
                doubt = "the recording depends on the course of the stream"
                return probably("recording-otherwise", Seam.LIFECYCLE, doubt)
            doubt = "the recording and the events differ in the same way"
            if any(found.label == "tool_response" for found in evidence.of(ChannelName.EVENTS)):
                return probably("result-recorded-and-emitted", Seam.SCHEDULER, doubt)
            return probably("recorded-and-emitted", Seam.STREAM, doubt)
        if lone and "message(" in evidence.first.label and evidence.shrinks:
            doubt = "a rewritten history is recorded again"
            return probably("recorded-anew", Seam.REQUEST_ASSEMBLY, doubt)
        if ".tokens" in evidence.first.path:
            return probably("recorded-tokens", Seam.RECORDING, "the usage may be read differently")
        if not evidence.shares_services:
            return probably("recording-alone-of-engines", Seam.RECORDING, "a service may differ")
        return plainly("recording-alone", Seam.RECORDING)


def _started(lines: Sequence[Any]) -> str:
    """The start time in a recording; the names of later sessions are random."""
    first = lines[0] if lines else None
    return str(first.get("startTime", "")) if isinstance(first, dict) else ""


def _recorded(item: Any) -> str:
    if "files" in item:
        return f"{len(item['files'])} file{'' if len(item['files']) == 1 else 's'}"
    line = item.get("line")
    if isinstance(line, dict) and "type" in line:
        content = line.get("content")
        texts = content if isinstance(content, list) else [{"text": content}]
        calls = line.get("toolCalls")
        called = [str(call.get("name")) for call in calls or () if isinstance(call, dict)]
        calls_text = f" with calls {', '.join(called)}" if called else ""
        return f"message of {line['type']}: {content_line({'parts': texts})}{calls_text}"
    if isinstance(line, dict) and "sessionId" in line:
        return f"the head of {_file(item)}"
    if isinstance(line, dict) and isinstance(line.get("$set"), dict):
        return f"$set {', '.join(line['$set'])}"
    return quoted(json.dumps(line, ensure_ascii=False))


def _file(item: Any) -> str:
    return f"file {item['file']}" if "file" in item else f"the file of thread {item['thread']}"


CHANNEL: Final = _Recording()
