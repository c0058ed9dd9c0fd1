"""`ResultReassembler`: assembles the text of a remote agent's chunks.

Source: core `agents/a2aUtils.ts` (`A2AResultReassembler`, `extractIdsFromResponse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.wire import JsonObject, js_json, js_trim

__all__ = ["AUTH_REQUIRED", "WORKING", "Conversation", "ResultReassembler", "is_terminal"]

AUTH_REQUIRED: Final = (
    "[Authorization Required] The agent has indicated it requires authorization to proceed. "
    "Please follow the agent's instructions."
)
WORKING: Final[JsonObject] = {
    "id": "pending",
    "type": "thought",
    "content": "Working...",
    "status": "running",
}
_TERMINAL: Final = frozenset({"completed", "failed", "canceled", "rejected"})


def is_terminal(state: str | None) -> bool:
    """Whether a task in this state has ended."""
    return state in _TERMINAL


@dataclass(frozen=True, slots=True)
class Conversation:
    """The ids that the next message to an agent continues."""

    context_id: str | None = None
    task_id: str | None = None

    def after(self, chunk: JsonObject) -> Conversation:
        """Return the conversation after `chunk`; an ended task is not continued."""
        if "kind" not in chunk:
            return self
        task = chunk.get("id" if chunk["kind"] == "task" else "taskId") or self.task_id
        ended = is_terminal((chunk.get("status") or {}).get("state"))
        return replace(
            self,
            context_id=chunk.get("contextId") or self.context_id,
            task_id=None if ended else task,
        )

    def without_task(self) -> Conversation:
        """Return the conversation without its task."""
        return replace(self, task_id=None)


class ResultReassembler:
    """Collects chunks, and returns their text and activity so far."""

    def __init__(self) -> None:
        self._log: list[str] = []
        self._names: dict[str, str] = {}
        self._texts: dict[str, list[str]] = {}

    def update(self, chunk: JsonObject) -> None:
        """Add a chunk."""
        match chunk.get("kind"):
            case "status-update":
                self._status(chunk.get("status") or {})
            case "artifact-update":
                self._artifact(chunk["artifact"], append=bool(chunk.get("append")))
            case "task":
                self._task(chunk)
            case "message":
                self._push(chunk)
            case _:
                return

    def activity(self) -> list[JsonObject]:
        """Return the activity for display."""
        items: list[JsonObject] = []
        if AUTH_REQUIRED in self._log:
            items.append({**WORKING, "id": "auth-required", "content": AUTH_REQUIRED})
        items += (
            {
                "id": f"msg-{index}",
                "type": "thought",
                "content": js_trim(text),
                "status": "completed",
            }
            for index, text in enumerate(self._log)
        )
        return items or [dict(WORKING)]

    def text(self) -> str:
        """Return the joined messages, then every artifact under its name."""
        messages = "".join(self._log)
        artifacts = "\n\n".join(self._shown(key) for key in self._texts)
        return "\n\n".join(each for each in (messages, artifacts) if each)

    def _shown(self, key: str) -> str:
        name = self._names[key]
        header = f"Artifact ({name}):" if name else "Artifact:"
        return f"{header}\n{''.join(self._texts[key])}"

    def _status(self, status: JsonObject) -> None:
        if status.get("state") == "auth-required" and AUTH_REQUIRED not in self._log:
            self._log.append(AUTH_REQUIRED)
        self._push(status.get("message"))

    def _artifact(self, artifact: JsonObject, *, append: bool) -> None:
        key = artifact["artifactId"]
        text = _text(artifact["parts"])
        if append and key in self._texts:
            # The first name stays.
            self._texts[key].append(text)
            return
        self._names[key] = artifact.get("name") or ""
        self._texts[key] = [text]

    def _task(self, task: JsonObject) -> None:
        status = task.get("status") or {}
        self._status(status)
        for artifact in task.get("artifacts") or []:
            self._artifact(artifact, append=False)
        if not is_terminal(status.get("state")) or self._log or self._texts:
            return
        # Some agents leave their answer in the task's history.
        spoken = [each for each in task.get("history") or [] if each.get("role") == "agent"]
        if spoken:
            self._push(spoken[-1])

    def _push(self, message: JsonObject | None) -> None:
        if message is None or message.get("role") == "user":
            return
        text = _text(message["parts"])
        if text and (not self._log or self._log[-1] != text):
            self._log.append(text)


def _text(parts: Sequence[JsonObject]) -> str:
    return "".join(_part_text(part) for part in parts)


def _part_text(part: JsonObject) -> str:
    match part.get("kind"):
        case "text":
            return str(part["text"])
        case "data":
            return f"Data: {js_json(part['data'])}"
        case "file":
            file = part["file"]
            return f"File: {file.get('name') or file.get('uri') or '[binary/unnamed]'}"
        case _:
            return ""
