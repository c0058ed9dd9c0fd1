"""A child on a real engine over real services, with a model and tools that do what a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_protocol.codec import to_wire
from runtimes.registry import open_runtime
from services.bundle import Services
from services.clock import VirtualClock, sleep_or_abort, virtual_loop
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.settings import Settings
from services.state import ApprovalMode
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import AgentOutput, AgentPrompt, LocalAgentDefinition
from services.subagents.overriding import AgentModels
from services.tools.contract import (
    ConfirmationDetails,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject, Part
from services.workspace import Workspace

MINUTE_MS = 60_000
CALL = "the_call"

Answer = Sequence[Part] | Exception | Callable[["Scene", ModelRequest], Awaitable[Sequence[Part]]]


def agent(**fields: Any) -> LocalAgentDefinition:
    """An agent that may call nothing but `complete_task`, unless `fields` say otherwise."""
    return LocalAgentDefinition(
        **{
            "name": "helper",
            "description": "Helps.",
            "prompt": AgentPrompt(system="You help.", query="${query}"),
            "tools": (),
            **fields,
        }
    )


def call(name: str, args: Any = None, **more: Any) -> Part:
    """A function call, as a part of an answer."""
    return {"functionCall": {"name": name, "args": {} if args is None else args, **more}}


def complete(result: Any = "done") -> Part:
    """The call that ends an agent."""
    return call("complete_task", {"result": result})


def said(text: str) -> Part:
    """Plain words."""
    return {"text": text}


async def taking(scene: Scene, request: ModelRequest, ms: float, *parts: Part) -> Sequence[Part]:
    """An answer that takes its time, and that an abort ends."""
    await sleep_or_abort(scene.services.clock, ms, request.signal)
    return parts


@dataclass
class Scene:
    """What is there while a child runs."""

    services: Services
    child: ChildAgent
    activities: list[SubagentActivity] = field(default_factory=list)


@dataclass
class Played:
    """A child that has ended."""

    child: ChildAgent
    activities: list[SubagentActivity]
    requests: list[ModelRequest]
    output: AgentOutput | None
    error: Exception | None
    others: list[ModelRequest]
    """What else a model was asked: for summaries, which model to take."""
    recordings: Mapping[str, list[JsonObject]]
    """Folder and name below `chats` to the lines."""

    @property
    def ended(self) -> AgentOutput:
        """The output of a child that failed in nothing."""
        assert self.error is None, self.error
        assert self.output is not None
        return self.output

    @property
    def events(self) -> list[JsonObject]:
        return [to_wire(event) for event in self.child.events]

    def of(self, type: ActivityType) -> list[JsonObject]:
        """The data of its activities of one type."""
        return [each.data for each in self.activities if each.type is type]

    @property
    def errors(self) -> list[str]:
        return [data["error"] for data in self.of(ActivityType.ERROR)]

    @property
    def thoughts(self) -> list[str]:
        return [data["text"] for data in self.of(ActivityType.THOUGHT_CHUNK)]

    def message(self, number: int) -> list[Part]:
        """The last content of the n-th request of the child's model."""
        return list(self.requests[number].contents[-1]["parts"])


class ScriptedModel:
    """Answers one request after the other; says what is left over when asked for more."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.requests: list[ModelRequest] = []
        self.others: list[ModelRequest] = []
        self.texts: list[str] = []
        """What utility requests are answered with, in order."""
        self.counted = 10
        """How many tokens each request of the child's had, by the model's own count."""
        self.scene: Scene | None = None
        self._answers = list(answers)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        self.requests.append(request)
        assert self._answers, "the model is asked more often than the test expects"
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            assert self.scene is not None
            answer = await answer(self.scene, request)
        return self._stream(answer)

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        self.others.append(request)
        return _chunk([{"text": self.texts.pop(0)}])

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        return {"totalTokens": 1}

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        raise AssertionError("this test embeds nothing")

    async def _stream(self, parts: Sequence[Part]) -> AsyncGenerator[JsonObject, None]:
        yield _chunk(parts, self.counted)


def _chunk(parts: Sequence[Part], counted: int = 10) -> JsonObject:
    content = {"role": "model", "parts": [dict(part) for part in parts]}
    usage = {"promptTokenCount": counted, "candidatesTokenCount": 1}
    return {
        "candidates": [{"content": content, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }


Body = Callable[[JsonObject, ToolExecution], Awaitable[ToolResult]]


async def answer_ok(params: JsonObject, execution: ToolExecution) -> ToolResult:
    return ToolResult(llm_content="ok", return_display="Ok.")


@dataclass
class StandInTool:
    """A tool with a test's behaviour; the user is asked about it unless everything is allowed."""

    name: str
    body: Body = answer_ok
    display_name: str = "Stand-in"
    description: str = "Does what a test says."
    kind: ToolKind = ToolKind.OTHER
    is_output_markdown: bool = True
    can_update_output: bool = False
    ran: list[JsonObject] = field(default_factory=list)

    def declaration(self, model: str | None = None) -> JsonObject:
        return {"name": self.name, "description": f"for {model}", "parametersJsonSchema": {}}

    def build(self, params: JsonObject) -> StandInCall:
        return StandInCall(self, params)


