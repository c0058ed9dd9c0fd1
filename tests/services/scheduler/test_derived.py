"""The scheduler of an agent's calls, made from the session's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.ids import CountingIds
from services.mcp.progress import McpProgress
from services.message_bus import ToolConfirmationRequest
from services.scheduler.states import ToolCall
from services.tools.contract import ToolExecution, ToolResult
from services.wire import JsonObject

if TYPE_CHECKING:
    from tests.services.scheduler.conftest import Rig


async def schedule(rig: Rig, waiting: list[bool], *names: str) -> list[str]:
    with rig.scheduler.derived(
        registry=rig.tools,
        bus=rig.bus.derive("helper"),
        ids=CountingIds(),
        scheduler_id="agent#0",
        subagent="helper",
        waiting=waiting.append,
    ) as scheduler:
        requests = [rig.request(name) for name in names]
        done = await scheduler.schedule(requests, rig.controller.signal)
    return [str(call.status) for call in done]


def test_rules_about_the_agent_hold_for_its_calls_and_no_others(rig: Rig) -> None:
    rig.tool("look")
    rig.rule("look", "deny", subagent="helper")

    async def both() -> tuple[list[str], list[str]]:
        mine = await schedule(rig, [], "look")
        return mine, [str(call.status) for call in await rig.run(rig.request("look"))]

    assert asyncio.run(both()) == (["error"], ["success"])


def test_waiting_for_the_user_is_reported(rig: Rig) -> None:
    rig.tool("look")
    rig.rule("look", "ask_user")
    rig.answer("proceed_once")
    waiting: list[bool] = []
    assert asyncio.run(schedule(rig, waiting, "look")) == ["success"]
    assert waiting == [True, False]


def test_without_a_question_no_waiting_is_reported(rig: Rig) -> None:
    rig.tool("look")
    waiting: list[bool] = []
    asyncio.run(schedule(rig, waiting, "look"))
    assert waiting == []


def test_updates_have_the_schedulers_id(rig: Rig) -> None:
    rig.tool("look")
    asyncio.run(schedule(rig, [], "look"))
    assert {update.scheduler_id for update in rig.updates} == {"agent#0"}


def test_a_batch_of_an_agent_does_not_wait_for_its_parents(rig: Rig) -> None:
    rig.tool("look")

    async def call_agent(_: JsonObject, __: ToolExecution) -> ToolResult:
        [status] = await schedule(rig, [], "look")
        return ToolResult(llm_content=status)

    rig.tool("agent", body=call_agent)
    [done] = asyncio.run(rig.run(rig.request("agent")))
    assert done.response.response_parts[0]["functionResponse"]["response"]["output"] == "success"


def test_a_notice_of_progress_reaches_a_subagents_call(rig: Rig) -> None:
    async def work(_: JsonObject, execution: ToolExecution) -> ToolResult:
        rig.scheduler.note_progress(
            McpProgress(server_name="s", call_id=execution.call_id, progress=1, total=4)
        )
        return ToolResult(llm_content="ok")

    rig.tool("look", body=work)
    asyncio.run(schedule(rig, [], "look"))
    shown = [
        call.progress.percent
        for update in rig.updates
        for call in update.calls
        if isinstance(call, ToolCall) and call.progress is not None
    ]
    assert shown[0] == 25


def test_a_derived_scheduler_unsubscribes_at_its_end(rig: Rig) -> None:
    rig.tool("look")
    listening = len(rig.bus._handlers[ToolConfirmationRequest])
    asyncio.run(schedule(rig, [], "look"))
    assert len(rig.bus._handlers[ToolConfirmationRequest]) == listening
    assert rig.scheduler._derived == []
