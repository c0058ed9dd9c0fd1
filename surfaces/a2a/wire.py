"""The objects of the published dialect, and the errors of JSON-RPC.

Source: A2A 0.3 (`Task`, `TaskStatusUpdateEvent`, `TaskArtifactUpdateEvent`), and
`packages/a2a-server` `types.ts` for `metadata.coderAgent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.wire import Json, JsonObject

__all__ = [
    "TERMINAL",
    "RpcError",
    "agent_message",
    "ends_task",
    "invalid_params",
    "is_final",
    "task_not_found",
    "text_part",
]

TERMINAL: Final = frozenset({"canceled", "failed", "rejected"})
"""The states in which a task takes no message. After `completed` it does: the extension says so."""


class RpcError(Exception):
    """A request failed; `code` is the error's code in JSON-RPC or A2A."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code

    def shown(self, request_id: Json) -> JsonObject:
        """The response to the request."""
        error = {"code": self.code, "message": str(self)}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}


def invalid_params(message: str) -> RpcError:
    """The parameters cannot be used."""
    return RpcError(-32602, message)


def task_not_found(task_id: Json) -> RpcError:
    """There is no task with this id."""
    return RpcError(-32001, f"Task not found: {task_id}")


def text_part(text: str) -> JsonObject:
    """A part of a message with text."""
    return {"kind": "text", "text": text}


def agent_message(
    parts: Sequence[JsonObject], *, message_id: str, task_id: str, context_id: str
) -> JsonObject:
    """A message of the agent."""
    return {
        "kind": "message",
        "role": "agent",
        "parts": list(parts),
        "messageId": message_id,
        "taskId": task_id,
        "contextId": context_id,
    }


def is_final(event: JsonObject) -> bool:
    """Whether no event follows this one in an answer."""
    return event.get("final") is True


def ends_task(event: JsonObject) -> bool:
    """Whether a client of protocol 1.x takes the task for over after this event."""
    over = TERMINAL | {"completed"}
    return is_final(event) and event["status"]["state"] in over
