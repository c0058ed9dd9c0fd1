"""`TasksHandler`: the operations of A2A 1.x over the tasks of this server.

It takes the place of a2a-sdk's `DefaultRequestHandler`, which ends a task with the first answer
that is final. Here a task takes further messages after `completed` and `input-required`.

Source: A2A 1.0, section 3.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler, validate_request_params
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    UnsupportedOperationError,
)
from a2a.utils.input_mode_validator import validate_input_modes
from a2a.utils.task import (
    ListTasksCursor,
    apply_history_length,
    decode_list_tasks_cursor,
    encode_list_tasks_cursor,
    validate_history_length,
    validate_page_size,
)

from services.wire import JsonObject
from surfaces.a2a.documents import (
    callback_document,
    callback_of,
    error_of,
    event_of,
    message_document,
    state_document,
    task_of,
)
from surfaces.a2a.extension.negotiation import asked_version
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.listeners import Listener
from surfaces.a2a.push import configs
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.storage.database import Query
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError

__all__ = ["TasksHandler"]

_PAGE: Final = 50
_MOST_CONVERTED: Final = 128
_NS_PER_MS: Final = 1_000_000


class TasksHandler(RequestHandler):
    """The operations.

    Args:
        tasks: the tasks of the server.
        hosts: the hosts that may be called back.
        card: the agent card of 1.x, for the media types that a message may have.
    """

    def __init__(self, tasks: Tasks, hosts: CallbackHosts, card: pb.AgentCard) -> None:
        self._tasks = tasks
        self._hosts = hosts
        self._card = card
        self._converted: OrderedDict[int, tuple[JsonObject, Event]] = OrderedDict()

    @validate_request_params
    async def on_get_task(self, params: pb.GetTaskRequest, context: ServerCallContext) -> pb.Task:
        """Return a task."""
        validate_history_length(params)
        feed = await self._feed(params.id)
        return apply_history_length(task_of(feed.record.shown_whole()), params)

    @validate_request_params
    async def on_list_tasks(
        self, params: pb.ListTasksRequest, context: ServerCallContext
    ) -> pb.ListTasksResponse:
        """Return the tasks that match, those with the newest status first."""
        validate_history_length(params)
        if params.HasField("page_size"):
            validate_page_size(params.page_size)
        size = params.page_size or _PAGE
        with _translated():
            records, total, after = await self._tasks.page(
                Query(
                    context_id=params.context_id or None,
                    state=state_document(params.status) if params.status else None,
                    since_ms=_since_ms(params),
                    after=_position(params.page_token),
                    most=size,
                )
            )
        answer = pb.ListTasksResponse(total_size=total, page_size=len(records))
        if after is not None:
            status_ms, task_id = after
            cursor = ListTasksCursor(timestamp_ns=status_ms * _NS_PER_MS, task_id=task_id)
            answer.next_page_token = encode_list_tasks_cursor(cursor)
        for record in records:
            task = apply_history_length(task_of(record.shown_whole()), params)
            if not params.include_artifacts:
                task.ClearField("artifacts")
            answer.tasks.append(task)
        return answer

    @validate_request_params
    async def on_cancel_task(
        self, params: pb.CancelTaskRequest, context: ServerCallContext
    ) -> pb.Task:
        """Cancel a task."""
        with _translated():
            return task_of(await self._tasks.cancel(params.id))

    @validate_request_params
    async def on_message_send(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> pb.Task:
        """Answer a message; return the task at the end of the turn, or at once if asked so."""
        validate_history_length(params.configuration)
        feed, listener = await self._submit(params, context)
        try:
            with _translated():
                if params.configuration.return_immediately:
                    await feed.kept()
                else:
                    async for _ in listener.events():
                        pass
        finally:
            feed.forget(listener)
        return apply_history_length(task_of(feed.record.shown_whole()), params.configuration)

    @validate_request_params
    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Answer a message: the task, then its events to the end of the turn."""
        feed, listener = await self._submit(params, context)
        try:
            with _translated():
                async for event in listener.events():
                    yield self._event_of(event)
        finally:
            feed.forget(listener)

    @validate_request_params
    async def on_subscribe_to_task(
        self, params: pb.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Follow a task: the task as it is, then its events, to its end."""
        feed = await self._feed(params.id)
        if feed.record.is_over:
            raise UnsupportedOperationError(f"Task {params.id} has ended: {feed.record.state}")
        listener = self._tasks.resume(feed, follows=True)
        try:
            with _translated():
                async for event in listener.events():
                    yield self._event_of(event)
        finally:
            feed.forget(listener)

    @validate_request_params
    async def on_create_task_push_notification_config(
        self, params: pb.TaskPushNotificationConfig, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """Keep a push notification configuration."""
        feed = await self._feed(params.task_id)
        with _translated():
            config = self._callback(params)
            configs.add(feed.record, config)
            feed.keep()
            await feed.kept()
        return callback_of(params.task_id, config)

    @validate_request_params
    async def on_get_task_push_notification_config(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """Return a push notification configuration."""
        feed = await self._feed(params.task_id)
        with _translated():
            return callback_of(params.task_id, configs.found(feed.record, params.id))

    @validate_request_params
    async def on_list_task_push_notification_configs(
        self, params: pb.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> pb.ListTaskPushNotificationConfigsResponse:
        """Return all push notification configurations of a task."""
        feed = await self._feed(params.task_id)
        found = [callback_of(params.task_id, each) for each in configs.listed(feed.record)]
        return pb.ListTaskPushNotificationConfigsResponse(configs=found)

    @validate_request_params
    async def on_delete_task_push_notification_config(
        self, params: pb.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Forget a push notification configuration. It need not exist."""
        feed = await self._feed(params.task_id)
        configs.remove(feed.record, params.id)
        feed.keep()
        with _translated():
            await feed.kept()

    async def on_get_extended_agent_card(
        self, params: pb.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> pb.AgentCard:
        """Refuse: there is only one card."""
        raise UnsupportedOperationError("The agent has no extended card")

    def _event_of(self, document: JsonObject) -> Event:
        """An event in the type of 1.x, converted once for all who follow the task."""
        found = self._converted.get(id(document))
        # The cache holds the document, so that no other one has its identity.
        if found is None:
            found = self._converted[id(document)] = (document, event_of(document))
            if len(self._converted) > _MOST_CONVERTED:
                self._converted.popitem(last=False)
        return found[1]

    async def _feed(self, task_id: str) -> TaskFeed:
        with _translated():
            feed = await self._tasks.feed(task_id)
            await feed.kept()
            return feed

    async def _submit(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> tuple[TaskFeed, Listener]:
        """Begin to answer a message.

        Raises:
            A2AError: it cannot be answered.
        """
        message = params.message
        validate_input_modes(message, self._card)
        if any(part.WhichOneof("content") in ("raw", "url") for part in message.parts):
            raise ContentTypeNotSupportedError("A message has texts and data, and no files")
        if message.task_id:
            await self._check_task(message)
        with _translated():
            return await self._tasks.submit(
                message_document(message),
                asked_version(context.requested_extensions),
                self._callback_in(params),
                announces=True,
            )

    async def _check_task(self, message: pb.Message) -> None:
        record = (await self._feed(message.task_id)).record
        if record.is_over:
            raise UnsupportedOperationError(
                f"Task {record.id} has ended ({record.state}) and takes no message"
            )
        if message.context_id and message.context_id != record.context_id:
            raise InvalidParamsError(
                f"contextId is {message.context_id}, and task {record.id} has the contextId "
                f"{record.context_id}; leave contextId out"
            )

    def _callback_in(self, params: pb.SendMessageRequest) -> JsonObject | None:
        if not params.configuration.HasField("task_push_notification_config"):
            return None
        with _translated():
            return self._callback(params.configuration.task_push_notification_config)

    def _callback(self, config: pb.TaskPushNotificationConfig) -> JsonObject:
        return configs.checked(callback_document(config), self._hosts, protocol="1.0")


def _since_ms(params: pb.ListTasksRequest) -> int | None:
    if not params.HasField("status_timestamp_after"):
        return None
    return int(params.status_timestamp_after.ToMilliseconds())


def _position(token: str) -> tuple[int, str] | None:
    """The task after which a page begins.

    Raises:
        InvalidParamsError: the token is not one of this server's.
    """
    if not token:
        return None
    cursor = decode_list_tasks_cursor(token)
    if cursor is None or cursor.timestamp_ns is None:
        raise InvalidParamsError("pageToken is unknown; use the nextPageToken of a response")
    return cursor.timestamp_ns // _NS_PER_MS, cursor.task_id


@contextmanager
def _translated() -> Iterator[None]:
    """Raise this server's errors as those of a2a-sdk."""
    try:
        yield
    except RpcError as error:
        raise error_of(error) from error
