from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.abort import AbortController
from services.message_bus import (
    ToolCallsUpdate,
    ToolConfirmationRequest,
    ToolConfirmationResponse,
)
from services.scheduler.calls import CallStatus
from services.scheduler.scheduler import ScheduleRejected
from services.tools.contract import ToolExecution, ToolResult


class Gate:
    """A tool body that waits to be let through."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.open = asyncio.Event()
        self.ended: list[str] = []

    async def __call__(self, _params: object, _execution: ToolExecution) -> ToolResult:
        self.started.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("done")
        return ToolResult(llm_content="through")


async def settle() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def reasons(calls: Any) -> dict[str, Any]:
    return {
        call.request.call_id: call.response.response_parts[0]["functionResponse"]["response"]
        for call in calls
    }


def because(reason: str) -> dict[str, str]:
    return {"error": f"[Operation Cancelled] Reason: {reason}"}


async def test_batches_run_one_after_the_other_in_order(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    tool = rig.tool("t")
    first = asyncio.create_task(rig.run(rig.request("slow")))
    await gate.started.wait()
    later = [asyncio.create_task(rig.run(rig.request("t", str(n), n=n))) for n in (1, 2, 3)]
    await settle()
    assert tool.ran == []

    gate.open.set()

    assert [call.request.call_id for call in await first] == ["slow"]
    assert [(await task)[0].request.call_id for task in later] == ["1", "2", "3"]
    assert [params["n"] for params in tool.ran] == [1, 2, 3]


async def test_a_new_batch_runs_after_the_waiting_ones(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    tool = rig.tool("t")
    first = asyncio.create_task(rig.run(rig.request("slow")))
    await gate.started.wait()
    second = asyncio.create_task(rig.run(rig.request("t", n=2)))
    await settle()
    gate.open.set()
    await first

    await rig.run(rig.request("t", n=3))
    await second

    assert [params["n"] for params in tool.ran] == [2, 3]


async def test_an_aborted_batch_is_not_queued(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    first = asyncio.create_task(rig.run(rig.request("slow")))
    await gate.started.wait()
    other = AbortController()
    other.abort()

    with pytest.raises(ScheduleRejected, match=r"^Operation cancelled$"):
        await rig.scheduler.schedule([rig.request("slow")], other.signal)
    gate.open.set()
    await first


async def test_an_abort_takes_a_batch_out_of_the_queue(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    tool = rig.tool("t")
    first = asyncio.create_task(rig.run(rig.request("slow")))
    await gate.started.wait()
    other = AbortController()
    queued = asyncio.create_task(rig.scheduler.schedule([rig.request("t")], other.signal))
    await settle()

    other.abort()

    with pytest.raises(ScheduleRejected, match=r"^Tool call cancelled while in queue\.$"):
        await queued
    gate.open.set()
    assert (await first)[0].status is CallStatus.SUCCESS
    assert tool.ran == []


async def test_cancel_all_rejects_the_queue_and_ends_every_call(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    rig.tool("write_file")
    requests = [rig.request("slow"), rig.request("write_file")]
    first = asyncio.create_task(rig.run(*requests))
    await gate.started.wait()
    queued = asyncio.create_task(rig.run(rig.request("slow", "q")))
    await settle()

    rig.scheduler.cancel_all()
    rig.scheduler.cancel_all()

    with pytest.raises(ScheduleRejected, match="Operation cancelled by user"):
        await queued
    assert not rig.controller.signal.aborted
    assert not first.done()
    gate.open.set()
    assert reasons(await first) == {
        "slow": because("Operation cancelled by user"),
        "write_file": because("Operation cancelled by user"),
    }
    assert gate.ended == ["done"]
    assert rig.states("slow") == "validating > scheduled > executing > cancelled"
    assert rig.states("write_file") == "validating > cancelled"


async def test_cancel_all_ends_open_questions(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "ask_user")
    task = asyncio.create_task(rig.run(rig.request("t")))
    await settle()
    assert rig.states("t") == "validating > awaiting_approval"

    rig.scheduler.cancel_all()

    assert reasons(await task) == {"t": because("Operation cancelled by user")}


async def test_a_new_batch_runs_after_cancel_all(rig: Any) -> None:
    rig.tool("t")
    rig.scheduler.cancel_all()

    [call] = await rig.run(rig.request("t"))

    assert call.status is CallStatus.SUCCESS


@pytest.mark.contract("P-178")
async def test_an_abort_before_the_batch_cancels_all_of_it(rig: Any) -> None:
    tool = rig.tool("t")
    rig.controller.abort()

    calls = await rig.run(rig.request("t"), rig.request("unknown"))

    assert reasons(calls)["t"] == because("Operation cancelled")
    assert [call.status for call in calls] == [CallStatus.CANCELLED, CallStatus.ERROR]
    assert tool.ran == []
    assert rig.states("t") == "validating > cancelled"


async def test_an_abort_while_a_question_is_open_cancels_question_and_queue(rig: Any) -> None:
    rig.tool("t")
    rig.tool("beside")
    rig.tool("write_file")
    rig.rule("t", "ask_user")
    names = ("t", "beside", "write_file")
    task = asyncio.create_task(rig.run(*[rig.request(name) for name in names]))
    await settle()

    rig.controller.abort()

    assert reasons(await task) == {name: because("Operation cancelled") for name in names}
    assert rig.states("t") == "validating > awaiting_approval > cancelled"
    assert rig.states("beside") == "validating > scheduled > cancelled"
    assert rig.states("write_file") == "validating > cancelled"


async def test_an_abort_during_execution_cancels_the_call_and_the_queue(rig: Any) -> None:
    async def body(_params: object, execution: ToolExecution) -> ToolResult:
        await execution.signal.wait()
        return ToolResult(llm_content="half")

    rig.tool("t", body=body)
    rig.tool("write_file")
    task = asyncio.create_task(rig.run(rig.request("t"), rig.request("write_file")))
    await settle()

    rig.controller.abort()

    assert reasons(await task) == {
        "t": {"output": "half", "error": "[Operation Cancelled] User cancelled tool execution."},
        "write_file": because("Operation cancelled"),
    }


@pytest.mark.parametrize("asks", [False, True])
async def test_a_cancelled_task_leaves_an_empty_store(rig: Any, asks: bool) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    rig.tool("t")
    if asks:
        rig.rule("slow", "ask_user")
    before = asyncio.all_tasks()
    task = asyncio.create_task(rig.run(rig.request("slow"), rig.request("t", "b")))
    await settle()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert asyncio.all_tasks() == before
    assert gate.ended == ([] if asks else ["cancelled"])
    assert rig.history["slow"][-1] == "cancelled"
    assert rig.updates[-1].calls == ()
    [call] = await rig.run(rig.request("t"))
    assert call.status is CallStatus.SUCCESS


async def test_a_cancelled_waiting_batch_lets_the_next_one_run(rig: Any) -> None:
    gate = Gate()
    rig.tool("slow", body=gate)
    tool = rig.tool("t")
    first = asyncio.create_task(rig.run(rig.request("slow")))
    await gate.started.wait()
    gone = asyncio.create_task(rig.run(rig.request("t", n=1)))
    handed = asyncio.create_task(rig.run(rig.request("t", n=2)))
    last = asyncio.create_task(rig.run(rig.request("t", n=3)))
    await settle()

    def cancel_once_handed(update: ToolCallsUpdate) -> None:
        # Runs after the turn has been handed over, before its new owner wakes.
        if not update.calls:
            asyncio.get_running_loop().call_soon(handed.cancel)

    rig.bus.subscribe(ToolCallsUpdate, cancel_once_handed)
    gone.cancel()
    await settle()
    gate.open.set()
    await first
    await last

    assert gone.cancelled()
    assert handed.cancelled()
    assert [params["n"] for params in tool.ran] == [3]


async def test_dispose_leaves_the_bus(rig: Any) -> None:
    answers: list[Any] = []
    rig.rule("t", "ask_user")
    asked: list[Any] = []
    rig.bus.subscribe(ToolConfirmationResponse, answers.append)
    rig.bus.subscribe(ToolConfirmationRequest, asked.append)
    question = ToolConfirmationRequest(tool_name="t", args={}, correlation_id="c")

    await rig.bus.ask(question)
    rig.scheduler.dispose()
    await rig.bus.ask(question)

    assert asked == [question, question]
    assert [answer.requires_user_confirmation for answer in answers] == [True]


async def test_the_last_update_of_a_batch_is_empty(rig: Any) -> None:
    rig.tool("t")

    await rig.run(rig.request("t"), rig.request("unknown"))

    assert len(rig.updates[-2].calls) == 2
    assert rig.updates[-1].calls == ()
