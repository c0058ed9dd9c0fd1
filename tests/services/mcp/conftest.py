"""Sessions with real servers, on virtual time."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from services.abort import AbortController
from services.background import background_tasks
from services.clock import VirtualClock, virtual_loop
from services.interaction.interaction import Interaction
from services.mcp.manager import McpManager
from services.mcp.progress import McpProgress
from services.mcp.session import open_mcp
from services.mcp.sign_in import SignInSeam
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.tools.contract import ToolExecution, ToolResult
from services.tools.registry import ToolRegistry
from services.workspace import Workspace
from tests.services.sessions import session_at

SERVERS = Path(__file__).parent / "servers"


def on_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in a loop of its own, whose idle waits take no time."""

    @functools.wraps(test)
    def run(*args: Any, **fixtures: Any) -> None:
        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            runner.run(test(*args, **fixtures))

    return run


@dataclass
class Session:
    """What a test sees of a session."""

    tools: ToolRegistry
    clock: VirtualClock
    workspace: Workspace
    manager: McpManager = field(init=False)
    feedback: list[UserFeedback] = field(default_factory=list)
    progress: list[McpProgress] = field(default_factory=list)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        abort: AbortController | None = None,
    ) -> ToolResult:
        """Call the tool `name` of the registry."""
        tool = self.tools.get(name)
        assert tool is not None
        signal = (abort or AbortController()).signal
        return await tool.build(dict(arguments or {})).execute(
            ToolExecution(call_id=f"call-{name}", signal=signal)
        )

    def said(self) -> list[str]:
        """All messages that the user received."""
        return [f"{item.severity}: {item.message}" for item in self.feedback]


OpenSession = Callable[..., AbstractAsyncContextManager[Session]]


def server(script: str, *args: str, **more: Any) -> dict[str, Any]:
    """The configuration of one of the servers beside this file."""
    return {"command": sys.executable, "args": [str(SERVERS / script), *args], **more}


def said_to_model(result: ToolResult) -> str:
    """A result's texts without their marks."""
    assert isinstance(result.llm_content, list)
    texts = [part["text"] for part in result.llm_content if isinstance(part, dict)]
    return "\n".join(text.split("\n", 1)[1].rsplit("\n", 1)[0] for text in texts)


@pytest.fixture
def session(tmp_path: Path) -> OpenSession:
    """Opens a session with the given servers and starts them."""

    @asynccontextmanager
    async def opened(
        servers: Mapping[str, Any],
        *,
        start: bool = True,
        sign_in: SignInSeam | None = None,
        interaction: Interaction | None = None,
        **settings: Any,
    ) -> AsyncIterator[Session]:
        folder, home = tmp_path / "ws", tmp_path / "home"
        folder.mkdir(exist_ok=True)
        home.mkdir(exist_ok=True)
        configured = Settings(mcp_servers=servers, **settings)
        events = CoreEvents()
        state = SessionState(
            session_id="s",
            model="m",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=False,
            events=events,
        )
        clock = VirtualClock()
        clock.watch()
        made = Session(
            tools=ToolRegistry(configured, state),
            clock=clock,
            workspace=Workspace.at(folder, home),
        )
        events.subscribe(
            lambda event: made.feedback.append(event) if isinstance(event, UserFeedback) else None
        )

        at = session_at(made.workspace, configured, state=state, events=events, clock=clock)
        async with (
            background_tasks() as tasks,
            open_mcp(
                replace(at, interaction=interaction or Interaction()),
                tasks=tasks,
                tools=made.tools,
                version="0.61.0",
                on_progress=made.progress.append,
                sign_in=sign_in,
            ) as manager,
        ):
            made.manager = manager
            if start:
                await manager.start()
            yield made
        clock.unwatch()

    return opened
