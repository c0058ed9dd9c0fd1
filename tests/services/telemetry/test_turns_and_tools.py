import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart
from services.abort import AbortController, AbortError, AbortSignal
from services.availability.switching import FallbackActivated
from services.clock import VIRTUAL_EPOCH_MS
from services.message_bus import MessageBus
from services.model.generator import LlmRole, ModelRequest
from services.model.metering import CallEnd, ModelCall
from services.policy.engine import PolicyEngine
from services.scheduler.calls import CallStatus, ToolCallRequest, ToolCallResponse
from services.scheduler.execution import Ending
from services.scheduler.states import ToolCall
from services.state import ApprovalMode, CoreEvents, RetryAttempt, SessionState
from services.tools.contract import ToolErrorType, ToolResult

HELLO = MessageSend(content=(TextPart(text="a secret"),))


@dataclass
class Agent:
    """Does `work` in a task of its own between a stream's start and end."""

    work: Callable[[], Any]
    reason: str = "completed"
    log: EventLog = field(default_factory=EventLog)
    running: asyncio.Task[None] | None = None
    sent: int = 0
    aborted: bool = False

    @property
    def events(self) -> Sequence[AgentEvent]:
        return self.log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        return self.log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        if self.running is not None and not self.running.done():
            raise StreamActive("busy")
        self.sent += 1
        stream = f"stream-{self.sent}"
        self.running = asyncio.create_task(self._run(stream))
        return stream

    async def _run(self, stream: str) -> None:
        fields: dict[str, Any] = {"timestamp": "2026-01-01T00:00:00.000Z", "stream_id": stream}
        self.log.emit([AgentStart(id=f"{stream}-0", **fields)])
        result = self.work()
        if result is not None:
            await result
        self.log.emit([AgentEnd(id=f"{stream}-1", reason=self.reason, **fields)])

    async def abort(self) -> None:
        self.aborted = True


async def turn(telemetry: Any, agent: Agent) -> None:
    measured = telemetry.agent(agent)
    assert await measured.send(HELLO) == f"stream-{agent.sent}"
    assert agent.running is not None
    await agent.running


def ask(telemetry: Any) -> None:
    request = ModelRequest(
        model="m", contents=[], role=LlmRole.MAIN, prompt_id="p", signal=AbortController().signal
    )
    call = ModelCall(request=request, streaming=False, began_ms=VIRTUAL_EPOCH_MS)
    telemetry.model_calls[0].call_began(call)
    call.ended_ms, call.end = VIRTUAL_EPOCH_MS, CallEnd.ANSWERED
    telemetry.model_calls[0].call_ended(call)


def tool_call() -> ToolCall:
    request = ToolCallRequest(call_id="ls__1", name="ls", args={"path": "a secret"}, prompt_id="p")
    return ToolCall(
        request=request,
        status=CallStatus.EXECUTING,
        scheduler_id="root",
        approval_mode=ApprovalMode.DEFAULT,
    )


def ending(status: CallStatus, error: ToolErrorType | None = None) -> Ending:
    parts = ({"functionResponse": {"id": "ls__1", "response": {"output": "a secret"}}},)
    return Ending(status, ToolCallResponse(call_id="ls__1", response_parts=parts, error_type=error))


def watched(telemetry: Any) -> CoreEvents:
    events = CoreEvents()
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=events,
    )
    policy = PolicyEngine([], state=state, interactive=False, workspace_root=Path("ws"))
    telemetry.watch(events, MessageBus(policy), ApprovalMode.DEFAULT)
    return events


RETRY = RetryAttempt(attempt=1, max_attempts=3, delay_ms=5000.0, error="HTTP_503", model="m")


