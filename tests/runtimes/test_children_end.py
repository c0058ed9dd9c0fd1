"""Children that do not end by themselves, or badly: what remains of them, in both runtimes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEnd, ToolResponse
from runtimes.contract import Runtime
from runtimes.registry import runtime_factory
from services.bundle import Services
from services.clock import SystemClock
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, FixedRandom, RealProcessIds
from services.message_bus import ToolCallsUpdate
from services.model.generator import ChunkStream, ModelRequest
from services.settings import settings_from_parameters
from services.state import ApprovalMode
from services.subagents.activity import SubagentActivity
from services.subagents.child import ChildRequest, StartedChild
from services.subagents.definition import ABORTED_OUTPUT, LocalAgentDefinition
from services.wire import JsonObject, Part
from services.workspace import Workspace
from tests.runtimes.upstream.stand_ins import children

HANG: Final = object()
"""As an answer: none, until the request is aborted."""
SERVER: Final = Path(__file__).parents[1] / "services" / "mcp" / "servers" / "fickle.py"
BOUND_S: Final = 30.0
"""A test that is still waiting by then has failed; it takes a small part of that."""
AGENT: Final = """\
---
name: helper
description: Helps.
tools: ["*"]
max_turns: 3
---
You help.
"""


def call(name: str, **args: Any) -> Part:
    return {"functionCall": {"name": name, "args": args}}


def delegated(query: str) -> Part:
    return call("invoke_agent", agent_name="helper", prompt=query)


def done(result: str = "found it") -> Part:
    return call("complete_task", result=result)


class Model:
    """Answers every thread from a script of its own."""

    def __init__(self, scripts: Mapping[str, Sequence[Any]], arrived: Callable[[str], None]):
        self._scripts = {thread: list(steps) for thread, steps in scripts.items()}
        self._arrived = arrived
        self.requests: list[ModelRequest] = []

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        self.requests.append(request)
        return self._stream(self._scripts[request.thread].pop(0), request)

    async def _stream(self, step: Any, request: ModelRequest) -> ChunkStream:
        if step is HANG:
            self._arrived(request.thread)
            await request.signal.wait()
            request.signal.raise_if_aborted()
        for part in step[:-1]:
            yield {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
        content = {"role": "model", "parts": step[-1:]}
        yield {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        raise AssertionError("this test asks for streams only")

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        raise AssertionError("this test counts nothing")

    async def embed_content(self, request: object) -> JsonObject:
        raise AssertionError("this test embeds nothing")


@dataclass
class Rig:
    """One session, and what was seen of it."""

    services: Services
    runtime: Runtime
    agent: AgentProtocol
    workspace: Workspace
    there: set[str]
    """Who has got to where an abort is to find it."""
    arrived: asyncio.Event
    children: list[StartedChild] = field(default_factory=list)
    activities: list[SubagentActivity] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """Call id → `NAME STATE`, the last there was."""
    processes: dict[str, int] = field(default_factory=dict)

    def child_started(self, child: StartedChild) -> None:
        self.children.append(child)

    def child_activity(self, child: StartedChild, activity: SubagentActivity) -> None:
        self.activities.append(activity)

    def note(self, update: ToolCallsUpdate) -> None:
        for each in update.calls:
            self.states[each.call_id] = f"{each.name} {each.status}"
            if self.states[each.call_id] == "invoke_agent success":
                self.arrive(each.call_id)
            pid = getattr(each, "process_id", None)
            if pid is not None and each.call_id not in self.processes:
                self.processes[each.call_id] = pid
                self.arrive(each.call_id)

    def arrive(self, who: str) -> None:
        self.there.add(who)
        self.arrived.set()

    async def all_there(self, count: int) -> None:
        while len(self.there) < count:
            self.arrived.clear()
            await self.arrived.wait()

    async def send(self) -> None:
        await self.agent.send(MessageSend(content=(TextPart(text="go"),)))

    async def played(self) -> None:
        await self.send()
        await self.runtime.settled()

    def ended(self) -> list[str]:
        """Why each child's last stream ended."""
        sessions = [child.session for child in self.children if child.session is not None]
        ends = [session.events[-1] for session in sessions]
        return [end.reason if isinstance(end, AgentEnd) else end.type for end in ends]

    def responses(self) -> list[str]:
        """The response to each call that the parent's model got."""
        return [
            str(part["functionResponse"]["response"])
            for content in self.runtime.transcript()
            for part in content["parts"]
            if "functionResponse" in part
        ]


