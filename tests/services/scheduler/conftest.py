from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from services.abort import AbortController
from services.clock import VirtualClock
from services.hooks.system import HookSystem
from services.message_bus import (
    MessageBus,
    ToolCallsUpdate,
    ToolConfirmationResponse,
    UpdatePolicy,
)
from services.policy.engine import PolicyEngine
from services.policy.rules import Decision, PolicyRule
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.scheduler.scheduler import ToolScheduler
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    InvalidToolParams,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject
from services.workspace import Workspace
from tests.services.sessions import session_at

Body = Callable[[JsonObject, ToolExecution], Awaitable[ToolResult]]


async def say_done(_params: JsonObject, _execution: ToolExecution) -> ToolResult:
    return ToolResult(llm_content="done", return_display="Done.")


@dataclass
class ScriptedInvocation:
    tool: ScriptedTool
    params: JsonObject

    def description(self) -> str:
        return f"{self.tool.name} {self.params}"

    @property
    def respects_auto_edit(self) -> bool:
        return self.tool.respects_auto_edit

    def confirmation_details(self) -> ConfirmationDetails | None:
        return self.tool.details(self.params)

    def policy_update(self, _outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        return self.tool.narrowing

    async def execute(self, execution: ToolExecution) -> ToolResult:
        self.tool.ran.append(self.params)
        return await self.tool.body(self.params, execution)


def ask_info(params: JsonObject) -> ConfirmationDetails | None:
    return ConfirmationDetails(type="info", title="Confirm", fields={"prompt": str(params)})


@dataclass
class ScriptedTool:
    name: str
    body: Body = say_done
    display_name: str = ""
    description: str = "A scripted tool."
    kind: ToolKind = ToolKind.OTHER
    is_output_markdown: bool = True
    can_update_output: bool = False
    respects_auto_edit: bool = False
    details: Callable[[JsonObject], ConfirmationDetails | None] = ask_info
    narrowing: Mapping[str, Any] | None = None
    refuses: str = ""
    ran: list[JsonObject] = field(default_factory=list)

    def declaration(self, model: str | None = None) -> JsonObject:
        return {"name": self.name}

    def build(self, params: JsonObject) -> ScriptedInvocation:
        if self.refuses:
            raise InvalidToolParams(self.refuses)
        return ScriptedInvocation(self, params)


class EditableTool(ScriptedTool):
    def current_content(self, params: JsonObject) -> str:
        return f"old {params['content']}"

    def modified_params(self, params: JsonObject, current: str, content: str) -> JsonObject:
        return {**params, "content": content, "over": current}


class ServersTool(ScriptedTool):
    """A tool of the MCP server `srv`, which calls it `own`."""

    server_name = "srv"
    server_tool_name = "own"
    annotations: Mapping[str, Any] | None = None
    policy_annotations: ClassVar[JsonObject] = {}
    excluded_by: frozenset[str] = frozenset()


class Tools:
    def __init__(self) -> None:
        self.by_name: dict[str, ScriptedTool] = {}

    def get(self, name: str) -> ScriptedTool | None:
        return self.by_name.get(name)

    def all_names(self) -> list[str]:
        return list(self.by_name)


class Rig:
    """A scheduler over scripted tools that writes down what observers see."""

    def __init__(
        self,
        root: Path,
        *,
        interactive: bool = True,
        hooks: HookSystem | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.events = CoreEvents()
        self.feedback: list[Any] = []
        self.events.subscribe(self.feedback.append)
        self.state = SessionState(
            session_id="s",
            model="gemini-2.5-flash",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=interactive,
            events=self.events,
        )
        self.clock = VirtualClock()
        self.policy = PolicyEngine(
            [PolicyRule(tool_name="*", decision=Decision.ALLOW)],
            state=self.state,
            interactive=interactive,
            workspace_root=root,
            events=self.events,
        )
        self.bus = MessageBus(self.policy)
        self.tools = Tools()
        self.controller = AbortController()
        self.scheduler = ToolScheduler(
            session_at(
                Workspace.at(root, root),
                settings,
                state=self.state,
                events=self.events,
                clock=self.clock,
            ),
            registry=self.tools,
            policy=self.policy,
            bus=self.bus,
            hooks=hooks,
        )
        self.updates: list[ToolCallsUpdate] = []
        self.policy_updates: list[UpdatePolicy] = []
        self.history: dict[str, list[str]] = {}
        self.questions: list[Any] = []
        self.bus.subscribe(ToolCallsUpdate, self._observe)
        self.bus.subscribe(UpdatePolicy, self.policy_updates.append)

    def _observe(self, update: ToolCallsUpdate) -> None:
        self.updates.append(update)
        for call in update.calls:
            states = self.history.setdefault(call.call_id, [])
            if not states or states[-1] != call.status:
                states.append(str(call.status))

    def tool(self, name: str, kind: type[ScriptedTool] = ScriptedTool, **more: Any) -> ScriptedTool:
        self.tools.by_name[name] = kind(name, **more)
        return self.tools.by_name[name]

    def rule(self, name: str, decision: str, **more: Any) -> None:
        self.policy.add_rule(
            PolicyRule(tool_name=name, decision=Decision(decision), priority=1, **more)
        )

    def request(self, name: str, call_id: str = "", **args: Any) -> ToolCallRequest:
        return ToolCallRequest(call_id=call_id or name, name=name, args=args, prompt_id="p")

    async def run(self, *requests: ToolCallRequest) -> list[CompletedToolCall]:
        return await self.scheduler.schedule(requests, self.controller.signal)

    def states(self, call_id: str) -> str:
        return " > ".join(self.history[call_id])

    def answer(self, *outcomes: str | Mapping[str, Any]) -> None:
        """Answer questions in turn, at once; the last answer repeats."""
        remaining = list(outcomes)
        seen: set[str] = set()

        def reply(update: ToolCallsUpdate) -> None:
            for call in update.calls:
                if call.status != "awaiting_approval" or call.correlation_id in seen:
                    continue
                assert call.correlation_id is not None
                seen.add(call.correlation_id)
                self.questions.append(call)
                given = remaining.pop(0) if len(remaining) > 1 else remaining[0]
                fields: dict[str, Any] = {"outcome": given} if isinstance(given, str) else {**given}
                if "outcome" in fields:
                    fields["outcome"] = ConfirmationOutcome(fields["outcome"])
                response = {"confirmed": True, **fields}
                self.bus.publish(
                    ToolConfirmationResponse(correlation_id=call.correlation_id, **response)
                )

        self.bus.subscribe(ToolCallsUpdate, reply)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.fixture
def headless(tmp_path: Path) -> Rig:
    return Rig(tmp_path, interactive=False)


@pytest.fixture
def editable() -> type[ScriptedTool]:
    return EditableTool
