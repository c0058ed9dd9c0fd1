"""The routes beside JSON-RPC: tasks, and commands.

Source: `packages/a2a-server` `http/app.ts`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from services.model.errors import FatalError
from services.tools.contract import Tool, as_server_tool
from services.wire import JsonObject
from surfaces.a2a.commands import CommandRefused, ServerCommands
from surfaces.a2a.folders import FolderRefused
from surfaces.a2a.responses import encoded, json_response
from surfaces.a2a.rpc import Events
from surfaces.a2a.task import Task
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError

__all__ = ["RestRoutes"]


class RestRoutes:
    """The routes, over the tasks and commands of a server."""

    def __init__(self, tasks: Tasks, commands: ServerCommands) -> None:
        self._tasks = tasks
        self._commands = commands

    def routes(self) -> list[Route]:
        """The routes, for the application."""
        return [
            Route("/tasks", self._create, methods=["POST"]),
            Route("/tasks/metadata", self._all_metadata, methods=["GET"]),
            Route("/tasks/{task_id}/metadata", self._metadata, methods=["GET"]),
            Route("/listCommands", self._list_commands, methods=["GET"]),
            Route("/executeCommand", self._execute, methods=["POST"]),
        ]

    async def _create(self, request: Request) -> Response:
        asked = await _object_in(request)
        if asked is None:
            return _error(400, "The body is no JSON object.")
        settings, context_id = asked.get("agentSettings"), asked.get("contextId")
        if settings is not None and not isinstance(settings, dict):
            return _error(400, 'Invalid "agentSettings" field.')
        if context_id is not None and not isinstance(context_id, str):
            return _error(400, 'Invalid "contextId" field.')
        try:
            task = await self._tasks.create(context_id, settings)
        except (FatalError, FolderRefused, RpcError) as error:
            return _error(500, str(error))
        return json_response(task.record.id, status=201)

    async def _all_metadata(self, _: Request) -> Response:
        found = [_metadata(task) for task in self._tasks.all_open()]
        return json_response(found) if found else Response(status_code=204)

    async def _metadata(self, request: Request) -> Response:
        task = self._tasks.get_open(request.path_params["task_id"])
        if task is None:
            return _error(404, "Task not found")
        return json_response({"metadata": _metadata(task)})

    async def _list_commands(self, _: Request) -> Response:
        return json_response({"commands": self._commands.listed()})

    async def _execute(self, request: Request) -> Response:
        asked = await _object_in(request)
        name = None if asked is None else asked.get("command")
        if asked is None or not isinstance(name, str) or not name:
            return _error(400, 'Invalid "command" field.')
        words = asked.get("args", [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return _error(400, '"args" field must be an array.')
        try:
            if name == "init":
                events = await self._commands.init()
                return StreamingResponse(_lines(events), media_type="text/event-stream")
            return json_response(await self._commands.run(name, words))
        except CommandRefused as error:
            return _error(error.status, str(error))
        except (FatalError, FolderRefused, RpcError) as error:
            return _error(500, str(error))


async def _lines(events: Events) -> AsyncIterator[bytes]:
    """The results of a command. The published server ends each with a single line feed."""
    async for event in events:
        # The published server has the id of the task of an update, and none for the task itself.
        named = {"id": event["taskId"]} if "taskId" in event else {}
        yield b"data: " + encoded({"jsonrpc": "2.0", **named, "result": event}) + b"\n"


def _metadata(task: Task) -> JsonObject:
    services = task.live.services
    manager = services.servers.manager
    tools = sorted(services.tools.active(), key=lambda tool: tool.display_name)
    servers = [
        {
            "name": name,
            "status": str(manager.status(name)),
            "tools": [_tool(tool) for tool in tools if _server_of(tool) == name],
        }
        for name in (() if manager is None else manager.names)
        if manager is not None
    ]
    return {
        "id": task.record.id,
        "contextId": task.record.context_id,
        "taskState": task.record.state,
        "model": task.model,
        "mcpServers": servers,
        "availableTools": [_tool(tool) for tool in tools],
    }


def _server_of(tool: Tool) -> str | None:
    of_server = as_server_tool(tool)
    return None if of_server is None else of_server.server_name


def _tool(tool: Tool) -> JsonObject:
    return {"name": tool.name, "description": tool.description}


async def _object_in(request: Request) -> JsonObject | None:
    """The body of a request; `None` if it is no object."""
    try:
        found: Any = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _error(status: int, message: str) -> Response:
    return json_response({"error": message}, status=status)
