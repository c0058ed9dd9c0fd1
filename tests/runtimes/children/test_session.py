"""A child as a session: what can be sent to it, and what it emits, on every engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from agent_protocol.agent import ActionSend, MessageSend, UpdateSend
from agent_protocol.codec import to_wire
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive
from agent_protocol.events import AgentEvent
from services.model.errors import ApiError, NetworkError
from services.model.generator import ModelRequest
from services.subagents.definition import AgentPrompt, RunLimits, TerminateMode
from services.tools.contract import ToolExecution, ToolResult
from services.wire import JsonObject, Part
from tests.runtimes.children.child_stage import (
    MINUTE_MS,
    Answer,
    Played,
    Scene,
    StandInTool,
    agent,
    call,
    complete,
    said,
    taking,
)

Play = Callable[..., Played]
THOUGHT = {"text": "**Weighing** it", "thought": True}


def kinds(seen: Played) -> list[str]:
    return [event["type"] for event in seen.events]


async def for_ever(scene: Scene, request: ModelRequest) -> Sequence[Part]:
    return await taking(scene, request, 100 * MINUTE_MS)


def test_activities_become_events_between_start_and_end(played: Play) -> None:
    seen = played([THOUGHT, call("look")], [complete("x")], definition=agent(tools=(LOOK,)))
    own = seen.child.agent_id
    bare = [{k: v for k, v in event.items() if k not in STREAM} for event in seen.events]
    assert bare == [
        {"type": "agent_start"},
        {
            "type": "message",
            "role": "agent",
            "content": [{"type": "thought", "thought": "Weighing"}],
        },
        {"type": "tool_request", "requestId": f"{own}#0-0", "name": "look", "args": {}},
        {
            "type": "tool_response",
            "requestId": f"{own}#0-0",
            "name": "look",
            "content": [{"type": "text", "text": "Ok."}],
        },
        {
            "type": "tool_request",
            "requestId": f"{own}#1-0",
            "name": "complete_task",
            "args": {"result": "x"},
        },
        {
            "type": "tool_response",
            "requestId": f"{own}#1-0",
            "name": "complete_task",
            "content": bare[5]["content"],
        },
        {"type": "agent_end", "reason": "completed"},
    ]


STREAM = {"id", "streamId", "timestamp"}


def test_event_ids_count_from_0_within_the_stream(played: Play) -> None:
    seen = played([complete()])
    stream = seen.events[0]["streamId"]
    assert [event["id"] for event in seen.events] == [
        f"{stream}-{number}" for number in range(len(seen.events))
    ]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (([said("x")], [said("x")]), "failed"),
        (([call("look")], [call("look")]), "max_turns"),
        ((for_ever, for_ever), "max_time"),
        ((ApiError(400, "no"),), "failed"),
    ],
)
def test_the_end_says_why(played: Play, answers: Sequence[Answer], reason: str) -> None:
    limited = agent(tools=(LOOK,), limits=RunLimits(max_turns=1))
    seen = played(*answers, definition=limited)
    assert seen.events[-1]["reason"] == reason
    assert kinds(seen).count("agent_end") == 1


@pytest.mark.sampled(2)
def test_a_run_that_fails_ends_with_the_error_from_which_it_can_be_rebuilt(played: Play) -> None:
    seen = played(ApiError(400, "no"))
    warning, fatal, end = seen.events[-3:]
    assert (warning["type"], warning["fatal"]) == ("error", False)
    assert (fatal["type"], fatal["fatal"], fatal["status"]) == ("error", True, "INTERNAL")
    assert fatal["_meta"]["errorName"] == "ApiError"
    assert fatal["_meta"]["status"] == 400
    assert end["type"] == "agent_end"
    assert isinstance(seen.error, ApiError)
    assert seen.errors == [f"ApiError: {seen.error}"]


def test_an_abort_ends_it_with_an_empty_result(played: Play) -> None:
    async def abort(scene: Scene) -> None:
        await scene.services.clock.sleep(1000)
        await scene.child.abort()

    seen = played(for_ever, meanwhile=abort)
    assert seen.ended.terminate_reason is TerminateMode.ABORTED
    assert seen.ended.result == ""
    assert seen.events[-1]["reason"] == "aborted"


def test_an_abort_in_the_last_turn_ends_it_as_aborted_with_what_the_run_came_to(
    played: Play,
) -> None:
    async def abort(scene: Scene) -> None:
        await scene.services.clock.sleep(1000)
        await scene.child.abort()

    one_turn = agent(tools=(LOOK,), limits=RunLimits(max_turns=1))
    seen = played([call("look")], for_ever, definition=one_turn, meanwhile=abort)
    assert seen.ended.terminate_reason is TerminateMode.MAX_TURNS
    assert seen.events[-1]["reason"] == "aborted"


def test_an_engine_that_is_closed_ends_its_children(played: Play) -> None:
    async def a_while(scene: Scene) -> None:
        await scene.services.clock.sleep(1000)

    seen = played(for_ever, meanwhile=a_while, leave=True)
    assert seen.events[-1]["type"] == "agent_end"
    assert seen.events[-1]["reason"] == "aborted"


def test_an_error_named_abort_error_ends_the_child_as_aborted(played: Play) -> None:
    seen = played(NetworkError("gone", name="AbortError"))
    assert seen.ended.terminate_reason is TerminateMode.ABORTED
    assert [event["type"] for event in seen.events] == ["agent_start", "error", "agent_end"]
    assert seen.events[-1]["reason"] == "aborted"
    assert seen.errors == ["AbortError: gone"]


def test_when_it_is_over_it_hears_no_hints(played: Play) -> None:
    heard: list[int] = []

    async def look(scene: Scene) -> None:
        await scene.child.result()
        heard.append(len(scene.services.steering._listeners))

    async def slow(scene: Scene, request: ModelRequest) -> Sequence[Part]:
        heard.append(len(scene.services.steering._listeners))
        return [complete()]

    played(slow, meanwhile=look)
    assert heard == [1, 0]


def test_the_activity_callback_runs_before_the_subscribers(played: Play) -> None:
    order: list[str] = []

    async def listen(scene: Scene) -> None:
        activities = scene.activities

        def event(event: AgentEvent) -> None:
            wire = to_wire(event)
            order.append(f"{wire['type']} after {len(activities)}")

        scene.child.subscribe(event)
        await scene.child.start({"query": "go"})

    played([complete()], begin=listen)
    assert order[-3:] == ["tool_request after 1", "tool_response after 2", "agent_end after 2"]


Sending = Callable[[Scene], Awaitable[None]]


def sent(played: Play, sending: Sending, *answers: Answer) -> Played:
    """Play a child that is not started but sent something."""
    return played(*answers, begin=sending, definition=agent(prompt=ASKED))


ASKED = AgentPrompt(system="x", query="${query} ${more}")


def message(text: str) -> MessageSend:
    return MessageSend(content=(TextPart(text=text),))


def test_inputs_are_kept_until_the_message_and_its_text_is_the_query(played: Play) -> None:
    async def sending(scene: Scene) -> None:
        assert await scene.child.send(UpdateSend(config={"more": "2"})) is None
        assert await scene.child.send(UpdateSend(config={"query": "old"})) is None
        assert await scene.child.send(ActionSend(type="nothing")) is None
        stream = await scene.child.send(message("new"))
        assert stream is not None
        assert list(scene.child.events) == []

    seen = sent(played, sending, [complete()])
    assert seen.message(0) == [{"text": "new 2"}]


def test_a_message_without_text_leaves_the_query_as_it_is(played: Play) -> None:
    async def sending(scene: Scene) -> None:
        await scene.child.send(UpdateSend(config={"more": "1", "query": "old"}))
        await scene.child.send(message(""))

    assert sent(played, sending, [complete()]).message(0) == [{"text": "old 1"}]


def test_a_second_message_is_refused_while_the_stream_is_active(played: Play) -> None:
    async def sending(scene: Scene) -> None:
        await scene.child.send(UpdateSend(config={"more": "1"}))
        await scene.child.send(message("one"))
        with pytest.raises(StreamActive, match="cannot be called while a stream is active"):
            await scene.child.send(message("two"))

    assert sent(played, sending, [complete()]).message(0) == [{"text": "one 1"}]


def test_a_message_after_the_end_starts_another_run_with_inputs_of_its_own(played: Play) -> None:
    async def sending(scene: Scene) -> None:
        await scene.child.send(UpdateSend(config={"more": "1"}))
        first = await scene.child.send(message("one"))
        assert (await scene.child.result()).result == "a"
        await scene.child.send(UpdateSend(config={"more": "2"}))
        assert await scene.child.send(message("two")) != first

    seen = sent(played, sending, [complete("a")], [complete("b")])
    assert [seen.message(0), seen.message(1)] == [[{"text": "one 1"}], [{"text": "two 2"}]]
    assert seen.ended.result == "b"
    assert kinds(seen).count("agent_end") == 2


def test_there_is_no_result_before_a_start(played: Play) -> None:
    async def sending(scene: Scene) -> None:
        with pytest.raises(RuntimeError, match="No active or completed stream"):
            await scene.child.result()
        await scene.child.start({"query": "go", "more": "1"})

    sent(played, sending, [complete()])


def test_a_tool_that_shows_something_structured_is_shown_as_javascript_would(played: Play) -> None:
    async def body(_: JsonObject, __: ToolExecution) -> ToolResult:
        return ToolResult(llm_content="ok", return_display={"files": 2})

    tool = StandInTool("look", body)
    seen = played([call("look")], [complete()], definition=agent(tools=(tool,)))
    [shown] = [event for event in seen.events if event.get("requestId", "").endswith("#0-0")][1:]
    assert shown["content"] == [{"type": "text", "text": "[object Object]"}]


LOOK = StandInTool("look")
