"""`Client`: the requests and notifications that go to the client of a connection."""

from __future__ import annotations

from typing import Final

from acp.connection import Connection
from acp.meta import CLIENT_METHODS
from acp.schema import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from acp.utils import notify_model, request_model, request_optional_model

from services.wire import JsonObject

__all__ = ["Client"]

_UPDATE: Final = CLIENT_METHODS["session_update"]
_PERMISSION: Final = CLIENT_METHODS["session_request_permission"]
_READ: Final = CLIENT_METHODS["fs_read_text_file"]
_WRITE: Final = CLIENT_METHODS["fs_write_text_file"]


class Client:
    """The client at the other end. The package's models check every message before it is sent.

    Each request raises `acp.exceptions.RequestError` for the client's error,
    `pydantic.ValidationError` for an answer of another shape, and `ConnectionError` when the client
    has gone.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def update(self, session_id: str, update: JsonObject) -> None:
        """Send a `session/update`.

        Raises:
            ConnectionError: the client has gone.
        """
        message = SessionNotification.model_validate({"sessionId": session_id, "update": update})
        await notify_model(self._connection, _UPDATE, message)

    async def ask_permission(self, request: JsonObject) -> RequestPermissionResponse:
        """Ask for a permission, and wait for the answer as long as it takes."""
        message = RequestPermissionRequest.model_validate(request)
        return await request_model(
            self._connection, _PERMISSION, message, RequestPermissionResponse
        )

    async def read_text_file(self, session_id: str, path: str) -> str:
        """The text that the client has for a file."""
        message = ReadTextFileRequest(path=path, session_id=session_id)
        response = await request_model(self._connection, _READ, message, ReadTextFileResponse)
        return response.content

    async def write_text_file(self, session_id: str, path: str, text: str) -> None:
        """Let the client write a file."""
        message = WriteTextFileRequest(path=path, session_id=session_id, content=text)
        await request_optional_model(self._connection, _WRITE, message, WriteTextFileResponse)