@dataclass
class StandInCall:
    tool: StandInTool
    params: JsonObject
    respects_auto_edit: bool = False

    def description(self) -> str:
        return f"doing {self.tool.name}"

    def confirmation_details(self) -> ConfirmationDetails | None:
        return ConfirmationDetails(type="info", title="May it?", fields={"prompt": "?"})

    def policy_update(self, outcome: object) -> None:
        return None

    async def execute(self, execution: ToolExecution) -> ToolResult:
        self.tool.ran.append(self.params)
        return await self.tool.body(self.params, execution)


def play(
    runtime: str,
    root: Path,
    *answers: Answer,
    definition: LocalAgentDefinition | None = None,
    inputs: JsonObject | None = None,
    meanwhile: Callable[[Scene], Awaitable[None]] | None = None,
    begin: Callable[[Scene], Awaitable[None]] | None = None,
    leave: bool = False,
    summaries: Sequence[str] = (),
    counted: int = 10,
    mode: ApprovalMode = ApprovalMode.YOLO,
    model: str = "gemini-2.5-flash",
    **settings: Any,
) -> Played:
    """Run a child to its end.

    `meanwhile` runs beside it from before its first turn on; `begin` starts it in another way.
    With `leave`, the engine is closed as soon as `meanwhile` is over.
    """

    async def run() -> Played:
        clock = VirtualClock()
        scripted = ScriptedModel(answers)
        scripted.texts, scripted.counted = list(summaries), counted
        (root / "ws").mkdir(exist_ok=True)
        setup = ServicesSetup(
            session_id="the-session",
            model=model,
            workspace=Workspace.at(root / "ws", root / "home"),
            clock=clock,
            ids=CountingIds(),
            rng=FixedRandom(),
            process_ids=CountingProcessIds(),
            environment=Environment.for_replay(home=str(root / "home")),
            content_generator=scripted,
            approval_mode=mode,
            settings=Settings(**settings),
        )
        activities: list[SubagentActivity] = []
        chosen = definition or agent()
        async with open_services(setup) as services, open_runtime(runtime, services):
            AgentModels(services.models).register(chosen, model)
            request = ChildRequest(
                definition=chosen, parent_call_id=CALL, on_activity=activities.append
            )
            child = services.subagents.start(request)
            scripted.scene = Scene(services, child, activities)
            if begin is not None:
                await begin(scripted.scene)
            else:
                await child.start({"query": "go"} if inputs is None else inputs)
            beside = None
            if meanwhile is not None:
                beside = asyncio.get_running_loop().create_task(_void(meanwhile(scripted.scene)))
            output, error = None, None
            try:
                if not leave:
                    output = await child.result()
            except Exception as raised:
                error = raised
            if beside is not None:
                await beside
        assert asyncio.all_tasks() == {asyncio.current_task()}
        own = [item for item in scripted.requests if item.role.value == "subagent"]
        found = _recordings(setup.workspace)
        return Played(child, activities, own, output, error, scripted.others, found)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(run())


async def _void(work: Awaitable[None]) -> None:
    await work


def _recordings(workspace: Workspace) -> Mapping[str, list[JsonObject]]:
    chats = workspace.project_temp / "chats"
    return {
        str(file.relative_to(chats)): [json.loads(line) for line in file.read_text().splitlines()]
        for file in sorted(chats.rglob("*.jsonl"))
    }
