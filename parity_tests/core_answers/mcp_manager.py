"""MCP: which servers of a session are started, ended and started again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

from parity_tests.core_answers.subject import Subject
from services.mcp import manager as manager_module
from services.mcp.config import McpServerConfig, extension_servers, server_configs
from services.mcp.context import McpContext, Registries
from services.mcp.enablement import ServerEnablement
from services.mcp.errors import McpConnectionError
from services.mcp.manager import McpManager, UnknownServer
from services.mcp.states import McpServerStatus

__all__ = ["SUBJECTS"]


class _Scene:
    """What the servers do, and what was seen."""

    def __init__(self, asked: Any) -> None:
        self.servers: Mapping[str, Any] = asked["servers"]
        self.events: dict[str, list[Any]] = {}
        self.diagnostics: list[Any] = []
        self.off: set[str] = set()
        self.trusted = True
        self.agents: dict[str, Registries] = {}

    def note(self, name: str, *event: Any) -> None:
        self.events.setdefault(name, []).append(event)

    def fails(self, name: str, how: str) -> None:
        problem = self.servers.get(name, {}).get(how)
        if problem:
            raise McpConnectionError(problem)

    def agent(self, name: str | None) -> Registries | None:
        if name is None:
            return None
        return self.agents.setdefault(name, cast("Registries", SimpleNamespace(name=name)))

    def emit(self, severity: str, message: str) -> None:
        self.diagnostics.append([severity, message])


class _Client:
    """A server's client that connects to nothing."""

    def __init__(self, name: str, config: McpServerConfig, context: McpContext) -> None:
        self.name = name
        self.config = config
        self.status = McpServerStatus.DISCONNECTED
        self._scene = cast("_Scene", context.diagnostics)

    @property
    def instructions(self) -> str | None:
        said: str | None = self._scene.servers.get(self.name, {}).get("instructions")
        return said

    async def connect(self) -> None:
        self._scene.note(self.name, "connect", _read(self.config))
        self._scene.fails(self.name, "unreachable")
        self.status = McpServerStatus.CONNECTED

    async def discover_into(self, registries: Any) -> None:
        self._scene.note(self.name, "discover", registries.name)
        self._scene.fails(self.name, "broken")

    async def disconnect(self) -> None:
        self._scene.note(self.name, "disconnect")
        self.status = McpServerStatus.DISCONNECTED

    def remove_registries(self, registries: Any) -> None:
        self._scene.note(self.name, "left", registries.name)


def _read(config: McpServerConfig) -> Any:
    wire = {
        "command": config.command,
        "args": list(config.args) or None,
        "env": dict(config.env) or None,
        "url": config.url,
        "httpUrl": config.http_url,
        "includeTools": None if config.include_tools is None else list(config.include_tools),
        "excludeTools": list(config.exclude_tools) or None,
        "trust": config.trust,
    }
    return {key: value for key, value in wire.items() if value is not None}


def _manager(asked: Any, scene: _Scene) -> McpManager:
    settings = SimpleNamespace(
        allowed_mcp_servers=asked["allowed"],
        blocked_mcp_servers=asked["blocked"],
        adk=SimpleNamespace(agent_session_subagent_enabled=False),
    )
    session = SimpleNamespace(settings=settings)
    context = SimpleNamespace(
        session=session, trusted=lambda: scene.trusted, diagnostics=scene, sign_in=None
    )
    return McpManager(
        server_configs(asked["configured"]),
        cast("McpContext", context),
        cast("Registries", SimpleNamespace(name="main")),
        cast("ServerEnablement", SimpleNamespace(is_off=lambda name: name in scene.off)),
    )


async def _played(asked: Any) -> Any:
    scene = _Scene(asked)
    manager = _manager(asked, scene)
    answers: list[Any] = []
    for step in asked["steps"]:
        try:
            await _step(manager, scene, *step)
        except UnknownServer as error:
            answers.append(str(error))
        found = [manager.client(name) for name in scene.servers]
        answers.append(
            [manager.instructions(), manager.blocked[:], [each and each.status for each in found]]
        )
    return {"events": scene.events, "diagnostics": scene.diagnostics, "answers": answers}


async def _step(manager: McpManager, scene: _Scene, method: str, *given: Any) -> None:
    if method == "discover":
        name, config, agent = given
        await manager.discover(name, McpServerConfig.parse(name, config), scene.agent(agent))
    elif method == "extend":
        await manager.start_extension(extension_servers(given[1], given[0], {}))
    elif method == "shrink":
        await manager.stop_extension(given[0])
    elif method == "off":
        scene.off.add(given[0])
    elif method == "on":
        scene.off.discard(given[0])
    elif method == "trust":
        scene.trusted = given[0]
    elif method == "leave":
        manager.remove_registries(cast("Registries", scene.agent(given[0])))
    else:
        await getattr(manager, method)(*given)


def _play(asked: Any) -> Any:
    with mock.patch.object(manager_module, "McpClient", _Client):
        return asyncio.run(_played(asked))


SUBJECTS: Final = (Subject("mcp_manager.play", _play),)
