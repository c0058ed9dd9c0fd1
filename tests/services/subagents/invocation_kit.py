"""A child that does what a test says, and calls of agents that run it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe, UpdateSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from services.abort import AbortController
from services.ids import CountingIds
from services.message_bus import MessageBus, SubagentActivityUpdate
from services.policy.engine import PolicyEngine
from services.state import ApprovalMode, CoreEvents, SessionState
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.child_run import (
    LocalInvocation,
    LocalSessionInvocation,
    LocalSubagentInvocation,
    SessionParts,
)
from services.subagents.definition import (
    AgentOutput,
    AgentPrompt,
    LocalAgentDefinition,
    TerminateMode,
)
from services.subagents.subagents import Subagents
from services.threads import ThreadPaths
from services.tools.contract import ToolExecution, ToolResult
from services.wire import JsonObject, js_json

Work = Callable[["StandInChild"], Any]


@dataclass(kw_only=True)
class NamedError(Exception):
    """An error with the name that its class would not give it."""

    name: str | None
    message: str

    def __str__(self) -> str:
        return self.message


def agent(name: str = "helper", **fields: Any) -> LocalAgentDefinition:
    """An agent of few words."""
    return LocalAgentDefinition(
        name=name, description="Helps.", prompt=AgentPrompt(system="You help."), **fields
    )


def ended(result: str = "done", mode: TerminateMode = TerminateMode.GOAL) -> AgentOutput:
    """A run's end."""
    return AgentOutput(result=result, terminate_reason=mode)


class StandInChild:
    """Runs `work` in a task of its own, which an abort cancels unless it is deaf to that."""

    def __init__(self, request: ChildRequest, work: Work) -> None:
        self.request = request
        self.inputs: JsonObject | None = None
        self.sent: list[JsonObject | str] = []
        self.aborted = asyncio.Event()
        self._work = work
        self._task: asyncio.Task[AgentOutput] | None = None
        self._buffered: JsonObject = {}

    @property
    def agent_id(self) -> str:
        return "AGENT"

    @property
    def events(self) -> Sequence[AgentEvent]:
        return ()

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        return lambda: None

    async def start(self, inputs: JsonObject) -> None:
        self.inputs = inputs
        self._task = asyncio.get_running_loop().create_task(self._work(self))

    async def send(self, payload: AgentSend) -> str | None:
        if isinstance(payload, UpdateSend):
            self._buffered |= payload.config or {}
            self.sent.append(dict(payload.config or {}))
            return None
        assert isinstance(payload, MessageSend)
        query = "".join(part.text for part in payload.content if isinstance(part, TextPart))
        self.sent.append(query)
        await self.start(self._buffered | ({"query": query} if query else {}))
        return "stream"

    async def abort(self) -> None:
        self.stop()

    def stop(self) -> None:
        self.aborted.set()

    async def result(self) -> AgentOutput:
        assert self._task is not None
        await asyncio.wait([self._task])  # a task of its own: a cancelled waiter does not end it
        return self._task.result()

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def report(self, type: str, data: JsonObject) -> None:
        self.request.on_activity(SubagentActivity(type=ActivityType(type), data=data))


@dataclass
class Bench:
    """A session that can run agents, of which only those parts exist that this takes."""

    work: Work
    children: list[StandInChild] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    controller: AbortController = field(default_factory=AbortController)
    broken: str | None = None

    def __post_init__(self) -> None:
        state = SessionState(
            session_id="5e551011-0000-4000-8000-000000000000",
            model="gemini-2.5-pro",
            approval_mode=ApprovalMode.YOLO,
            interactive=False,
            events=CoreEvents(),
        )
        policy = PolicyEngine([], state=state, interactive=False, workspace_root=Path("/ws"))
        self.bus = MessageBus(policy)
        self.bus.subscribe(
            SubagentActivityUpdate,
            lambda update: self.published.append(js_json([update.subagent, update.activity])),
        )
        self.subagents = Subagents(ThreadPaths())
        self.subagents.run_on(self._child)

    @property
    def parts(self) -> SessionParts:
        return SessionParts(subagents=self.subagents, ids=CountingIds(), bus=self.bus)

    def _child(self, request: ChildRequest) -> ChildAgent:
        if self.broken is not None:
            raise RuntimeError(self.broken)
        self.children.append(StandInChild(request, self.work))
        return self.children[-1]

    def _show(self, value: Any) -> None:
        self.shown.append(value)
        self.outputs.append(js_json(value))

    def call(
        self,
        params: JsonObject,
        *,
        session: bool = False,
        definition: LocalAgentDefinition | None = None,
    ) -> LocalInvocation:
        kind = LocalSessionInvocation if session else LocalSubagentInvocation
        return kind(definition or agent(), params, self.parts)

    async def execute(self, call: LocalInvocation, *, silent: bool = False) -> ToolResult:
        return await call.execute(
            ToolExecution(
                call_id="call-1",
                signal=self.controller.signal,
                update_output=None if silent else self._show,
            )
        )
