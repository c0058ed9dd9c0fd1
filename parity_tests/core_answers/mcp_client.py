"""MCP: what one server offers, and how its lists are kept up to date."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

from parity_tests.core_answers.subject import Subject
from services.background import BackgroundTasks, background_tasks
from services.mcp import client as client_module
from services.mcp.client import McpClient
from services.mcp.config import McpServerConfig
from services.mcp.context import McpContext, Registries
from services.mcp.errors import McpConnectionError, McpError
from services.mcp.toolbox import McpToolbox
from services.mcp.tools import Allowlist
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["SUBJECTS"]

_AGAIN_MS: Final = 500


class _Scene:
    """What the servers offer, and what was seen since the last step."""

    def __init__(self, asked: Any, tasks: BackgroundTasks) -> None:
        self.servers = asked["servers"]
        self.seen: list[Any] = []
        self.lists: dict[str, dict[str, Any]] = {}
        self.later: tuple[str, str, Any] | None = None
        self.again: dict[str, int] = {}
        self.tasks = tasks
        self.registries: dict[str, Registries] = {}
        self.clients: dict[str, McpClient] = {}

    def emit(self, severity: str, message: str) -> None:
        self.seen.append([severity, message])

    def user_interacted(self) -> None:
        """No tool is called here."""

    async def sleep(self, delay_ms: float) -> None:
        if delay_ms != _AGAIN_MS:
            raise AssertionError(f"a wait of {delay_ms} ms")
        self.seen.append("waits")
        if self.later is not None:
            server, kind, found = self.later
            self.lists[server][kind] = found
        self.later = None

    def agent(self, name: str) -> Registries:
        if name not in self.registries:
            state = SessionState(
                session_id="s",
                model="m",
                approval_mode=ApprovalMode.DEFAULT,
                interactive=False,
                events=CoreEvents(),
            )
            tools = McpToolbox(ToolRegistry(Settings(), state))
            self.registries[name] = Registries(tools=tools)
        return self.registries[name]

    def client(self, server: str) -> McpClient:
        if server not in self.clients:
            config = McpServerConfig.parse(server, self.servers[server]["config"])
            self.clients[server] = McpClient(server, config, self._context())
        return self.clients[server]

    def _context(self) -> McpContext:
        context = SimpleNamespace(
            session=SimpleNamespace(clock=self),
            tasks=self.tasks,
            diagnostics=self,
            trusted=lambda: True,
            allowlist=Allowlist(),
            on_progress=None,
            policy_warnings=lambda server, names: (),
        )
        return cast("McpContext", context)


class _Connection:
    instructions = None

    def __init__(self, scene: _Scene, server: str) -> None:
        self.capabilities = scene.servers[server]["capabilities"]
        self._scene = scene
        self._server = server

    async def request(
        self, method: str, params: JsonObject, shape: Any, *, timeout_s: float
    ) -> JsonObject:
        scene, kind = self._scene, method.removesuffix("/list")
        scene.seen.append([self._server, method, timeout_s * 1000])
        if scene.again.get(kind, 0) > 0:
            scene.again[kind] -= 1
            scene.clients[self._server].notified(f"notifications/{kind}/list_changed", {})
        found = scene.lists.get(self._server, {}).get(kind, [])
        if not isinstance(found, list):
            raise McpError(found["code"], found["message"])
        return {kind: [_described(kind, name) for name in found]}

    async def close(self) -> None:
        self._scene.seen.append([self._server, "closed"])


def _described(kind: str, name: str) -> JsonObject:
    if kind == "tools":
        return {"name": name, "inputSchema": {"type": "object"}}
    return {"name": name} if kind == "prompts" else {"uri": name, "name": name}


async def _played(asked: Any) -> Any:
    async with background_tasks() as tasks:
        scene = _Scene(asked, tasks)

        async def connect(name: str, *_: Any) -> _Connection:
            return _Connection(scene, name)

        answers = []
        with mock.patch.object(client_module, "connect_to_server", connect):
            for step in asked["steps"]:
                scene.seen = []
                await _step(scene, *step)
                if step[0] not in ("connect", "offer"):
                    answers.append(_state(scene, step[1]))
        return answers


def _state(scene: _Scene, server: str) -> Any:
    return [
        scene.seen,
        scene.client(server).status,
        [
            [
                [tool.name for tool in each.tools.registry.active()],
                [tool.server_tool_name for tool in each.tools.of_server(server)],
                [[prompt.name, prompt.server_name] for prompt in each.prompts.all()],
                [[found.uri, found.server_name] for found in each.resources.all()],
            ]
            for each in scene.registries.values()
        ],
    ]


async def _step(scene: _Scene, method: str, server: str, *given: Any) -> None:
    client = scene.client(server)
    if method == "connect":
        await client.connect()
    elif method == "offer":
        scene.lists.setdefault(server, {})[given[0]] = given[1]
    elif method == "discover":
        try:
            await client.discover_into(scene.agent(given[0]))
        except (McpError, McpConnectionError) as error:
            scene.seen.append(str(error))
    elif method == "leave":
        client.remove_registries(scene.agent(given[0]))
    elif method == "disconnect":
        await client.disconnect()
    else:
        kind, later, again = given
        scene.later = None if later is None else (server, kind, later)
        scene.again = {kind: int(again)}
        client.notified(f"notifications/{kind}/list_changed", {})
        await client.settled()


SUBJECTS: Final = (Subject("mcp_client.play", lambda asked: asyncio.run(_played(asked))),)
