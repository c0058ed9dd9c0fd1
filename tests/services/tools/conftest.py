"""A session's tools over a temporary workspace."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from services.abort import AbortController
from services.clock import SystemClock
from services.environment import Environment
from services.ids import CountingProcessIds
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.builtin import register_builtin_tools
from services.tools.contract import InvalidToolParams, ToolExecution, ToolInvocation, ToolResult
from services.tools.host import ToolHost
from services.tools.registry import ToolRegistry
from services.workspace import Workspace


def empty_registry(host: ToolHost) -> ToolRegistry:
    """A registry without tools, for the host's session."""
    return ToolRegistry(host.settings, host.state, plans_folder=lambda: str(host.plans))


@dataclass
class Bench:
    """Tools under test, and what tests keep asking for."""

    host: ToolHost
    controller: AbortController = field(default_factory=AbortController)
    shown: list[Any] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.host.workspace.root

    @property
    def state(self) -> SessionState:
        return self.host.state

    @property
    def registry(self) -> ToolRegistry:
        registry = empty_registry(self.host)
        register_builtin_tools(registry, self.host)
        return registry

    def write(self, path: str, content: str | bytes = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def build(self, name: str, /, **params: Any) -> ToolInvocation:
        tool = self.registry.get(name)
        assert tool is not None
        return tool.build(params)

    def fault(self, name: str, /, **params: Any) -> str:
        with pytest.raises(InvalidToolParams) as caught:
            self.build(name, **params)
        return str(caught.value)

    async def run(self, name: str, /, **params: Any) -> ToolResult:
        return await self.execute(self.build(name, **params))

    async def execute(self, invocation: ToolInvocation) -> ToolResult:
        execution = ToolExecution(
            call_id="call", signal=self.controller.signal, update_output=self.shown.append
        )
        return await invocation.execute(execution)

    def with_settings(self, **changes: Any) -> Bench:
        return Bench(replace(self.host, settings=replace(self.host.settings, **changes)))

    def git(self) -> None:
        (self.root / ".git").mkdir()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    workspace.root.mkdir()
    workspace.home.mkdir()
    host = ToolHost(
        workspace=workspace,
        clock=SystemClock(),
        settings=Settings(),
        state=SessionState(
            session_id="5e551011-0000-4000-8000-000000000000",
            model="gemini-2.5-pro",
            approval_mode=ApprovalMode.YOLO,
            interactive=False,
            events=CoreEvents(),
        ),
        environment=Environment.for_replay(home=str(workspace.home), path=os.environ["PATH"]),
        process_ids=CountingProcessIds(),
    )
    yield Bench(host)
    await host.close()
