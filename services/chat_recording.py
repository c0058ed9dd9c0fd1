"""`ChatRecording`: the session file on disk, in upstream's format (JSON lines, append-only).

Every line is metadata, a message (the same id again replaces it), a `$set` of metadata (with
`messages` it is a checkpoint that rebuilds the list) or a `$rewindTo`. On resume, the history
for the model is derived from the file (`services.recording`).

Source: core `services/chatRecordingService.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from services.clock import iso_timestamp
from services.recording.loading import load_conversation_record
from services.recording.opening import migrated_lines, recording_path, rewritten_lines
from services.recording.records import HistoryTurn, ResumedSession
from services.recording.rewriting import HistoryTexts, Rewritten, checkpoint_line
from services.recording.session_file import SessionFile
from services.recording.sync import followed
from services.recording.tool_records import merged_tool_calls, token_record, tool_record
from services.scheduler.calls import CompletedToolCall
from services.session import Session
from services.state import UserFeedback
from services.tools.contract import Tool
from services.wire import Content, Json, JsonObject, Part

__all__ = ["ChatRecording", "HistoryTurn"]

logger = logging.getLogger(__name__)

DISK_FULL: Final = (
    "Chat recording disabled: No space left on device. The conversation will continue but will "
    "not be saved to disk. Free up disk space and restart to enable recording."
)


class ChatRecording:
    """Writes one conversation's file. Nothing is on disk before `initialize`.

    Appends are synchronous, so that a killed process loses nothing. A full disk ends the recording
    with a notice; the conversation goes on.
    """

    # What `initialize` sets, without which nothing is recorded.
    _index: dict[str, int]
    _queued_thoughts: list[JsonObject]
    _queued_tokens: JsonObject | None

    def __init__(
        self,
        session: Session,
        *,
        find_tool: Callable[[str], Tool | None],
        session_id: str | None = None,
    ) -> None:
        """Prepare to record.

        Args:
            session: its workspace has the files, its ids name the messages, its events receive the
                report of a full disk.
            find_tool: finds the active tool by name, for its display name and description.
            session_id: an agent's own id, instead of the session's.
        """
        self._workspace = session.workspace
        self._state = session.state
        self._clock = session.clock
        self._ids = session.ids
        self._events = session.events
        self._find_tool = find_tool
        self._file: SessionFile | None = None
        self._own_id = session_id
        self._session_id = session_id or session.state.session_id
        self._messages: list[JsonObject] = []
        self._texts = HistoryTexts()
        self._written: Rewritten | None = None
        """The history that was just recorded, until the next line."""

    @property
    def path(self) -> Path | None:
        """The file, or `None` while nothing is recorded."""
        return None if self._file is None else self._file.path

    @property
    def messages(self) -> Sequence[JsonObject]:
        """The messages as they stand, oldest first."""
        return self._messages

    def initialize(
        self,
        kind: str = "main",
        *,
        resumed: ResumedSession | None = None,
        parent_session_id: str | None = None,
        directories: list[str] | None = None,
    ) -> None:
        """Open a new file and write its first line, or continue an existing file.

        Args:
            kind: `main` or `subagent`; a resumed recording keeps its own.
            resumed: the recording to continue. Its file is read again; if that fails, the content
                read before is written anew.
            parent_session_id: the parent of a subagent; names the folder.
            directories: a subagent's workspace folders.

        Raises:
            OSError: the folder or file cannot be made, for another reason than a full disk.
            ValueError: a session id names no file.
        """
        self._queued_thoughts, self._queued_tokens = [], None
        if resumed is not None:
            self._resume(resumed)
            return
        self._session_id, stamp = self._own_id or self._state.session_id, self._now()
        path = recording_path(
            self._workspace.project_temp,
            self._session_id,
            stamp,
            kind=kind,
            parent_session_id=parent_session_id,
        )
        self._take_messages([])
        self._file = SessionFile(path, self._give_up)
        metadata: JsonObject = {
            "sessionId": self._session_id,
            "projectHash": self._workspace.project_hash,
            "startTime": stamp,
            "lastUpdated": stamp,
            "kind": kind,
        }
        if directories is not None:
            metadata["directories"] = directories
        self._append(metadata)

    def _resume(self, resumed: ResumedSession) -> None:
        conversation, path = resumed.conversation, resumed.file
        self._session_id = conversation.session_id
        loaded = load_conversation_record(path, self._clock)
        is_old = path.name.endswith(".json")
        new_path = path.with_name(f"{path.name}l") if is_old else path
        self._file = SessionFile(new_path, self._give_up)
        self._take_messages([self._named(m) for m in (loaded or conversation).messages])
        if loaded is None:
            logger.warning("%s can no longer be read; writing it again", path)
            lines = rewritten_lines(conversation, self._messages)
            self._file.replace(lines, self._clock.now_ms())
            return
        if is_old:
            for line in migrated_lines(self._session_id, loaded, self._messages):
                self._append(line)
        # An incomplete last line makes this line unreadable too, so it holds nothing new.
        self._append({"$set": {"sessionId": self._session_id}})

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
        """Append a turn that the user did not type (such as a tool response); returns its id."""
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
        tokens = token_record(usage)
        last = self._messages[-1] if self._messages else None
        if last is not None and last.get("type") == "gemini" and not last.get("tokens"):
            self._queued_tokens = None
            self._push({**last, "tokens": tokens})
        else:
            self._queued_tokens = tokens

    def record_tool_calls(self, model: str, calls: Iterable[CompletedToolCall]) -> None:
        """Write completed calls into the last `gemini` message, or into a new one."""
        if self._file is None:
            return
        records = [tool_record(call, self._find_tool, self._now()) for call in calls]
        last = self._messages[-1] if self._messages else None
        if last is None or last.get("type") != "gemini" or self._queued_thoughts:
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
        self._push({**last, "toolCalls": merged_tool_calls(last, records)})

    def record_history(self, contents: Iterable[Content]) -> list[HistoryTurn]:
        """Write every content of a history that replaces the old one, as a turn of its own.

        Returns the history with the new ids; call `update_messages_from_history` next. The
        lines go to the file together, all with one time.
        """
        contents = list(contents)
        message_ids = [self._ids.uuid("message") for _ in contents]
        if self._file is not None:
            said = self._queued_for(contents)
            written = self._texts.rewritten(contents, message_ids, self._now(), said)
            self._file.append_lines(written.lines())
            self._index.update(zip(message_ids, count(len(self._messages)), strict=False))
            self._messages += written.messages
            self._written = written
        return list(zip(message_ids, contents, strict=True))

    def record_content(self, content: Content) -> HistoryTurn:
        """Append a content that joins the history without a request."""
        kind = "user" if content.get("role") == "user" else "gemini"
        return self.record_synthetic_message(kind, content.get("parts") or []), content

    def record_directories(self, folders: Iterable[Path]) -> None:
        """Write which folders the session works in, so that a resumed one works in them as well."""
        self._set({"directories": [str(folder) for folder in folders]})

    def save_summary(self, summary: str) -> None:
        """Write a summary of the conversation, for lists of sessions."""
        self._set({"summary": summary})

    def rewind_to(self, message_id: str) -> Sequence[JsonObject] | None:
        """Take back a message and all after it; returns the messages that are left.

        An unknown id changes nothing; nothing is returned where nothing is recorded.
        """
        if self._file is None:
            return None
        position = self._index.get(message_id)
        if position is None:
            logger.error("the message to rewind to, %s, is not in the recording", message_id)
            return self._messages
        self._take_messages(self._messages[:position])
        self._append({"$rewindTo": message_id})
        return self._messages

    def update_messages_from_history(self, history: Sequence[HistoryTurn]) -> None:
        """Make the messages follow the model-facing history: its ids, its order, its contents.

        Unknown ids become new messages; messages that the history lacks are dropped; a function
        response becomes the result of the tool call it answers. One checkpoint line is appended
        if anything changed.
        """
        written, self._written = self._written, None
        if self._file is None:
            return
        known = 0 if written is None else written.shared(history)
        messages = followed(
            self._messages,
            self._index,
            history,
            lambda kind, parts, turn_id: self._new_message(kind, parts, None, turn_id),
            () if written is None else written.messages[:known],
        )
        if messages is None:
            return
        self._take_messages(messages)
        self._file.append_lines(checkpoint_line(messages, written, known, self._now()))

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

    def _queued_for(self, contents: Iterable[Content]) -> JsonObject:
        """The thoughts and tokens that wait for an answer, if there is one among `contents`."""
        if all(content.get("role") == "user" for content in contents):
            return {}
        said: JsonObject = {}
        if self._queued_thoughts or self._queued_tokens:
            said = {"thoughts": self._queued_thoughts, "tokens": self._queued_tokens}
        self._queued_thoughts, self._queued_tokens = [], None
        return said

    def _push(self, message: JsonObject) -> None:
        self._append(message)
        known = self._index.get(message["id"])
        if known is None:
            self._index[message["id"]] = len(self._messages)
            self._messages.append(message)
        else:
            self._messages[known] = message

    def _take_messages(self, messages: list[JsonObject]) -> None:
        self._messages = messages
        # From the end: when an old document has an id twice, the first counts.
        ids = [message["id"] for message in reversed(messages)]
        self._index = dict(zip(ids, range(len(ids) - 1, -1, -1), strict=True))

    def _named(self, message: JsonObject) -> JsonObject:
        """The message with an id, which only documents of old versions can lack."""
        return message if message.get("id") else {**message, "id": self._ids.uuid("message")}

    def _set(self, updates: JsonObject) -> None:
        self._append({"$set": updates})

    def _append(self, record: JsonObject) -> None:
        self._written = None
        if self._file is not None:
            self._file.append(record)

    def _give_up(self) -> None:
        self._file = None
        self._events.emit(UserFeedback(severity="warning", message=DISK_FULL))
