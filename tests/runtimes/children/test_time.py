"""How long an agent may take, and what does not count, on every engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.model.generator import ModelRequest
from services.scheduler.calls import CallStatus
from services.state import ApprovalMode
from services.subagents.activity import ActivityType
from services.subagents.definition import RunLimits, TerminateMode
from services.tools.contract import ConfirmationOutcome, ToolExecution, ToolResult
from services.wire import JsonObject, Part
from tests.runtimes.children.child_stage import (
    MINUTE_MS,
    Played,
    Scene,
    StandInTool,
    agent,
    call,
    complete,
    taking,
)

Play = Callable[..., Played]
SlowAnswer = Callable[[Scene, ModelRequest], Awaitable[Sequence[Part]]]
TWO_MINUTES = RunLimits(max_time_minutes=2)


def slow(ms: float, *parts: Part) -> SlowAnswer:
    async def answer(scene: Scene, request: ModelRequest) -> Sequence[Part]:
        return await taking(scene, request, ms, *parts)

    return answer


def test_an_agent_out_of_time_at_the_model_is_warned_and_may_complete(played: Play) -> None:
    seen = played(
        slow(3 * MINUTE_MS, complete("never")),
        [complete("in time")],
        definition=agent(limits=TWO_MINUTES),
    )
    assert seen.message(1)[0]["text"].startswith("You have exceeded the time limit.")
    assert seen.ended.result == "in time"
    assert seen.ended.duration_ms == 2 * MINUTE_MS


def test_an_answer_that_comes_when_the_time_is_up_does_not_count(played: Play) -> None:
    async def late(scene: Scene, request: ModelRequest) -> Sequence[Part]:
        await scene.services.clock.sleep(3 * MINUTE_MS)
        return [complete("late")]

    seen = played(late, [complete("in the grace")], definition=agent(limits=TWO_MINUTES))
    assert seen.ended.result == "in the grace"
    assert seen.thoughts[0].startswith("Execution limit reached (TIMEOUT).")


def test_an_agent_out_of_time_twice_says_for_how_long_it_worked(played: Play) -> None:
    seen = played(
        slow(3 * MINUTE_MS, complete()),
        slow(2 * MINUTE_MS, complete()),
        definition=agent(limits=RunLimits(max_time_minutes=0.5)),
    )
    assert seen.ended.terminate_reason is TerminateMode.TIMEOUT
    assert seen.ended.result == "Agent timed out after 0.5 minutes."
    assert seen.ended.duration_ms == 1.5 * MINUTE_MS
    assert seen.of(ActivityType.ERROR)[-1]["context"] == "timeout"


def test_without_a_limit_an_agent_has_ten_minutes(played: Play) -> None:
    seen = played(slow(11 * MINUTE_MS, complete()), [complete()])
    assert seen.ended.duration_ms == 10 * MINUTE_MS


def test_an_agent_out_of_time_in_a_tool_is_aborted_and_not_recovered(played: Play) -> None:
    async def waiting(_: JsonObject, execution: ToolExecution) -> ToolResult:
        await execution.signal.wait()
        return ToolResult(llm_content="too late")

    tool = StandInTool("wait", waiting)
    seen = played([call("wait")], definition=agent(tools=(tool,), limits=TWO_MINUTES))
    assert seen.ended.terminate_reason is TerminateMode.ABORTED
    assert seen.ended.result == "Agent execution was terminated before completion."
    assert seen.errors == ["Request cancelled."]
    assert seen.of(ActivityType.ERROR)[0]["errorType"] == "CANCELLED"


def test_time_between_turns_counts(played: Play) -> None:
    async def long(scene: Scene, _: JsonObject, execution: ToolExecution) -> ToolResult:
        await scene.services.clock.sleep(1.5 * MINUTE_MS)
        return ToolResult(llm_content="ok")

    tool = StandInTool("work")

    async def enter(scene: Scene) -> None:
        tool.body = partial(long, scene)

    seen = played(
        [call("work")],
        slow(MINUTE_MS, complete("never")),
        [complete("in time")],
        definition=agent(tools=(tool,), limits=TWO_MINUTES),
        meanwhile=enter,
    )
    assert seen.ended.result == "in time"
    assert seen.ended.duration_ms == 2 * MINUTE_MS


def confirming(
    delays_ms: Sequence[float], outcomes: Sequence[ConfirmationOutcome]
) -> Callable[[Scene], Awaitable[None]]:
    """Answers the questions in order of their being asked, each some time after that."""

    async def answering(scene: Scene) -> None:
        asked: list[str] = []
        services = scene.services

        def hear(update: ToolCallsUpdate) -> None:
            for each in update.calls:
                question = each.correlation_id
                waits = each.status == CallStatus.AWAITING_APPROVAL
                if waits and question is not None and question not in asked:
                    asked.append(question)

        services.bus.subscribe(ToolCallsUpdate, hear)
        for number, (delay_ms, outcome) in enumerate(zip(delays_ms, outcomes, strict=True)):
            while len(asked) <= number:
                await services.clock.sleep(1)
            await services.clock.sleep(delay_ms)
            services.bus.publish(
                ToolConfirmationResponse(
                    correlation_id=asked[number],
                    confirmed=outcome is not ConfirmationOutcome.CANCEL,
                    outcome=outcome,
                )
            )

    return answering


ONCE = ConfirmationOutcome.PROCEED_ONCE


def test_waiting_for_a_person_does_not_count(played: Play) -> None:
    tool = StandInTool("risk")
    seen = played(
        [call("risk")],
        [complete("patient")],
        definition=agent(tools=(tool,), limits=TWO_MINUTES),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([60 * MINUTE_MS], [ONCE]),
    )
    assert seen.ended.result == "patient"
    assert len(tool.ran) == 1


def test_the_remaining_time_is_the_same_before_and_after_a_question(played: Play) -> None:
    tool = StandInTool("risk")
    seen = played(
        slow(MINUTE_MS, call("risk")),
        slow(1.5 * MINUTE_MS, complete("never")),
        [complete("in time")],
        definition=agent(tools=(tool,), limits=TWO_MINUTES),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([30 * MINUTE_MS], [ONCE]),
    )
    assert seen.thoughts[0].startswith("Execution limit reached (TIMEOUT).")
    assert seen.ended.result == "in time"


def test_the_answer_to_the_first_of_two_questions_lets_time_go_on(played: Play) -> None:
    one, other = StandInTool("one"), StandInTool("other")
    seen = played(
        [call("one"), call("other")],
        definition=agent(tools=(one, other), limits=TWO_MINUTES),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([30 * MINUTE_MS, 3 * MINUTE_MS], [ONCE, ONCE]),
    )
    assert seen.ended.terminate_reason is TerminateMode.ABORTED
    assert one.ran == other.ran == []


def test_the_grace_goes_by_while_a_person_is_waited_for(played: Play) -> None:
    tool = StandInTool("risk")
    seen = played(
        slow(3 * MINUTE_MS, complete("never")),
        [call("risk")],
        definition=agent(tools=(tool,), limits=TWO_MINUTES),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([2 * MINUTE_MS], [ONCE]),
    )
    assert seen.ended.terminate_reason is TerminateMode.TIMEOUT
    assert tool.ran == []
