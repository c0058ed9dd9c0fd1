"""Conversations and children on every registered runtime, with models that answer from scripts."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runtimes.contract import Runtime
from runtimes.registry import runtime_factory
from services.bundle import Services
from services.clock import VirtualClock, virtual_loop
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.model.aliases import ModelAlias
from services.model.generator import ChunkStream, ModelRequest
from services.settings import Settings
from services.state import ApprovalMode
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import (
    AgentOutput,
    AgentPrompt,
    LocalAgentDefinition,
    RunLimits,
)
from services.tools.contract import (
    ConfirmationDetails,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject
from services.workspace import Workspace
from tests.runtimes.engines import engines, opened_or_skipped
from tests.runtimes.kit import Kit

HANG = object()
"""In an answer: nothing more comes until the request is aborted."""


class Model:
    """Answers each conversation, named by the first text it was asked, from a script of its own."""

    def __init__(self, clock: VirtualClock, scripts: Mapping[str, Sequence[Any]]) -> None:
        self._clock = clock
        self._scripts = {name: list(steps) for name, steps in scripts.items()}
        self.requests: list[ModelRequest] = []
        self.open_streams = 0
        self.hangs = asyncio.Event()
        """Set while an answer waits to be aborted."""

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        request.signal.raise_if_aborted()
        self.requests.append(request)
        await asyncio.sleep(0)
        asked = request.contents[0]["parts"][-1]["text"]
        steps = self._scripts.get(asked) or self._scripts["*"]
        step = steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return self._stream(step, request)

    async def _stream(self, step: Sequence[Any], request: ModelRequest) -> ChunkStream:
        self.open_streams += 1
        try:
            for chunk in step:
                if isinstance(chunk, BaseException):
                    raise chunk
                if chunk is HANG:
                    self.hangs.set()
                    await request.signal.wait()
                    request.signal.raise_if_aborted()
                elif callable(chunk):
                    chunk()
                else:
                    yield copy.deepcopy(chunk)
                await asyncio.sleep(0)
        finally:
            self.open_streams -= 1

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        return {"totalTokens": 1}

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        raise AssertionError("this test asks for streams only")

    async def embed_content(self, request: object) -> JsonObject:
        raise AssertionError("this test embeds nothing")


@dataclass
class StandInTool:
    """A tool that does what a test says."""

    name: str
    body: Callable[[ToolExecution], Awaitable[object]] | None = None
    display_name: str = "Stand-in"
    description: str = "A tool."
    kind: ToolKind = ToolKind.OTHER
    is_output_markdown: bool = True
    can_update_output: bool = False
    ran: int = 0

    def declaration(self, model: str | None = None) -> JsonObject:
        return {"name": self.name, "description": "", "parametersJsonSchema": {"type": "object"}}

    def build(self, params: JsonObject) -> _Invocation:
        return _Invocation(self, params)


@dataclass
class _Invocation:
    tool: StandInTool
    params: JsonObject

    def description(self) -> str:
        return "does it"

    @property
    def respects_auto_edit(self) -> bool:
        return False

    def confirmation_details(self) -> ConfirmationDetails | None:
        return ConfirmationDetails(type="info", title="?", fields={"prompt": "?"})

    def policy_update(self, outcome: object) -> None:
        return None

    async def execute(self, execution: ToolExecution) -> ToolResult:
        self.tool.ran += 1
        if self.tool.body is not None:
            await self.tool.body(execution)
        return ToolResult(llm_content="did it", return_display="Did it.")


@dataclass
class Room:
    """One session, and what was seen of its children."""

    services: Services
    runtime: Runtime
    model: Model
    clock: VirtualClock
    activities: list[SubagentActivity] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """Activities and events as they came, by type."""

    def child(self, definition: LocalAgentDefinition, call_id: str = "c") -> ChildAgent:
        def note(activity: SubagentActivity) -> None:
            self.activities.append(activity)
            self.order.append(activity.type.value)

        request = ChildRequest(definition=definition, parent_call_id=call_id, on_activity=note)
        child = self.services.subagents.start(request)
        child.subscribe(lambda event: self.order.append(event.type))
        return child

    async def raised(self, definition: LocalAgentDefinition, query: str = "go") -> AgentOutput:
        """A child's output, once it has run."""
        child = self.child(definition)
        await child.start({"query": query})
        return await child.result()

    @property
    def reports(self) -> list[tuple[str, str]]:
        """Activities in short: THOUGHT_CHUNK and ERROR with their texts, others with the tool."""
        keys = {ActivityType.THOUGHT_CHUNK: "text", ActivityType.ERROR: "error"}
        return [(a.type.value, str(a.data.get(keys.get(a.type, "name")))) for a in self.activities]

    @property
    def child_requests(self) -> list[ModelRequest]:
        return [request for request in self.model.requests if request.role == "subagent"]


