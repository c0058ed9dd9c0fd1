from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.scheduler.calls import CallStatus
from services.scheduler.scheduler import is_parallelizable
from services.tools.contract import ToolExecution, ToolResult


class Waves:
    """Tools that wait for each other: who is running together shows the waves."""

    def __init__(self, rig: Any, *names: str) -> None:
        self.together: list[set[str]] = []
        self.running: set[str] = set()
        for name in names:
            rig.tool(name, body=self.body)

    async def body(self, params: dict[str, Any], _execution: ToolExecution) -> ToolResult:
        self.running.add(params["id"])
        for _ in range(3):
            await asyncio.sleep(0)
        if self.running and (not self.together or self.together[-1] != self.running):
            self.together.append(set(self.running))
        for _ in range(3):
            await asyncio.sleep(0)
        self.running.discard(params["id"])
        return ToolResult(llm_content=params["id"])


async def waves_of(rig: Any, *calls: tuple[str, str] | tuple[str, str, bool]) -> list[str]:
    waves = Waves(rig, *{call[0] for call in calls})
    requests = []
    for name, call_id, *wait in calls:
        extra = {"wait_for_previous": wait[0]} if wait else {}
        requests.append(rig.request(name, call_id, id=call_id, **extra))
    finished = await rig.run(*requests)
    assert sorted(call.request.call_id for call in finished) == sorted(c[1] for c in calls)
    return ["".join(sorted(wave)) for wave in waves.together]


@pytest.mark.parametrize(
    ("calls", "waves"),
    [
        (
            [
                ("read_file", "A"),
                ("read_file", "B"),
                ("replace", "C"),
                ("read_file", "D"),
                ("run_shell_command", "E", True),
                ("read_file", "F"),
            ],
            ["AB", "C", "D", "E", "F"],
        ),
        ([("read_file", "A"), ("run_shell_command", "B"), ("run_shell_command", "C")], ["ABC"]),
        ([("write_file", "A"), ("write_file", "B")], ["A", "B"]),
        ([("write_file", "A", False), ("read_file", "B")], ["A", "B"]),
        ([("x", "A", True), ("x", "B"), ("x", "C", False), ("x", "D", True)], ["A", "BC", "D"]),
        ([("x", "A"), ("update_topic", "B"), ("x", "C"), ("update_topic", "D")], ["D", "B", "AC"]),
    ],
)
@pytest.mark.contract("P-034")
async def test_calls_run_in_waves(rig: Any, calls: list[Any], waves: list[str]) -> None:
    assert await waves_of(rig, *calls) == waves


@pytest.mark.parametrize(
    ("name", "args", "parallel"),
    [
        ("read_file", {}, True),
        ("read_file", {"wait_for_previous": True}, False),
        ("read_file", {"wait_for_previous": False}, True),
        ("read_file", {"wait_for_previous": "true"}, True),
        ("replace", {"wait_for_previous": False}, False),
        ("write_file", {}, False),
        ("update_topic", {}, False),
    ],
)
def test_calls_that_may_share_a_wave(
    rig: Any, name: str, args: dict[str, Any], parallel: bool
) -> None:
    assert is_parallelizable(rig.request(name, **args)) is parallel


async def test_results_come_in_the_order_of_finishing_the_waves(rig: Any) -> None:
    async def slow(_params: Any, _execution: Any) -> ToolResult:
        for _ in range(5):
            await asyncio.sleep(0)
        return ToolResult(llm_content="slow")

    rig.tool("slow", body=slow)
    rig.tool("fast")
    rig.tool("update_topic")

    calls = [rig.request(name) for name in ("slow", "fast", "update_topic")]
    finished = await rig.run(*calls)

    assert [call.request.name for call in finished] == ["update_topic", "slow", "fast"]


async def test_a_failed_build_shares_the_wave_and_stays_an_error(rig: Any) -> None:
    rig.tool("t")
    rig.tool("picky", refuses="params must have required property 'x'")

    finished = await rig.run(rig.request("t", "a"), rig.request("picky"), rig.request("t", "b"))

    assert [(call.request.call_id, call.status) for call in finished] == [
        ("a", CallStatus.SUCCESS),
        ("picky", CallStatus.ERROR),
        ("b", CallStatus.SUCCESS),
    ]
    assert rig.states("a") == "validating > scheduled > executing > success"
    assert rig.states("picky") == "error"


async def test_nothing_runs_before_every_question_of_the_wave_is_answered(rig: Any) -> None:
    free, asked = rig.tool("free"), rig.tool("asked")
    rig.rule("asked", "ask_user")
    task = asyncio.create_task(rig.run(rig.request("free"), rig.request("asked")))
    for _ in range(20):
        await asyncio.sleep(0)

    assert rig.states("free") == "validating > scheduled"
    assert rig.states("asked") == "validating > awaiting_approval"
    rig.answer("proceed_once")
    rig.bus.publish(rig.updates[-1])
    await task

    assert (len(free.ran), len(asked.ran)) == (1, 1)
    assert rig.states("asked") == "validating > awaiting_approval > scheduled > executing > success"
