"""`RpcMethods`: the JSON-RPC methods of A2A 0.3.

a2a-sdk's request handler speaks protocol 1.x and ends a task whose answer is final, so the methods
are here; a2a-sdk checks the parameters.

Source: `@a2a-js/sdk` `server/transports/jsonrpc_transport_handler.ts`,
`server/request_handler/default_request_handler.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from a2a.compat.v0_3 import types
from pydantic import BaseModel, ValidationError

from services.wire import Json, JsonObject
from surfaces.a2a.extension.methods import CommandMethods
from surfaces.a2a.listeners import Listener
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError, invalid_params, task_not_found

__all__ = ["Events", "RpcMethods"]

Events = AsyncGenerator[JsonObject, None]
M = TypeVar("M", bound=BaseModel)
_NO_PUSH: Final = RpcError(-32003, "Push Notification is not supported")
_NO_EXTENDED_CARD: Final = (
    "Unsupported operation: Agent does not support authenticated extended card."
)


class RpcMethods:
    """Answers requests about the tasks of a server."""

    def __init__(self, tasks: Tasks, commands: CommandMethods) -> None:
        self._tasks = tasks
        self._of_extension = {"commands/get": commands.get, "command/execute": commands.execute}
        self._methods: Mapping[str, Callable[[JsonObject], Awaitable[JsonObject]]] = {
            "tasks/get": self._get,
            "tasks/cancel": self._cancel,
            "tasks/pushNotificationConfig/set": _refuse_push,
            "tasks/pushNotificationConfig/get": _refuse_push,
            "tasks/pushNotificationConfig/list": _refuse_push,
            "tasks/pushNotificationConfig/delete": _refuse_push,
            "agent/getAuthenticatedExtendedCard": _refuse_extended_card,
        }

    def stream(self, method: str, params: JsonObject, extension: str | None) -> Events | None:
        """The results of a method that streams; `None` if `method` does not.

        `extension` is the URI of the extension that the client asks for.

        Iterating raises `RpcError`. Closing the iterator leaves the task to its other clients, or
        ends its turn.
        """
        if method == "message/stream":
            return self._stream(params, extension)
        return self._resubscribe(params) if method == "tasks/resubscribe" else None

    async def call(self, method: str, params: JsonObject, extension: str | None) -> JsonObject:
        """The result of any other method.

        Raises:
            RpcError: there is no such method, or it failed.
        """
        if method == "message/send":
            return await self._send(params, extension)
        if method in self._of_extension:
            return await self._of_extension[method](params, extension)
        found = self._methods.get(method)
        if found is None:
            raise RpcError(-32601, f"Method not found: {method}")
        return await found(params)

    async def _send(self, params: JsonObject, extension: str | None) -> JsonObject:
        message = _message(params, "message.messageId is required.")
        waits = (params.get("configuration") or {}).get("blocking") is not False
        length = (params.get("configuration") or {}).get("historyLength")
        task_id, listener = await self._tasks.submit(message, extension)
        if waits:
            await self._finished(task_id, listener)
        record = self._tasks.find(task_id)
        return record.shown(len(record.document["history"]) if length is None else length)

    async def _finished(self, task_id: str, listener: Listener) -> None:
        try:
            async for _ in listener.events():
                pass
        finally:
            await self._tasks.leave(task_id, listener)

    async def _stream(self, params: JsonObject, extension: str | None) -> Events:
        message = _message(params, "message.messageId is required for streaming.")
        task_id, listener = await self._tasks.submit(message, extension)
        try:
            async for event in listener.events():
                yield event
        finally:
            await self._tasks.leave(task_id, listener)

    async def _resubscribe(self, params: JsonObject) -> Events:
        record = self._tasks.find(_checked(types.TaskIdParams, params).id)
        task = self._tasks.get_open(record.id)
        listener = task.listen() if task is not None and task.is_busy else None
        yield record.shown(len(record.document["history"]))
        if listener is None:
            return
        try:
            async for event in listener.events():
                yield event
        finally:
            await self._tasks.leave(record.id, listener)

    async def _get(self, params: JsonObject) -> JsonObject:
        if "id" not in params:
            raise task_not_found("undefined")
        query = _checked(types.TaskQueryParams, params)
        return self._tasks.find(query.id).shown(query.history_length)

    async def _cancel(self, params: JsonObject) -> JsonObject:
        return self._tasks.cancel(_checked(types.TaskIdParams, params).id)


async def _refuse_push(_: JsonObject) -> JsonObject:
    raise _NO_PUSH


async def _refuse_extended_card(_: JsonObject) -> JsonObject:
    raise RpcError(-32004, _NO_EXTENDED_CARD)


def _message(params: JsonObject, no_id: str) -> JsonObject:
    """The message of a request, as the client wrote it.

    Raises:
        RpcError: it has another shape; `no_id` says that its id is missing.
    """
    message: Json = params.get("message")
    if not isinstance(message, dict) or not message.get("messageId"):
        raise invalid_params(no_id)
    _checked(types.MessageSendParams, params)
    return message


def _checked(model: type[M], params: JsonObject) -> M:
    try:
        return model.model_validate(params)
    except ValidationError as error:
        found: list[Any] = [each for each in error.errors() if each["type"] != "literal_error"]
        first = (found or error.errors())[0]
        where = ".".join(str(each) for each in first["loc"])
        raise invalid_params(f"{where or 'params'}: {first['msg']}") from error
