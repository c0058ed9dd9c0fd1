"""`TaskRecord`: a task as clients read it, kept up to date by the events that clients receive.

Source: `@a2a-js/sdk` `server/result_manager.ts`.
"""

from __future__ import annotations

import json
from collections import deque
from copy import deepcopy
from datetime import datetime
from typing import Final

from services.wire import Json, JsonObject
from surfaces.a2a.saved import Change, Stored
from surfaces.a2a.wire import TERMINAL

__all__ = ["TaskRecord", "status_ms"]

_LISTS: Final = ("history", "artifacts")
_MOST_CHARACTERS: Final = 64 * 1024 * 1024
"""The most that the messages of one task take as JSON. Older ones are forgotten first."""
_MOST_PARTS: Final = 1000
_MOST_OUTPUT: Final = 1024 * 1024
"""The most parts, and characters, that an artifact keeps of a running tool's output."""


class TaskRecord:
    """The document of a task.

    Args:
        document: the task of A2A 0.3: `id`, `contextId`, `status`, `history`, `artifacts`,
            `metadata`. The record changes it.
    """

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self.waiting: list[str] = []
        """The ids of the calls that wait for the user's approval."""
        self.callbacks: dict[str, JsonObject] = {}
        """The push notification configurations, by their ids."""
        self._known = {each.get("messageId") for each in document["history"]}
        self._first = 0
        self._sizes: deque[int] = deque()
        """The length of each message, where it has been saved."""
        self._total = 0
        self._saved_messages = 0
        self._unsaved_artifacts: set[int] = set()

    @classmethod
    def of(cls, stored: Stored) -> TaskRecord:
        """The task that a database has."""
        document: JsonObject = json.loads(stored.head)
        document["history"] = [json.loads(each) for each in stored.messages]
        document["artifacts"] = [json.loads(each) for each in stored.artifacts]
        record = cls(document)
        record.waiting = json.loads(stored.waiting)
        record.callbacks = json.loads(stored.callbacks)
        record._first = stored.first
        record._sizes.extend(map(len, stored.messages))
        record._total = sum(record._sizes)
        record._saved_messages = len(stored.messages)
        return record

    @property
    def id(self) -> str:
        """The task's id."""
        return str(self.document["id"])

    @property
    def context_id(self) -> str:
        """The id of the conversation that the task belongs to."""
        return str(self.document["contextId"])

    @property
    def state(self) -> str:
        """The state, such as `working`."""
        return str(self.document["status"]["state"])

    @property
    def is_over(self) -> bool:
        """Whether the task takes no more messages."""
        return self.state in TERMINAL

    @property
    def history(self) -> list[JsonObject]:
        """The messages of the user and of the agent."""
        found: list[JsonObject] = self.document["history"]
        return found

    @property
    def extension(self) -> str | None:
        """The URI of the extension whose dialect the client speaks; `None`: the published one."""
        found = self.document["metadata"]["__persistedState"].get("_extension")
        return found if isinstance(found, str) else None

    def speak(self, extension: str | None) -> None:
        """Keep the dialect of a new task, as `extension` has it."""
        if extension is not None:
            self.document["metadata"]["__persistedState"]["_extension"] = extension

    def apply(self, event: JsonObject, *, remembers: bool = True) -> None:
        """Take over what an event changes; `remembers`: its message belongs to the history."""
        if event["kind"] == "status-update":
            self.document["status"] = event["status"]
            if remembers:
                self._remember(event["status"].get("message"))
        elif event["kind"] == "artifact-update":
            self._add_output(event["artifact"])

    def said(self, message: JsonObject) -> None:
        """Add a message of the user."""
        self._remember(message)

    def keep_state(self, state: str) -> None:
        """Keep the state that the metadata show."""
        self.document["metadata"]["__persistedState"]["_taskState"] = state

    def shown(self, history_length: int | None = None) -> JsonObject:
        """A copy for a client, with the last `history_length` messages; `None`: with none.

        Without the parameter the published server leaves the history out.
        """
        document = self.document
        return {
            **document,
            "history": self.history[-history_length:] if history_length else [],
            "artifacts": [{**each, "parts": list(each["parts"])} for each in document["artifacts"]],
            "metadata": deepcopy(document["metadata"]),
        }

    def shown_whole(self) -> JsonObject:
        """A copy for a client, with the whole history."""
        return self.shown(len(self.history))

    def take_changes(self, now_ms: int) -> Change:
        """What has changed since the last call. From now on it counts as saved."""
        messages = self._new_messages()
        artifacts = sorted(self._unsaved_artifacts)
        self._unsaved_artifacts.clear()
        head = {name: value for name, value in self.document.items() if name not in _LISTS}
        return Change(
            task_id=self.id,
            context_id=self.context_id,
            state=self.state,
            status_ms=status_ms(self.document["status"].get("timestamp")),
            saved_ms=now_ms,
            head=_dumped(head),
            waiting=_dumped(list(self.waiting)),
            callbacks=_dumped(dict(self.callbacks)),
            first=self._first,
            messages=messages,
            artifacts=tuple(
                (place, _dumped(self.document["artifacts"][place])) for place in artifacts
            ),
        )

    def _new_messages(self) -> tuple[tuple[int, str], ...]:
        """The messages that are not saved, with their numbers; forgets the oldest of too many."""
        history = self.history
        dumped = [_dumped(each) for each in history[self._saved_messages :]]
        self._sizes.extend(map(len, dumped))
        self._total += sum(map(len, dumped))
        number = self._first + self._saved_messages
        self._saved_messages = len(history)
        while self._total > _MOST_CHARACTERS and len(history) > 1:
            self._total -= self._sizes.popleft()
            self._known.discard(history.pop(0).get("messageId"))
            self._first += 1
            self._saved_messages -= 1
        numbered = enumerate(dumped, start=number)
        return tuple(each for each in numbered if each[0] >= self._first)

    def _remember(self, message: JsonObject | None) -> None:
        if message is not None and message.get("messageId") not in self._known:
            self._known.add(message.get("messageId"))
            self.history.append(message)

    def _add_output(self, artifact: JsonObject) -> None:
        artifacts = self.document["artifacts"]
        for place, known in enumerate(artifacts):
            if known["artifactId"] == artifact["artifactId"]:
                parts = known["parts"]
                parts.extend(artifact["parts"])
                del parts[:-_MOST_PARTS]
                while len(parts) > 1 and sum(map(_length, parts)) > _MOST_OUTPUT:
                    del parts[0]
                self._unsaved_artifacts.add(place)
                return
        self._unsaved_artifacts.add(len(artifacts))
        artifacts.append({**artifact, "parts": list(artifact["parts"])})


def status_ms(timestamp: Json) -> int:
    """The time of a status, in milliseconds since the epoch; 0 where it has none."""
    if not isinstance(timestamp, str):
        return 0
    try:
        return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except ValueError:
        return 0


def _length(part: JsonObject) -> int:
    text = part.get("text")
    return len(text) if isinstance(text, str) else 0


def _dumped(document: Json) -> str:
    """The document as JSON in ASCII: a database refuses some characters of JavaScript's texts."""
    return json.dumps(document, separators=(",", ":"))
