from collections.abc import Iterable
from typing import Any

import pytest

from agent_protocol.errors import ProtocolViolation
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    Custom,
    ErrorEvent,
    Initialize,
    Message,
    SessionUpdate,
    ToolRequest,
    ToolResponse,
    ToolUpdate,
    Usage,
)
from agent_protocol.lifecycle import LIFECYCLE, LifecycleChecker, LifecycleRule, StreamPhase


class Script:
    """Makes events with dense ids."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, build: type, stream: str = "s", **own: Any) -> Any:
        self._count += 1
        return build(id=f"{stream}-{self._count}", stream_id=stream, timestamp="t", **own)


BODIES: dict[type, dict[str, Any]] = {
    Initialize: {"session_id": "i", "workspace": "w", "agent_id": "a"},
    SessionUpdate: {"model": "m"},
    Message: {"role": "user", "content": ()},
    AgentStart: {},
    AgentEnd: {"reason": "completed"},
    ToolRequest: {"request_id": "r", "name": "n", "args": {}},
    ToolUpdate: {"request_id": "r"},
    ToolResponse: {"request_id": "r", "name": "n"},
    Usage: {"model": "m"},
    ErrorEvent: {"status": "INTERNAL", "message": "m", "fatal": False},
    Custom: {"kind": "k"},
}


def feed_all(checker: LifecycleChecker, events: Iterable[Any]) -> None:
    for event in events:
        checker.feed(event)


def broken(*events: Any) -> str:
    checker = LifecycleChecker()
    feed_all(checker, events[:-1])
    with pytest.raises(ProtocolViolation) as caught:
        checker.feed(events[-1])
    return str(caught.value)


def test_the_table_has_every_event_type() -> None:
    assert {vars(build)["__dataclass_fields__"]["type"].default for build in BODIES} == set(
        LIFECYCLE
    )
    assert set(BODIES) == set(AgentEvent.__args__)


def test_a_whole_session_over_two_streams_is_legal() -> None:
    new = Script()
    checker = LifecycleChecker()
    feed_all(
        checker,
        [
            new(Initialize, **BODIES[Initialize]),
            new(Message, role="user", content=()),
            new(SessionUpdate, model="m"),
            new(AgentStart),
            new(Message, role="agent", content=()),
            new(Message, "other", role="user", content=()),
            new(ToolRequest, **BODIES[ToolRequest]),
            new(ToolUpdate, request_id="r"),
            new(ToolResponse, request_id="r", name="n"),
            new(AgentStart, "other"),
            new(ErrorEvent, **BODIES[ErrorEvent]),
            new(Usage, model="m"),
            new(AgentEnd, reason="failed"),
            new(AgentEnd, "other", reason="aborted"),
        ],
    )
    checker.finish()


def test_a_send_acknowledged_without_activity_leaves_nothing_open() -> None:
    new = Script()
    checker = LifecycleChecker()
    checker.feed(new(SessionUpdate, title="t"))
    checker.finish()


def test_timestamps_need_not_be_monotonic() -> None:
    checker = LifecycleChecker()
    checker.feed(AgentStart(id="1", stream_id="s", timestamp="2026"))
    checker.feed(AgentEnd(id="2", stream_id="s", timestamp="2025", reason="completed"))
    checker.finish()


@pytest.mark.parametrize("build", [ToolRequest, ToolUpdate, ToolResponse, Usage, ErrorEvent])
def test_agent_activity_before_agent_start_is_illegal(build: type) -> None:
    message = broken(Script()(build, **BODIES[build]))
    kind = LIFECYCLE_NAMES[build]
    assert message == f"{LifecycleRule.ACTIVITY_AFTER_START}: {kind} 's-1' on stream 's'"


LIFECYCLE_NAMES = {build: vars(build)["__dataclass_fields__"]["type"].default for build in BODIES}


@pytest.mark.parametrize(("role", "legal"), [("user", True), ("developer", True), ("agent", False)])
def test_before_agent_start_only_the_agent_must_be_silent(role: str, legal: bool) -> None:
    event = Script()(Message, role=role, content=())
    if legal:
        LifecycleChecker().feed(event)
    else:
        assert broken(event).startswith(LifecycleRule.ACTIVITY_AFTER_START)


def test_a_stream_starts_once() -> None:
    new = Script()
    assert broken(new(AgentStart), new(AgentStart)).startswith(LifecycleRule.ONE_START)


def test_a_stream_that_has_not_started_cannot_end() -> None:
    assert broken(Script()(AgentEnd, reason="completed")).startswith(LifecycleRule.END_AFTER_START)


@pytest.mark.parametrize("build", BODIES, ids=lambda build: build.__name__)
def test_nothing_follows_agent_end_on_its_stream(build: type) -> None:
    new = Script()
    events = [new(AgentStart), new(AgentEnd, reason="completed"), new(build, **BODIES[build])]
    rule = LifecycleRule.NOTHING_AFTER_END
    if build is Initialize:
        rule = LifecycleRule.INITIALIZE_FIRST
    assert broken(*events).startswith(rule)


def test_initialize_comes_first_in_a_session_and_not_within_a_stream() -> None:
    new = Script()
    initialize = new(Initialize, "elsewhere", **BODIES[Initialize])
    assert broken(new(SessionUpdate), initialize).startswith(LifecycleRule.INITIALIZE_FIRST)
    assert set(LIFECYCLE["initialize"]) == {StreamPhase.BEFORE}


@pytest.mark.parametrize("build", [ToolUpdate, ToolResponse])
def test_a_call_that_was_not_requested_has_no_update_and_no_answer(build: type) -> None:
    new = Script()
    assert broken(new(AgentStart), new(build, **BODIES[build])).startswith(
        LifecycleRule.REQUEST_FIRST
    )


def test_a_request_on_another_stream_does_not_count() -> None:
    new = Script()
    assert broken(
        new(AgentStart),
        new(AgentStart, "other"),
        new(ToolRequest, "other", **BODIES[ToolRequest]),
        new(ToolResponse, **BODIES[ToolResponse]),
    ).startswith(LifecycleRule.REQUEST_FIRST)


def test_a_request_made_twice_may_be_answered_twice_and_no_more() -> None:
    new = Script()
    request, answer = BODIES[ToolRequest], BODIES[ToolResponse]
    assert broken(
        new(AgentStart),
        new(ToolRequest, **request),
        new(ToolRequest, **request),
        new(ToolResponse, **answer),
        new(ToolResponse, **answer),
        new(ToolResponse, **answer),
    ).startswith(LifecycleRule.ONE_ANSWER_EACH)


def test_a_started_stream_must_have_ended_when_all_is_over() -> None:
    new = Script()
    checker = LifecycleChecker()
    feed_all(checker, [new(AgentStart, "a"), new(AgentStart, "b")])
    checker.feed(new(AgentEnd, "a", reason="completed"))
    with pytest.raises(ProtocolViolation, match=r"agent_end: still active: b$"):
        checker.finish()


def test_an_illegal_event_leaves_the_checker_as_it_was() -> None:
    new = Script()
    checker = LifecycleChecker()
    checker.feed(new(AgentStart))
    with pytest.raises(ProtocolViolation):
        checker.feed(new(AgentStart))
    checker.feed(new(AgentEnd, reason="completed"))
    checker.finish()
