"""Conversions between documents of A2A 0.3, in which this server works, and the types of 1.x."""

from __future__ import annotations

from typing import Any, Final

from a2a.compat.v0_3 import conversions, types
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    InternalError,
    InvalidParamsError,
)
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict
from pydantic import BaseModel

from services.wire import JsonObject
from surfaces.a2a.wire import RpcError

__all__ = [
    "callback_document",
    "callback_of",
    "error_of",
    "event_of",
    "message_document",
    "state_document",
    "stream_response",
    "task_of",
]

_ERRORS: Final[dict[int, type[A2AError]]] = {
    code: kind for kind, code in JSON_RPC_ERROR_CODE_MAP.items()
}


def message_document(message: pb.Message) -> JsonObject:
    """A message as 0.3 writes it.

    Raises:
        InvalidParamsError: a part has no content.
    """
    try:
        return _dumped(conversions.to_compat_message(message))
    except ValueError as error:
        raise InvalidParamsError(f"message.parts: {error}") from error


def task_of(document: JsonObject) -> pb.Task:
    """A task of 0.3 as the type of 1.x."""
    return conversions.to_core_task(types.Task.model_validate(document))


def event_of(
    document: JsonObject,
) -> pb.Task | pb.TaskStatusUpdateEvent | pb.TaskArtifactUpdateEvent:
    """An event of 0.3, or a task, as the type of 1.x."""
    match document["kind"]:
        case "task":
            return task_of(document)
        case "artifact-update":
            artifact = types.TaskArtifactUpdateEvent.model_validate(document)
            return conversions.to_core_task_artifact_update_event(artifact)
        case _:
            update = types.TaskStatusUpdateEvent.model_validate(document)
            if not update.final and update.status.state is types.TaskState.input_required:
                # The published dialect says so while a confirmed call runs. In 1.x, which has no
                # `final`, it would mean that the task waits.
                update.status.state = types.TaskState.working
            return conversions.to_core_task_status_update_event(update)


def stream_response(document: JsonObject) -> JsonObject:
    """An event of 0.3, or a task, as the JSON of a `StreamResponse` of 1.x."""
    found: JsonObject = MessageToDict(to_stream_response(event_of(document)))
    return found


def state_document(state: pb.TaskState) -> str:
    """A state as 0.3 writes it."""
    status = conversions.to_compat_task_status(pb.TaskStatus(state=state))
    return str(status.state.value)


def callback_document(config: pb.TaskPushNotificationConfig) -> JsonObject:
    """A push notification configuration as 0.3 writes it."""
    return _dumped(conversions.to_compat_push_notification_config(config))


def callback_of(task_id: str, document: JsonObject) -> pb.TaskPushNotificationConfig:
    """A push notification configuration of 0.3 as the type of 1.x."""
    own = {name: value for name, value in document.items() if not name.startswith("_")}
    config = conversions.to_core_push_notification_config(
        types.PushNotificationConfig.model_validate(own)
    )
    config.task_id = task_id
    return config


def error_of(error: RpcError) -> A2AError:
    """An error of this server as the one of a2a-sdk with the same code."""
    return _ERRORS.get(error.code, InternalError)(str(error))


def _dumped(model: BaseModel) -> JsonObject:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