Script = Callable[[Room], Awaitable[Any]]


class Nursery:
    """Opens sessions on one engine and runs scripts in them, in virtual time."""

    HANG = HANG
    Tool = StandInTool

    def __init__(self, engine: str, folder: Path) -> None:
        self.engine = engine
        self._folder = folder
        self._count = 0

    def run(
        self,
        script: Script,
        steps: Sequence[Any] = (),
        *,
        scripts: Mapping[str, Sequence[Any]] | None = None,
        yolo: bool = False,
        **settings: Any,
    ) -> Any:
        """What `script` returns; `steps` is the script of every conversation not in `scripts`."""

        async def go() -> Any:
            self._count += 1
            root = self._folder / f"run{self._count}"
            workspace = Workspace.at(root / "ws", root / "home")
            workspace.root.mkdir(parents=True)
            workspace.home.mkdir()
            (workspace.root / "a.txt").write_text("alpha\n")
            clock = VirtualClock()
            model = Model(clock, {"*": steps, **(scripts or {})})
            setup = ServicesSetup(
                session_id="5e551017-0000-4000-8000-000000000000",
                model="gemini-2.5-flash",
                workspace=workspace,
                clock=clock,
                ids=CountingIds(),
                rng=FixedRandom(),
                process_ids=CountingProcessIds(),
                environment=Environment.for_replay(home=str(workspace.home)),
                content_generator=model,
                approval_mode=ApprovalMode.YOLO if yolo else ApprovalMode.DEFAULT,
                settings=Settings(**settings),
            )
            async with open_services(setup) as services:
                services.models.register_runtime_alias(
                    "helper-config", ModelAlias(model="gemini-2.5-flash")
                )
                async with runtime_factory(self.engine)(services) as runtime:
                    return await script(Room(services, runtime, model, clock))

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            return runner.run(go())

    @staticmethod
    def agent(
        *tools: Any, turns: int | None = None, minutes: float | None = None, **fields: Any
    ) -> LocalAgentDefinition:
        """An agent of few words with the tools `tools`."""
        return LocalAgentDefinition(
            name="helper",
            description="Helps.",
            prompt=AgentPrompt(system="You help.", query="${query}"),
            limits=RunLimits(max_turns=turns, max_time_minutes=minutes),
            tools=tools,
            **fields,
        )

    @staticmethod
    def calls(*made: tuple[str, JsonObject], thought: str | None = None) -> list[JsonObject]:
        """An answer that makes calls."""
        parts: list[JsonObject] = [{"functionCall": {"name": n, "args": a}} for n, a in made]
        if thought is not None:
            parts.insert(0, {"text": f"**{thought}** more", "thought": True})
        return [_chunk(*parts)]

    def done(self, result: object = "the result") -> list[JsonObject]:
        """An answer that completes the task."""
        return self.calls(("complete_task", {"result": result}))


def _chunk(*parts: JsonObject) -> JsonObject:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}


@pytest.fixture(params=engines())
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> Kit:
    """Plays conversations on each registered runtime."""
    return Kit(opened_or_skipped(request.param), tmp_path)


@pytest.fixture(params=engines(in_process=True))
def engine(request: pytest.FixtureRequest) -> str:
    """Each registered runtime that uses the services of the test."""
    return opened_or_skipped(request.param)


@pytest.fixture
def inner_kit(engine: str, tmp_path: Path) -> Kit:
    """`kit`, for tests that replace parts of the services."""
    return Kit(engine, tmp_path)


@pytest.fixture
def nursery(engine: str, tmp_path: Path) -> Nursery:
    """Runs children on each of these runtimes."""
    return Nursery(engine, tmp_path)