@asynccontextmanager
async def opened(
    engine: str, folder: Path, scripts: Mapping[str, Sequence[Any]], **parameters: Any
) -> AsyncIterator[Rig]:
    workspace = Workspace.at(folder / "ws", folder / "home")
    workspace.root.mkdir()
    agents = workspace.home / ".gemini" / "agents"
    agents.mkdir(parents=True)
    (agents / "helper.md").write_text(AGENT)
    there, arrived = set[str](), asyncio.Event()

    def arrive(who: str) -> None:
        there.add(who)
        arrived.set()

    setup = ServicesSetup(
        session_id="5e551017-0000-4000-8000-000000000000",
        model="gemini-2.5-flash",
        workspace=workspace,
        clock=SystemClock(),
        ids=CountingIds(),
        rng=FixedRandom(),
        process_ids=RealProcessIds(),
        environment=Environment.for_replay(home=str(workspace.home), path=os.environ["PATH"]),
        content_generator=Model(scripts, arrive),
        approval_mode=ApprovalMode.YOLO,
        settings=settings_from_parameters({"skipNextSpeakerCheck": True, **parameters}),
    )
    async with (
        asyncio.timeout(BOUND_S),
        open_services(setup) as services,
        runtime_factory(engine)(services) as runtime,
    ):
        rig = Rig(services, runtime, runtime.agent(), workspace, there, arrived)
        services.subagents.watch(rig)
        services.bus.subscribe(ToolCallsUpdate, rig.note)
        yield rig


@contextmanager
def heard(fifo: Path, arrive: Callable[[], None]) -> Iterator[None]:
    """Call `arrive` when a process has written into `fifo`."""
    os.mkfifo(fifo)
    loop, end = asyncio.get_running_loop(), os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def read() -> None:
        if os.read(end, 100):
            arrive()
        loop.remove_reader(end)

    loop.add_reader(end, read)
    try:
        yield
    finally:
        loop.remove_reader(end)
        os.close(end)


def is_alive(group: int) -> bool:
    """Whether a process group has a process that does not merely wait to be reaped."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                facts = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(facts[2]) == group and facts[0] not in ("Z", "X"):
                    return True
    return False


async def all_gone(groups: Iterable[int]) -> None:
    """Return when all processes have ended. The system may schedule a killed one's end later."""
    # The end of another process's child cannot be awaited.
    while any(is_alive(group) for group in groups):  # noqa: ASYNC110 - see above
        await asyncio.sleep(0)


async def none_left(tasks: set[asyncio.Task[Any]]) -> None:
    """Return when no task is left but `tasks`: taking a question back from a server is a write."""
    async with asyncio.timeout(BOUND_S):
        while asyncio.all_tasks() - tasks:  # noqa: ASYNC110 - it cannot be awaited
            await asyncio.sleep(0)


@pytest.mark.sampled(2)
async def test_an_aborted_parent_of_ten_leaves_no_process_and_no_task(
    engine: str, tmp_path: Path
) -> None:
    before, alone = children(), asyncio.all_tasks()
    fifo = tmp_path / "called"
    shell = call("run_shell_command", command="sleep 300 & sleep 300")
    scripts: dict[str, list[Any]] = {
        "main": [[delegated(f"task {n}") for n in range(10)], [{"text": "never"}]],
        **{f"0/{n}": [[shell], [done()]] for n in range(3)},
        "0/3": [[call("mcp_f_hang", mark=str(fifo))], [done()]],
        **{f"0/{n}": [HANG, [done()]] for n in range(4, 8)},
        "0/8": [[call("list_directory", dir_path=".")], HANG],
        "0/9": [[done()]],
    }
    server = {"command": sys.executable, "args": [str(SERVER)], "trust": True}
    async with opened(engine, tmp_path, scripts, mcpServers={"f": server}) as rig:
        with heard(fifo, lambda: rig.arrive("server")):
            tasks = asyncio.all_tasks()
            await rig.send()
            await rig.all_there(10)
            await rig.agent.abort()
            await rig.runtime.settled()
        await none_left(tasks)
        await all_gone(rig.processes.values())
        assert len(rig.processes) == 3
        last = rig.agent.events[-1]
        assert isinstance(last, AgentEnd)
        assert last.reason == "aborted"
        assert sorted(rig.ended()) == ["aborted"] * 9 + ["completed"]
        assert sorted(rig.states.values()) == [
            "complete_task success",
            *["invoke_agent cancelled"] * 9,
            "invoke_agent success",
            "list_directory success",
            "mcp_f_hang cancelled",
            *["run_shell_command cancelled"] * 3,
        ]
    assert children() == before
    assert asyncio.all_tasks() == alone