async def test_calls_of_a_turn_are_under_its_span(rig: Any) -> None:
    async def run(call: ToolCall, signal: AbortSignal) -> Ending:
        ask(telemetry)
        return ending(CallStatus.SUCCESS)

    async def work() -> None:
        ask(telemetry)
        rig.clock.advance(40)
        await asyncio.create_task(telemetry.tools(run)(tool_call(), AbortController().signal))
        rig.clock.advance(2)

    with rig.opened() as telemetry:
        await turn(telemetry, Agent(work))
    first, second, tool, agent = rig.spans()
    assert [span["name"] for span in (first, second, tool, agent)] == [
        "generate_content m",
        "generate_content m",
        "execute_tool ls",
        "invoke_agent gemini-cli",
    ]
    assert first["parentSpanId"] == tool["parentSpanId"] == agent["spanId"]
    assert second["parentSpanId"] == tool["spanId"]
    assert len({span["traceId"] for span in rig.spans()}) == 1
    assert agent["attributes"] == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.agent.name": "gemini-cli",
        "gen_ai.conversation.id": "the-session",
        "gemini_cli.end_reason": "completed",
    }
    assert tool["attributes"] == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "ls",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "ls__1",
        "gen_ai.conversation.id": "the-session",
        "gemini_cli.tool.status": "success",
    }
    assert "a secret" not in rig.file.read_text()


async def test_each_turn_is_a_trace(rig: Any) -> None:
    with rig.opened() as telemetry:
        agent = Agent(lambda: None)
        measured = telemetry.agent(agent)
        for _ in range(2):
            await measured.send(HELLO)
            assert agent.running is not None
            await agent.running
    assert len({span["traceId"] for span in rig.spans()}) == 2


@pytest.mark.parametrize(
    ("reason", "kind", "code"),
    [
        ("completed", None, 0),
        ("max_turns", None, 0),
        ("aborted", "cancelled", 0),
        ("failed", "_OTHER", 2),
    ],
)
async def test_a_turns_span_has_its_end(rig: Any, reason: str, kind: str | None, code: int) -> None:
    with rig.opened() as telemetry:
        await turn(telemetry, Agent(lambda: rig.clock.advance(250), reason))
    (span,) = rig.spans()
    assert span["attributes"]["gemini_cli.end_reason"] == reason
    assert (span["attributes"].get("error.type"), span["status"]["code"]) == (kind, code)
    (point,) = rig.metrics()["gen_ai.invoke_agent.duration"]["dataPoints"]
    assert point["value"]["sum"] == 0.25


@pytest.mark.parametrize("begun", [False, True])
async def test_a_refused_send_is_no_turn(rig: Any, begun: bool) -> None:
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()
        ask(telemetry)

    with rig.opened() as telemetry:
        agent = Agent(work)
        measured = telemetry.agent(agent)
        await measured.send(HELLO)
        if begun:
            await asyncio.sleep(0)
        with pytest.raises(StreamActive):
            await measured.send(HELLO)
        await measured.abort()
        gate.set()
        assert agent.running is not None
        await agent.running
    assert agent.aborted
    asked, turned = rig.spans()
    assert turned["name"] == "invoke_agent gemini-cli"
    assert asked["parentSpanId"] == turned["spanId"]


async def test_retries_and_fallbacks_are_events_of_the_turn(rig: Any) -> None:
    def work() -> None:
        events.emit(RETRY)
        telemetry.fell_back(FallbackActivated(model="flash", failed_model="pro"))

    with rig.opened() as telemetry:
        events = watched(telemetry)
        await turn(telemetry, Agent(work))
        events.emit(RETRY)
    (span,) = rig.spans()
    assert [(event["name"], event["attributes"]) for event in span["events"]] == [
        (
            "gemini_cli.network_retry_attempt",
            {
                "gen_ai.request.model": "m",
                "error.type": "HTTP_503",
                "gemini_cli.retry.attempt": 1,
                "gemini_cli.retry.max_attempts": 3,
                "gemini_cli.retry.delay_ms": 5000.0,
            },
        ),
        (
            "gemini_cli.fallback",
            {
                "gemini_cli.fallback.model": "flash",
                "gemini_cli.fallback.failed_model": "pro",
            },
        ),
    ]
    metrics = rig.metrics()
    counts = {
        name: [point["value"] for point in metrics[name]["dataPoints"]]
        for name in ("gemini_cli.network_retry.count", "gemini_cli.fallback.count")
    }
    assert counts == {"gemini_cli.network_retry.count": [2], "gemini_cli.fallback.count": [1]}


async def test_a_retrys_message_is_not_recorded(rig: Any) -> None:
    retry = RetryAttempt(
        attempt=1, max_attempts=3, delay_ms=1, error="bad key: a secret", model="m"
    )
    with rig.opened(log_prompts=False) as telemetry:
        events = watched(telemetry)
        await turn(telemetry, Agent(lambda: events.emit(retry)))
    (event,) = rig.spans()[0]["events"]
    assert event["attributes"]["error.type"] == "_OTHER"
    assert "a secret" not in rig.file.read_text()


