"""The routes of protocol 1.x, and of HTTP+JSON in 0.3: a2a-sdk's dispatchers.

JSON-RPC in 0.3 is `rpc.py`: the documents of the published dialect do not pass the types of 1.x
unchanged.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final

import a2a.server.routes  # noqa: F401 - imported later, it meets a cycle of the library
from a2a.compat.v0_3 import types
from a2a.compat.v0_3.rest_adapter import REST03Adapter
from a2a.compat.v0_3.rest_handler import REST03Handler
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.request_handlers.response_helpers import build_error_response
from a2a.server.routes.common import (
    DefaultServerCallContextBuilder,
    create_event_source_response,
)
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_dispatcher import RestDispatcher
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types.a2a_pb2 import AgentCard, TaskState
from a2a.utils import json_utils
from a2a.utils.constants import (
    A2A_JSON_MEDIA_TYPE,
    PROTOCOL_VERSION_0_3,
    PROTOCOL_VERSION_1_0,
    VERSION_HEADER,
)
from a2a.utils.error_handlers import rest_error_handler, rest_stream_error_handler
from a2a.utils.errors import InvalidParamsError
from a2a.utils.version_validator import validate_version
from google.protobuf.json_format import ParseDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from services.wire import Json, JsonObject
from surfaces.a2a.card import AgentCards
from surfaces.a2a.protocol.handler import TasksHandler
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.tasks import Tasks

__all__ = [
    "A2A_JSON_MEDIA_TYPE",
    "VERSION_HEADER",
    "CurrentRpc",
    "handler_for",
    "rest_routes",
]

_FINAL_STATES: Final = frozenset(
    f"TASK_STATE_{state}"
    for state in ("COMPLETED", "CANCELLED", "FAILED", "REJECTED", "INPUT_REQUIRED")
)


def handler_for(tasks: Tasks, hosts: CallbackHosts, cards: AgentCards) -> RequestHandler:
    """What answers the requests of all these routes."""
    card = ParseDict(cards.current(), AgentCard())
    return TasksHandler(tasks, hosts, card)


class CurrentRpc:
    """JSON-RPC in 1.x.

    Args:
        handler: answers the requests.
    """

    def __init__(self, handler: RequestHandler) -> None:
        _silence()
        self._dispatcher = JsonRpcDispatcher(handler, _Contexts())

    def serves(self, method: str) -> bool:
        """Whether 1.x has a method with this name. 0.3 has none of them."""
        return method in self._dispatcher.METHOD_TO_MODEL

    async def answer(self, request: Request, asked: JsonObject) -> Response:
        """Answer a request with the body `asked`."""
        params = asked.get("params")
        if asked["method"] == "ListTasks" and isinstance(params, dict):
            error = _unknown_state(params.get("status"))
            if error is not None:
                return JSONResponse(build_error_response(asked.get("id"), error))
        return await self._dispatcher.handle_requests(request)


def rest_routes(handler: RequestHandler) -> list[BaseRoute]:
    """The routes of HTTP+JSON: those of 0.3 begin with `/v1`."""
    _silence()
    earlier = _EarlierRest(handler)
    routes: list[BaseRoute] = [
        Route(path, endpoint, methods=[method])
        for (path, method), endpoint in earlier.routes().items()
    ]
    dispatcher = RestDispatcher(handler, _Contexts())

    @rest_error_handler
    async def list_tasks(request: Request) -> Response:
        error = _unknown_state(request.query_params.get("status"))
        if error is not None:
            raise error
        return await dispatcher.list_tasks(request)

    routes.append(Route("/tasks", list_tasks, methods=["GET"]))
    # The last route serves tenants, and this server has none.
    current = create_rest_routes(handler, _Contexts())
    return routes + [route for route in current if isinstance(route, Route)]


def _unknown_state(name: Json) -> InvalidParamsError | None:
    """The error for a name that no state has. The library takes such a name for none."""
    if not isinstance(name, str) or name in TaskState.keys():  # noqa: SIM118 - it is no mapping
        return None
    return InvalidParamsError(f"status is {name!r}; write one of {', '.join(TaskState.keys()[1:])}")


class _Contexts(DefaultServerCallContextBuilder):
    """A request of 1.x that names no version is one of 1.x: 0.3 has no such method or path."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state["headers"].setdefault(VERSION_HEADER.lower(), PROTOCOL_VERSION_1_0)
        return context


class _EarlierRest(REST03Adapter):
    """The library's routes of 0.3, and the one that it lacks."""

    def __init__(self, handler: RequestHandler) -> None:
        super().__init__(handler)
        self._deleting = _Deletion(handler)

    def routes(self) -> dict[tuple[str, str], Any]:
        """Each path and method, with what answers."""
        path = "/v1/tasks/{id}/pushNotificationConfigs/{push_id}"
        return {**super().routes(), (path, "DELETE"): self._delete_config}

    async def _delete_config(self, request: Request) -> Response:
        return await self._handle_request(self._deleting.delete_config, request)

    @rest_stream_error_handler
    async def _handle_streaming_request(
        self, method: Callable[[Request, ServerCallContext], Any], request: Request
    ) -> Response:
        """Answer with a stream; an error before the first event gets its own status.

        The library says `final` at terminal states only, and a stream ends at `input-required` too.
        """
        await request.body()
        events = method(request, self._context_builder.build(request))
        first = await anext(events, None)

        async def lines() -> AsyncIterator[str]:
            async with aclosing(events):
                if first is not None:
                    yield json_utils.dumps(_with_final(first))
                    async for event in events:
                        yield json_utils.dumps(_with_final(event))

        return create_event_source_response(lines())


class _Deletion(REST03Handler):
    @validate_version(PROTOCOL_VERSION_0_3)
    async def delete_config(self, request: Request, context: ServerCallContext) -> dict[str, Any]:
        params = types.DeleteTaskPushNotificationConfigParams(
            id=request.path_params["id"],
            push_notification_config_id=request.path_params["push_id"],
        )
        asked = types.DeleteTaskPushNotificationConfigRequest(id="", params=params)
        await self.handler03.on_delete_task_push_notification_config(asked, context)
        return {}


def _with_final(event: dict[str, Any]) -> dict[str, Any]:
    update = event.get("statusUpdate")
    if update is None or update.get("status", {}).get("state") not in _FINAL_STATES:
        return event
    return {"statusUpdate": {**update, "final": True}}


def _silence() -> None:
    """Keep the library from writing each wrong request, with a traceback, to standard error."""
    logging.getLogger("a2a").setLevel(logging.CRITICAL)