async def test_a_session_that_is_left_ends_its_children(engine: str, tmp_path: Path) -> None:
    before, tasks = children(), asyncio.all_tasks()
    scripts: dict[str, list[Any]] = {
        "main": [[delegated("one"), delegated("two")]],
        "0/0": [[call("run_shell_command", command="sleep 300")]],
        "0/1": [HANG],
    }
    async with opened(engine, tmp_path, scripts) as rig:
        await rig.send()
        await rig.all_there(2)
    async with asyncio.timeout(BOUND_S):
        await all_gone(rig.processes.values())
    assert sorted(rig.ended()) == ["aborted", "aborted"]
    assert children() == before
    assert asyncio.all_tasks() == tasks


async def test_a_child_that_is_cancelled_before_its_first_step_has_ended(
    engine: str, tmp_path: Path
) -> None:
    async with opened(engine, tmp_path, {}) as rig:
        definition = rig.services.subagents.registry.definition("helper")
        assert isinstance(definition, LocalAgentDefinition)
        child = rig.services.subagents.start(
            ChildRequest(definition=definition, parent_call_id="c", on_activity=lambda _: None)
        )
        tasks = asyncio.all_tasks()
        await child.start({"query": "go"})
        (begun,) = asyncio.all_tasks() - tasks
        begun.cancel()
        assert await child.result() == ABORTED_OUTPUT
        assert [event.type for event in child.events] == ["agent_start", "agent_end"]
        assert rig.ended() == ["aborted"]


async def test_a_stream_that_is_cancelled_before_its_first_step_has_ended(
    engine: str, tmp_path: Path
) -> None:
    async with opened(engine, tmp_path, {"main": [[{"text": "ok"}]]}) as rig:
        tasks = asyncio.all_tasks()
        await rig.send()
        (begun,) = asyncio.all_tasks() - tasks
        begun.cancel()
        await rig.runtime.settled()
        assert [event.type for event in rig.agent.events] == ["message", "agent_start", "agent_end"]
        await rig.played()
        last = rig.agent.events[-1]
        assert isinstance(last, AgentEnd)
        assert last.reason == "completed"


@pytest.mark.parametrize("sessions", [False, True])
@pytest.mark.sampled(2)
async def test_a_flood_of_a_childs_does_not_reach_its_parents_stream(
    engine: str, tmp_path: Path, sessions: bool
) -> None:
    thoughts: list[Part] = [{"text": f"**Step {n}** more", "thought": True} for n in range(500)]
    reads = [call("list_directory", dir_path=".") for _ in range(60)]
    scripts: dict[str, list[Any]] = {
        "main": [[delegated("one")], [{"text": "ok"}]],
        "0/0": [[*thoughts, *reads], [done("x" * 200_000)]],
    }
    adk = {"agentSessionSubagentEnabled": sessions}
    async with opened(engine, tmp_path, scripts, adk=adk) as rig:
        await rig.played()
        kinds = [event.type for event in rig.agent.events]
        assert kinds.count("tool_response") == kinds.count("tool_request") == 1
        assert len(kinds) < 12
        (response,) = [each for each in rig.agent.events if isinstance(each, ToolResponse)]
        assert not response.is_error
        assert len(rig.activities) == 500 + 2 * 60 + 2


async def test_a_child_whose_tool_dies_goes_on(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr("services.tools.list_directory._ListDirectory.execute", dies)
    scripts: dict[str, list[Any]] = {
        "main": [[delegated("one")], [{"text": "ok"}]],
        "0/0": [[call("list_directory", dir_path=".")], [done("in spite of that")]],
    }
    async with opened(engine, tmp_path, scripts) as rig:
        await rig.played()
        assert rig.ended() == ["completed"]
        assert "in spite of that" in rig.responses()[0]
        assert "list_directory error" in rig.states.values()


async def test_a_child_that_never_finishes_is_stopped_and_its_parent_goes_on(
    engine: str, tmp_path: Path
) -> None:
    again = [call("list_directory", dir_path=".")]
    scripts: dict[str, list[Any]] = {
        "main": [[delegated("one")], [{"text": "ok"}]],
        "0/0": [again, again, again, again],
    }
    async with opened(engine, tmp_path, scripts) as rig:
        await rig.played()
        assert "Termination Reason: MAX_TURNS" in rig.responses()[0]
        last = rig.agent.events[-1]
        assert isinstance(last, AgentEnd)
        assert last.reason == "completed"
