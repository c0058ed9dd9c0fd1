"""The stream of what a session shows while it works."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from agent_protocol.agent import AgentProtocol
from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentStart, Message
from services.message_bus import MessageBus, ToolCallsUpdate
from services.progress import (
    AgentActivity,
    CallKey,
    CallMoved,
    CallOutput,
    CallProcess,
    CallQuestion,
    CallReport,
    Notice,
    ProgressFeed,
    Thought,
)
from services.state import ApprovalMode, CoreEvents, ModelChanged, RetryAttempt, SessionState
from services.tools.contract import CallProgress, ConfirmationDetails
from services.wire import Json
from tests.services.policy.instant import InstantEngine

CALL = CallKey(call_id="c")
QUESTION = ConfirmationDetails(type="exec", title="Run?", fields={"command": "ls"})
RETRY = RetryAttempt(attempt=1, max_attempts=3, delay_ms=5, error="busy", model="m")


@dataclass(frozen=True, kw_only=True)
class View:
    status: str = "executing"
    call_id: str = "c"
    name: str = "run_shell_command"
    parent_call_id: str | None = None
    confirmation_details: ConfirmationDetails | None = None
    correlation_id: str | None = None
    live_output: Json | None = None
    process_id: int | None = None
    progress: CallProgress | None = None


class Stage:
    """A session's bus and events, and the notices of a feed over them."""

    def __init__(self) -> None:
        self.events = CoreEvents()
        state = SessionState(
            session_id="s",
            model="m",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=True,
            events=self.events,
        )
        policy = InstantEngine([], state=state, interactive=True, workspace_root=Path("/ws"))
        self.bus = MessageBus(policy)
        self.feed = ProgressFeed(self)
        self.notices: list[Notice] = []
        self.off = self.feed.subscribe(self.notices.append)

    def show(self, *views: View) -> list[Notice]:
        """Publish the calls; return the notices that this caused."""
        before = len(self.notices)
        self.bus.publish(ToolCallsUpdate(calls=views, scheduler_id="root"))
        return self.notices[before:]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_call_is_shown_once_in_each_state(stage: Stage) -> None:
    child = View(status="validating", parent_call_id="p")
    moved = CallMoved(call=CALL, name="run_shell_command", status="validating", parent_call_id="p")

    assert stage.show(child) == [moved]
    assert stage.show(child) == []
    assert stage.show(replace(child, status="error")) == [replace(moved, status="error")]


def test_calls_of_one_id_are_different_calls(stage: Stage) -> None:
    first, second = stage.show(View(status="validating"), View(status="success"))

    assert isinstance(first, CallMoved)
    assert isinstance(second, CallMoved)
    assert (first.call.nth, second.call.nth) == (0, 1)
    assert stage.show(View(status="validating"), View(status="success")) == []


def test_each_question_is_shown_with_the_id_that_its_answer_needs(stage: Stage) -> None:
    asked = View(status="awaiting_approval", correlation_id="1", confirmation_details=QUESTION)
    shown = CallQuestion(call=CALL, correlation_id="1", details=QUESTION)

    assert stage.show(asked)[1:] == [shown]
    assert stage.show(asked) == []
    assert stage.show(replace(asked, correlation_id="2")) == [replace(shown, correlation_id="2")]


def test_output_is_shown_when_it_changes(stage: Stage) -> None:
    stage.show(View())

    assert stage.show(View(process_id=7)) == [CallProcess(call=CALL, process_id=7)]
    assert stage.show(View(process_id=7, live_output="a")) == [CallOutput(call=CALL, output="a")]
    assert stage.show(View(process_id=7, live_output="a")) == []
    assert stage.show(View(process_id=7, live_output="ab")) == [CallOutput(call=CALL, output="ab")]


def test_output_of_a_call_that_runs_again_is_shown_again(stage: Stage) -> None:
    stage.show(View(live_output="a"))
    stage.show(View(status="scheduled"))

    assert stage.show(View(live_output="a"))[1:] == [CallOutput(call=CALL, output="a")]


def test_a_servers_report_is_shown(stage: Stage) -> None:
    half = CallProgress(done=1, total=2, percent=50)

    assert stage.show(View(progress=half))[1:] == [CallReport(call=CALL, progress=half)]
    assert stage.show(View(progress=half)) == []


def test_the_progress_of_a_subagent_is_its_activities(stage: Stage) -> None:
    item = {"id": "1", "type": "thought", "content": "Look", "status": "running"}
    running: Json = {
        "isSubagentProgress": True,
        "agentName": "helper",
        "recentActivity": [item],
        "state": "running",
    }
    shown = AgentActivity(call=CALL, agent="helper", state="running", activities=[item])

    assert stage.show(View(live_output=running))[1:] == [shown]
    ended = {**running, "state": "completed", "result": "D", "terminateReason": "GOAL"}
    assert stage.show(View(live_output=ended)) == [
        replace(shown, state="completed", result="D", terminate_reason="GOAL")
    ]


def test_other_json_is_output(stage: Stage) -> None:
    shown = stage.show(View(live_output={"rows": 1}))

    assert shown[1:] == [CallOutput(call=CALL, output={"rows": 1})]


def test_retries_are_shown_and_other_core_events_are_not(stage: Stage) -> None:
    stage.events.emit(RETRY)
    stage.events.emit(ModelChanged(model="m"))

    assert stage.notices == [RETRY]


def test_the_thoughts_of_a_followed_agent_are_shown(stage: Stage) -> None:
    log = EventLog()
    stage.feed.follow(cast("AgentProtocol", log))
    common: dict[str, Any] = {"id": "1", "stream_id": "s", "timestamp": "t"}
    parts = (ThoughtPart(thought="first look"), TextPart(text="Hello"))
    mine = (ThoughtPart(thought="mine"),)
    log.emit(
        [
            AgentStart(**common),
            Message(**common, role="agent", content=parts, meta={"subject": "Plan"}),
            Message(**common, role="user", content=mine),
        ]
    )

    assert stage.notices == [Thought(text="first look", subject="Plan")]


def test_a_subscriber_that_raises_keeps_nothing_from_the_others(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Notice) -> None:
        raise ValueError("no screen")

    stage.off()
    stage.feed.subscribe(fail)
    stage.feed.subscribe(stage.notices.append)

    assert len(stage.show(View())) == 1
    assert "a subscriber of the progress failed" in caplog.text


def test_nothing_is_shown_after_the_unsubscribe_or_the_close(stage: Stage) -> None:
    stage.off()
    stage.off()
    assert stage.show(View()) == []

    stage.feed.subscribe(stage.notices.append)
    stage.feed.close()
    stage.events.emit(RETRY)
    assert stage.show(View(status="success")) == []
    assert stage.notices == []
