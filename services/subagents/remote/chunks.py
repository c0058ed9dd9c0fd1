"""Converts a server's responses to the JSON of protocol 0.3 for the reassembler.

The library returns messages of protocol 1.0, whatever the server's protocol.
"""

from __future__ import annotations

from typing import Any

from a2a.types.a2a_pb2 import Role, TaskState

from services.wire import JsonObject

__all__ = ["chunk_of"]


def chunk_of(answer: Any) -> JsonObject:
    """Convert a `StreamResponse` or `SendMessageResponse` to `{kind, …}`; `{}` for an empty one."""
    match answer.WhichOneof("payload"):
        case "task":
            return _task(answer.task)
        case "message":
            return _message(answer.message)
        case "status_update":
            update = answer.status_update
            return {"kind": "status-update", **_ids(update), "status": _status(update.status)}
        case "artifact_update":
            update = answer.artifact_update
            return {
                "kind": "artifact-update",
                **_ids(update),
                "artifact": _artifact(update.artifact),
                "append": update.append,
            }
        case _:
            return {}


def _task(task: Any) -> JsonObject:
    return {
        "kind": "task",
        "id": task.id,
        "contextId": task.context_id,
        "status": _status(task.status),
        "artifacts": [_artifact(each) for each in task.artifacts],
        "history": [_message(each) for each in task.history],
    }


def _ids(update: Any) -> JsonObject:
    return {"taskId": update.task_id, "contextId": update.context_id}


def _status(status: Any) -> JsonObject:
    name = TaskState.Name(status.state).removeprefix("TASK_STATE_")
    state = name.lower().replace("_", "-").replace("unspecified", "unknown")
    return {
        "state": state,
        "message": _message(status.message) if status.HasField("message") else None,
    }


def _message(message: Any) -> JsonObject:
    return {
        "kind": "message",
        "role": "user" if message.role == Role.ROLE_USER else "agent",
        "taskId": message.task_id,
        "contextId": message.context_id,
        "parts": [_part(part) for part in message.parts],
    }


def _artifact(artifact: Any) -> JsonObject:
    return {
        "artifactId": artifact.artifact_id,
        "name": artifact.name,
        "parts": [_part(part) for part in artifact.parts],
    }


def _part(part: Any) -> JsonObject:
    match part.WhichOneof("content"):
        case "text":
            return {"kind": "text", "text": part.text}
        case "data":
            return {"kind": "data", "data": _value(part.data)}
        case "url":
            return {"kind": "file", "file": {"name": part.filename, "uri": part.url}}
        case "raw":
            return {"kind": "file", "file": {"name": part.filename}}
        case _:
            return {"kind": "unknown"}


def _value(value: Any) -> Any:
    """Convert a protobuf `Value` to JSON with sorted keys, which the library leaves unordered."""
    match value.WhichOneof("kind"):
        case "struct_value":
            fields = value.struct_value.fields
            return {key: _value(fields[key]) for key in sorted(fields)}
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case "number_value" | "string_value" | "bool_value" as kind:
            return getattr(value, kind)
        case _:
            return None