@pytest.mark.parametrize(
    ("came", "status", "kind", "code"),
    [
        (ending(CallStatus.ERROR, ToolErrorType.FILE_NOT_FOUND), "error", "file_not_found", 2),
        (ending(CallStatus.ERROR), "error", "_OTHER", 2),
        (ending(CallStatus.CANCELLED), "cancelled", "cancelled", 0),
    ],
)
async def test_a_tool_that_fails_says_how(
    rig: Any, came: Ending, status: str, kind: str, code: int
) -> None:
    async def run(call: ToolCall, signal: AbortSignal) -> Ending:
        return came

    with rig.opened() as telemetry:
        assert await telemetry.tools(run)(tool_call(), AbortController().signal) is came
    (span,) = rig.spans()
    assert span["attributes"]["gemini_cli.tool.status"] == status
    assert (span["attributes"]["error.type"], span["status"]["code"]) == (kind, code)


async def test_a_tool_whose_task_is_cancelled_ends_its_span(rig: Any) -> None:
    async def run(call: ToolCall, signal: AbortSignal) -> Ending:
        await asyncio.Event().wait()
        raise AssertionError

    with rig.opened() as telemetry:
        task = asyncio.create_task(telemetry.tools(run)(tool_call(), AbortController().signal))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert len(rig.spans()) == 1


async def test_prompts_are_logged_if_enabled(rig: Any) -> None:
    async def run(call: ToolCall, signal: AbortSignal) -> Ending:
        return ending(CallStatus.SUCCESS)

    async def work() -> None:
        await telemetry.tools(run)(tool_call(), AbortController().signal)

    with rig.opened(traces=True) as telemetry:
        await turn(telemetry, Agent(work))
    tool, agent = (span["attributes"] for span in rig.spans())
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"path": "a secret"}
    (result,) = json.loads(tool["gen_ai.tool.call.result"])
    assert result["role"] == "tool"
    assert result["parts"][0]["response"] == {"output": "a secret"}
    (said,) = json.loads(agent["gen_ai.input.messages"])
    assert said == {"role": "user", "parts": [{"type": "text", "content": "a secret"}]}


@pytest.mark.parametrize(
    ("shown", "raised", "reason", "error", "status"),
    [
        ({"terminateReason": "MAX_TURNS"}, None, "MAX_TURNS", None, 0),
        ({"state": "error"}, None, None, "_OTHER", 2),
        ("", AbortError("Operation cancelled by user"), None, "cancelled", 0),
        ("", RuntimeError("gone"), None, "_OTHER", 2),
    ],
)
async def test_a_subagents_run_stands_under_its_call_and_its_requests_under_it(
    rig: Any,
    shown: Any,
    raised: Exception | None,
    reason: str | None,
    error: str | None,
    status: int,
) -> None:
    async def child() -> ToolResult:
        ask(telemetry)
        rig.clock.advance(30)
        if raised is not None:
            raise raised
        return ToolResult(llm_content="", return_display=shown)

    async def run(call: ToolCall, signal: AbortSignal) -> Ending:
        with suppress(type(raised or ValueError())):
            await telemetry.subagent("helper", "Helps.", child)
        return ending(CallStatus.SUCCESS)

    with rig.opened() as telemetry:
        await telemetry.tools(run)(tool_call(), AbortController().signal)
    by_name = {span["name"]: span for span in rig.spans()}
    tool, agent, request = (
        by_name[name] for name in ("execute_tool ls", "invoke_agent helper", "generate_content m")
    )
    assert agent["parentSpanId"] == tool["spanId"]
    assert request["parentSpanId"] == agent["spanId"]
    found = agent["attributes"]
    assert found["gen_ai.agent.name"] == "helper"
    assert found["gen_ai.agent.description"] == "Helps."
    assert found.get("gemini_cli.end_reason") == reason
    assert found.get("error.type") == error
    assert agent["status"]["code"] == status
    (point,) = rig.metrics()["gen_ai.invoke_agent.duration"]["dataPoints"]
    assert point["value"]["sum"] == 0.03
