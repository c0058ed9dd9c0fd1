"""Sessions with real agents: one server for every module, the session's own clock."""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from services.abort import AbortController
from services.clock import VirtualClock, virtual_loop
from services.environment import Environment
from services.ids import CountingProcessIds
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.invocation import remote_invocation
from services.subagents.remote.limits import Limits
from services.tools.contract import ToolExecution, ToolResult
from services.tools.host import ToolHost
from services.workspace import Workspace
from tests.services.sessions import session_at

SERVER = Path(__file__).with_name("server.py")


def on_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in a loop of its own, whose idle waits take no time."""

    @functools.wraps(test)
    def run(*args: Any, **fixtures: Any) -> None:
        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            runner.run(test(*args, **fixtures))

    return run


@dataclass(frozen=True)
class Server:
    """The server of `server.py`."""

    url: str

    def card(self, agent: str) -> str:
        return f"{self.url}/card/{agent}"

    def bad(self, kind: str) -> str:
        return f"{self.url}/bad/{kind}"

    def seen(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/seen") as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("starlette", reason="needs starlette: pip install 'a2a-sdk[http-server]'")
    pytest.importorskip("uvicorn", reason="needs uvicorn: pip install uvicorn")
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.kill()


@dataclass
class Session:
    """What a test sees of a session."""

    agents: RemoteAgents
    host: ToolHost
    clock: VirtualClock
    shown: list[Any] = field(default_factory=list)

    async def call(
        self,
        definition: RemoteAgentDefinition,
        query: str,
        *,
        sessions: bool = False,
        abort: AbortController | None = None,
        on_show: Callable[[Any], None] | None = None,
    ) -> ToolResult:
        def show(progress: Any) -> None:
            self.shown.append(progress)
            if on_show is not None:
                on_show(progress)

        invocation = remote_invocation(
            definition, {"query": query}, agents=self.agents, host=self.host, sessions=sessions
        )
        signal = (abort or AbortController()).signal
        return await invocation.execute(
            ToolExecution(call_id="call-1", signal=signal, update_output=show)
        )


Open = Callable[..., Any]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Opens a session; leaving it closes everything."""

    @asynccontextmanager
    async def open_session(
        *,
        limits: Limits | None = None,
        variables: Mapping[str, str] | None = None,
        google: Any = None,
    ) -> AsyncIterator[Session]:
        clock = VirtualClock()
        workspace = Workspace.at(tmp_path, tmp_path)
        children = Environment.for_replay(home=str(tmp_path)).child_variables
        environment = Environment(
            variables={**children, **(variables or {})}, child_variables=children
        )
        agents = RemoteAgents(
            session_at(workspace, clock=clock, environment=environment),
            limits=limits,
            google=google,
        )
        settings = Settings()
        state = SessionState(
            session_id="s",
            model="m",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=False,
            events=CoreEvents(),
        )
        host = ToolHost(
            workspace=workspace,
            clock=clock,
            settings=settings,
            state=state,
            environment=environment,
            process_ids=CountingProcessIds(),
        )
        try:
            yield Session(agents, host, clock)
        finally:
            await agents.close()

    return open_session


def agent(name: str = "far", **given: Any) -> RemoteAgentDefinition:
    """A definition."""
    return RemoteAgentDefinition(name=name, description="", **given)


def text_of(result: ToolResult) -> str:
    """The result for the model."""
    assert isinstance(result.llm_content, list)
    (part,) = result.llm_content
    assert isinstance(part, dict)
    found: str = part["text"]
    return found
