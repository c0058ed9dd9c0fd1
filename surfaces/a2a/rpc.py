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
from surfaces.a2a.command_methods import CommandMethods
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.listeners import Listener
from surfaces.a2a.push import configs
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError, invalid_params, task_not_found

__all__ = ["Events", "RpcMethods"]

Events = AsyncGenerator[JsonObject, None]
M = TypeVar("M", bound=BaseModel)
_OF_MESSAGES: Final = frozenset({"message/send", "message/stream", "tasks/resubscribe"})
_NO_EXTENDED_CARD: Final = (
    "Unsupported operation: Agent does not support authenticated extended card."
)


class RpcMethods:
    """Answers requests about the tasks of a server."""

    def __init__(self, tasks: Tasks, hosts: CallbackHosts, commands: CommandMethods) -> None:
        self._tasks = tasks
        self._hosts = hosts
        self._of_extension = {"commands/get": commands.get, "command/execute": commands.execute}
        self._methods: Mapping[str, Callable[[JsonObject], Awaitable[Json]]] = {
            "tasks/get": self._get,
            "tasks/cancel": self._cancel,
            "tasks/pushNotificationConfig/set": self._set_config,
            "tasks/pushNotificationConfig/get": self._get_config,
            "tasks/pushNotificationConfig/list": self._list_configs,
            "tasks/pushNotificationConfig/delete": self._delete_config,
            "agent/getAuthenticatedExtendedCard": _refuse_extended_card,
        }

    def serves(self, method: str) -> bool:
        """Whether 0.3 has a method with this name."""
        return method in self._methods or method in _OF_MESSAGES

    def stream(self, method: str, params: JsonObject, extension: str | None) -> Events | None:
        """The results of a method that streams; `None` if `method` does not.

        `extension` is the URI of the extension that the client asks for.

        Iterating raises `RpcError`. Closing the iterator leaves the task to its other clients, or
        ends its turn.
        """
        if method == "message/stream":
            return self._stream(params, extension)
        return self._resubscribe(params) if method == "tasks/resubscribe" else None

    async def call(self, method: str, params: JsonObject, extension: str | None) -> Json:
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
        configuration = params.get("configuration") or {}
        waits = configuration.get("blocking") is not False
        length = _history_length(configuration.get("historyLength"))
        callback = self._callback_in(params)
        feed, listener = await self._tasks.submit(message, extension, callback)
        if waits:
            await self._finished(feed, listener)
        else:
            feed.forget(listener)
            await feed.kept()
        record = feed.record
        return record.shown_whole() if length is None else record.shown(length)

    async def _finished(self, feed: TaskFeed, listener: Listener) -> None:
        try:
            async for _ in listener.events():
                pass
        finally:
            await self._tasks.leave(feed, listener)

    async def _stream(self, params: JsonObject, extension: str | None) -> Events:
        message = _message(params, "message.messageId is required for streaming.")
        callback = self._callback_in(params)
        feed, listener = await self._tasks.submit(message, extension, callback)
        try:
            async for event in listener.events():
                yield event
        finally:
            await self._tasks.leave(feed, listener)

    async def _resubscribe(self, params: JsonObject) -> Events:
        feed = await self._tasks.feed(_checked(types.TaskIdParams, params).id)
        listener = self._tasks.resume(feed)
        try:
            async for event in listener.events():
                yield event
        finally:
            feed.forget(listener)

    async def _get(self, params: JsonObject) -> JsonObject:
        if "id" not in params:
            raise task_not_found("undefined")
        query = _checked(types.TaskQueryParams, params)
        feed = await self._tasks.feed(query.id)
        await feed.kept()
        return feed.record.shown(_history_length(query.history_length))

    async def _cancel(self, params: JsonObject) -> JsonObject:
        return await self._tasks.cancel(_checked(types.TaskIdParams, params).id)

    async def _set_config(self, params: JsonObject) -> JsonObject:
        asked = _checked(types.TaskPushNotificationConfig, params)
        feed = await self._tasks.feed(asked.task_id)
        config = self._callback(params["pushNotificationConfig"])
        configs.add(feed.record, config)
        feed.keep()
        await feed.kept()
        return configs.shown(asked.task_id, config)

    async def _get_config(self, params: JsonObject) -> JsonObject:
        asked = _checked(types.GetTaskPushNotificationConfigParams, params)
        record = await self._tasks.find(asked.id)
        found = configs.found(record, asked.push_notification_config_id)
        return configs.shown(asked.id, found)

    async def _list_configs(self, params: JsonObject) -> list[JsonObject]:
        asked = _checked(types.ListTaskPushNotificationConfigParams, params)
        record = await self._tasks.find(asked.id)
        return [configs.shown(asked.id, each) for each in configs.listed(record)]

    async def _delete_config(self, params: JsonObject) -> None:
        asked = _checked(types.DeleteTaskPushNotificationConfigParams, params)
        feed = await self._tasks.feed(asked.id)
        configs.remove(feed.record, asked.push_notification_config_id)
        feed.keep()
        await feed.kept()

    def _callback_in(self, params: JsonObject) -> JsonObject | None:
        """The push notification configuration that comes with a message."""
        given = (params.get("configuration") or {}).get("pushNotificationConfig")
        return None if given is None else self._callback(given)

    def _callback(self, given: JsonObject) -> JsonObject:
        return configs.checked(given, self._hosts, protocol="0.3")


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
    if not message["parts"]:
        raise invalid_params("message.parts is empty; write a text, or an answer to a question")
    return message


def _history_length(length: int | None) -> int | None:
    """The length, which is not negative.

    Raises:
        RpcError: it is.
    """
    if length is not None and length < 0:
        raise invalid_params(f"historyLength is {length}; write 0 or more")
    return length


def _checked(model: type[M], params: JsonObject) -> M:
    try:
        return model.model_validate(params)
    except ValidationError as error:
        found: list[Any] = [each for each in error.errors() if each["type"] != "literal_error"]
        first = (found or error.errors())[0]
        where = ".".join(str(each) for each in first["loc"])
        raise invalid_params(f"{where or 'params'}: {first['msg']}") from error
