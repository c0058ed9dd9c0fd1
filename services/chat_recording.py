"""`ChatRecording`: the session file on disk, in upstream's format (JSON lines, append-only).

Every line is metadata, a message (the same id again replaces it), a `$set` of metadata (with
`messages` it is a checkpoint that rebuilds the list) or a `$rewindTo`. The file is the truth about
a conversation; what the model sees is derived from it on resume.

Source: core `services/chatRecordingService.ts`.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from services.clock import Clock, iso_timestamp
from services.ids import IdSource
from services.scheduler.calls import CompletedToolCall
from services.state import CoreEvents, SessionState, UserFeedback
from services.tools.contract import Tool
from services.wire import Content, Json, JsonObject, Part, js_json, js_trim
from services.workspace import Workspace

__all__ = ["ChatRecording", "HistoryTurn"]

logger = logging.getLogger(__name__)

DISK_FULL: Final = (
    "Chat recording disabled: No space left on device. The conversation will continue but will "
    "not be saved to disk. Free up disk space and restart to enable recording."
)

HistoryTurn = tuple[str, Content]
"""A turn of the model-facing history: its durable id and its content."""


class ChatRecording:
    """Writes one conversation's file. Nothing is on disk before `initialize`.

    Appends are synchronous, so that a killed process loses nothing. A full disk switches the
    recording off with a notice; the conversation goes on.
    """

    def __init__(
        self,
        *,
        workspace: Workspace,
        state: SessionState,
        clock: Clock,
        ids: IdSource,
        events: CoreEvents,
        find_tool: Callable[[str], Tool | None],
    ) -> None:
        self._workspace = workspace
        self._state = state
        self._clock = clock
        self._ids = ids
        self._events = events
        self._find_tool = find_tool
        self._file: Path | None = None
        self._metadata: JsonObject = {}
        self._messages: list[JsonObject] = []
        self._index: dict[str, int] = {}
        self._queued_thoughts: list[JsonObject] = []
        self._queued_tokens: JsonObject | None = None

    @property
    def path(self) -> Path | None:
        """The file, or `None` while nothing is recorded."""
        return self._file

    @property
    def messages(self) -> Sequence[JsonObject]:
        """The messages as they stand, oldest first."""
        return self._messages

    def initialize(self, kind: str = "main") -> None:
        """Open a new file under the project's temporary folder and write its first line.

        Raises:
            OSError: the folder or file cannot be made, for another reason than a full disk.
        """
        session_id = self._state.session_id
        stamp = iso_timestamp(self._clock.now_ms())
        name = _safe(session_id)
        if not name:
            raise ValueError(f"Invalid sessionId after sanitization: {session_id}")
        folder = self._workspace.project_temp / "chats"
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"session-{stamp[:16].replace(':', '-')}-{name[:8]}.jsonl"
        self._metadata = {
            "sessionId": session_id,
            "projectHash": self._workspace.project_hash,
            "startTime": stamp,
            "lastUpdated": stamp,
            "kind": kind,
        }
        self._messages, self._index = [], {}
        self._queued_thoughts, self._queued_tokens = [], None
        self._append(self._metadata)

    def record_message(
        self,
        *,
        type: str,
        content: Json,
        display_content: list[Part] | None = None,
        model: str | None = None,
        message_id: str | None = None,
    ) -> str:
        """Append a message (`user`, `gemini`, `info`, …) and return its durable id.

        A `gemini` message takes the thoughts and tokens that were queued for it.
        """
        if self._file is None:
            return message_id or self._ids.uuid("message")
        message = self._new_message(type, content, display_content, message_id)
        if type == "gemini":
            message["thoughts"] = self._queued_thoughts
            message["tokens"] = self._queued_tokens
            if model is not None:
                message["model"] = model
            self._queued_thoughts, self._queued_tokens = [], None
        self._push(message)
        self._set({"lastUpdated": self._now()})
        return str(message["id"])

    def record_synthetic_message(self, type: str, parts: list[Part]) -> str:
        """Append a turn that nobody typed (a tool response, a placeholder); returns its id."""
        return self.record_message(type=type, content=parts)

    def record_thought(self, subject: str, description: str) -> None:
        """Queue a thought for the next `gemini` message."""
        if self._file is not None:
            self._queued_thoughts.append(
                {"subject": subject, "description": description, "timestamp": self._now()}
            )

    def record_tokens(self, usage: JsonObject) -> None:
        """Attach token counts to the last message if it is a `gemini` one without, else queue."""
        if self._file is None:
            return
        tokens = {
            "input": usage.get("promptTokenCount") or 0,
            "output": usage.get("candidatesTokenCount") or 0,
            "cached": usage.get("cachedContentTokenCount") or 0,
            "thoughts": usage.get("thoughtsTokenCount") or 0,
            "tool": usage.get("toolUsePromptTokenCount") or 0,
            "total": usage.get("totalTokenCount") or 0,
        }
        last = self._messages[-1] if self._messages else None
        if last is not None and last["type"] == "gemini" and not last.get("tokens"):
            self._queued_tokens = None
            self._push({**last, "tokens": tokens})
        else:
            self._queued_tokens = tokens

    def record_tool_calls(self, model: str, calls: Iterable[CompletedToolCall]) -> None:
        """Write completed calls into the last `gemini` message, or a new one for want of it."""
        if self._file is None:
            return
        records = [self._tool_record(call) for call in calls]
        last = self._messages[-1] if self._messages else None
        if last is None or last["type"] != "gemini" or self._queued_thoughts:
            message = self._new_message("gemini", "", None, None)
            message |= {
                "toolCalls": records,
                "thoughts": self._queued_thoughts,
                "model": model,
            }
            self._queued_thoughts = []
            if self._queued_tokens:
                message["tokens"] = self._queued_tokens
                self._queued_tokens = None
            self._push(message)
            return
        merged = list(last.get("toolCalls") or ())
        for record in records:
            known = next((i for i, old in enumerate(merged) if old["id"] == record["id"]), None)
            if known is None:
                merged.append(record)
            else:
                merged[known] = {**merged[known], **record}
        self._push({**last, "toolCalls": merged})

    def update_messages_from_history(self, history: Sequence[HistoryTurn]) -> None:
        """Make the messages follow the model-facing history: its ids, its order, its contents.

        Unknown ids become new messages; messages that the history lacks are dropped; a function
        response becomes the result of the tool call it answers. One checkpoint line is appended
        if anything changed.
        """
        if self._file is None:
            return
        updated = False
        messages: list[JsonObject] = []
        for turn_id, content in history:
            parts = content.get("parts") or []
            known = self._index.get(turn_id)
            if known is None:
                updated = True
                kind = "user" if content.get("role") == "user" else "gemini"
                messages.append(self._new_message(kind, parts, None, turn_id))
            else:
                existing = self._messages[known]
                updated = updated or existing.get("content") != content.get("parts")
                messages.append({**existing, "content": parts})
        updated = _sync_tool_results(messages, history) or updated
        if not updated and len(messages) == len(self._messages):
            return
        self._messages = messages
        self._index = {message["id"]: i for i, message in enumerate(messages)}
        self._append({"$set": {"messages": messages, "lastUpdated": self._now()}})

    def _tool_record(self, call: CompletedToolCall) -> JsonObject:
        request = call.request
        name = request.shown_name
        tool = self._find_tool(name)
        description = call.invocation.description() if call.invocation else ""
        record: JsonObject = {
            "id": request.call_id,
            "name": name,
            "args": request.original_request_args or request.args,
            "result": list(call.response.response_parts),
            "status": str(call.status),
            "timestamp": self._now(),
        }
        agent_id = (call.response.data or {}).get("agentId")
        if isinstance(agent_id, str):
            record["agentId"] = agent_id
        if isinstance(call.response.result_display, (str, dict, list)):
            record["resultDisplay"] = call.response.result_display
        record["description"] = js_trim(description) or (tool.description if tool else "")
        record["displayName"] = tool.display_name if tool and tool.display_name else name
        record["renderOutputAsMarkdown"] = bool(tool and tool.is_output_markdown)
        return record

    def _now(self) -> str:
        return iso_timestamp(self._clock.now_ms())

    def _new_message(
        self, kind: str, content: Json, display: list[Part] | None, message_id: str | None
    ) -> JsonObject:
        message: JsonObject = {
            "id": message_id or self._ids.uuid("message"),
            "timestamp": self._now(),
            "type": kind,
            "content": content,
        }
        if display is not None:
            message["displayContent"] = display
        return message

    def _push(self, message: JsonObject) -> None:
        self._append(message)
        known = self._index.get(message["id"])
        if known is None:
            self._index[message["id"]] = len(self._messages)
            self._messages.append(message)
        else:
            self._messages[known] = message

    def _set(self, updates: JsonObject) -> None:
        self._metadata |= updates
        self._append({"$set": updates})

    def _append(self, record: JsonObject) -> None:
        if self._file is None:
            return
        try:
            line = js_json(record).encode("utf-8", "surrogatepass") + b"\n"
            with self._file.open("ab") as file:
                file.write(line)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            self._file = None
            self._events.emit(UserFeedback(severity="warning", message=DISK_FULL))


def _safe(session_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", session_id)


def _sync_tool_results(messages: list[JsonObject], history: Sequence[HistoryTurn]) -> bool:
    """Give each tool call record the parts of the turn that answered it; True if one changed."""
    holders: dict[str, tuple[JsonObject, int]] = {}
    for message in messages:
        if message["type"] == "gemini":
            for position, record in enumerate(message.get("toolCalls") or ()):
                holders.setdefault(record["id"], (message, position))
    updated = False
    for _, content in history:
        if content.get("role") != "user":
            continue
        parts = content.get("parts") or []
        for part in parts:
            response = part.get("functionResponse")
            holder = holders.get(response.get("id")) if response else None
            if holder is None:
                continue
            message, position = holder
            if message["toolCalls"][position].get("result") != parts:
                calls = list(message["toolCalls"])
                calls[position] = {**calls[position], "result": parts}
                message["toolCalls"] = calls
                updated = True
    return updated
