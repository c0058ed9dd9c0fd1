"""What runs side by side may complete in any order: both engines agree under each, and with
themselves; and an engine that doesn't is found out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.find import find_cassettes
from harness.cassette.load import load_cassette
from harness.experiment.backend import real_backend
from harness.orders.barrier import Barrier
from harness.orders.case import OrdersTask, explore
from harness.orders.model import OrdersResult
from harness.parity.verdict import CaseVerdict
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from parity_tests.corpus import CORPUS, WAIVERS, cassette, judge

MOST = 6
"""All orders of three that complete at once. `parity orders` tries more."""


def explored(name: str, most: int = MOST) -> OrdersResult:
    """The orders of one cassette of the corpus."""
    task = OrdersTask(
        backend=real_backend(),
        name=name,
        file=CORPUS / f"{name}.yaml",
        root=CORPUS,
        control="legacy",
        candidate="adk",
        most=most,
        waivers=WAIVERS,
        trusted=True,
    )
    result = explore(task)
    assert isinstance(result, OrdersResult)
    return result


def runs_side_by_side(file: Path) -> bool:
    """Whether anything was ready at once while it ran."""
    barrier = Barrier()
    run_cassette(load_cassette(file, CORPUS), "legacy", between=barrier)
    return any(choice.free for choice in barrier.schedule.choices)


PHASE_B = find_cassettes([CORPUS], None, "B")
FAMILIES = sorted({file.name.partition("/")[0] for file in PHASE_B})


@pytest.mark.timeout(600)
@pytest.mark.contract("P-185")
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled(8)
def test_phase_b_is_clean_in_every_completion_order(family: str, every: int) -> None:
    files = [file for file in PHASE_B if file.name.startswith(f"{family}/")][::every]
    assert files

    results = [explored(file.name) for file in files if runs_side_by_side(file.path)]

    assert [result.cassette for result in results if result.verdict is not CaseVerdict.PARITY] == []


def test_there_is_something_to_bring_into_order() -> None:
    assert runs_side_by_side(CORPUS / "subagent_threads" / "two.yaml")
    assert runs_side_by_side(CORPUS / "tools" / "parallel_reads.yaml")


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    "name",
    [
        "abort/after_call_chunk",
        "errors/midstream_500_exhausted",
        "tools/shell_echo",
        "tools/many_rounds",
        "subagent/reads_and_completes",
        "subagent_limits/time_at_model",
    ],
)
def test_holding_back_leaves_no_trace_where_there_is_one_order(name: str, runtime: str) -> None:
    one = cassette(name)

    held = run_cassette(one, runtime, between=Barrier())

    assert trace_json(held) == trace_json(run_cassette(one, runtime))


def test_parallel_tools_are_clean_in_every_completion_order() -> None:
    for name in ("parallel_reads", "parallel_mixed", "search_parallel", "topic_with_others"):
        result = explored(f"tools/{name}", 24)
        assert result.verdict is CaseVerdict.PARITY
        assert result.answers.exhaustive


@pytest.mark.slow
def test_an_order_dependence_is_reported_with_the_shared_object() -> None:
    result = explored("subagent_threads/same_file")

    assert {found.runtime for found in result.dependent} == {"legacy", "adk"}
    assert {found.difference.shared for found in result.dependent} == {("the file f.txt",)}


def broken(name: str) -> OrdersResult:
    """A cassette that runs as it should in the order that it has by itself, and not in another."""
    assert judge(cassette(name)).verdict is CaseVerdict.PARITY
    result = explored(name)
    assert result.verdict is CaseVerdict.DIVERGENT
    assert result.runs[0].verdict is CaseVerdict.PARITY
    return result


def in_each_session_anew(monkeypatch: pytest.MonkeyPatch, *lists: list[Any]) -> None:
    """Empty `lists` whenever a session is opened, so that nothing is wrong between runs."""
    from services.subagents.agent_tool import AgentTool

    made = AgentTool.__init__

    def emptied(self: Any, *args: Any, **more: Any) -> None:
        for each in lists:
            each.clear()
        made(self, *args, **more)

    monkeypatch.setattr(AgentTool, "__init__", emptied)


def test_a_result_that_goes_to_another_call_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results come through one queue, so the first waiter gets the first result."""
    from runtimes.legacy.subagent import LegacyChildAgent

    own = LegacyChildAgent.result
    done: list[Any] = []
    turns: list[asyncio.Event] = []

    async def of_anybody(self: Any) -> Any:
        mine = asyncio.Event()
        turns.append(mine)
        waiting = asyncio.get_running_loop().create_task(own(self))

        def take(task: asyncio.Task[Any]) -> None:
            if not task.cancelled():
                done.append(task)
                turns[len(done) - 1].set()

        waiting.add_done_callback(take)
        await mine.wait()
        return done[turns.index(mine)].result()

    in_each_session_anew(monkeypatch, done, turns)
    monkeypatch.setattr(LegacyChildAgent, "result", of_anybody)

    result = broken("subagent_threads/two")

    worst = result.worst
    assert worst is not None
    assert worst.result.open[0].channel == "requests"


def test_a_list_that_children_share_is_found_though_both_engines_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from services.subagents.child_run import LocalInvocation

    alone = LocalInvocation.execute
    done: list[str] = []

    async def counting(self: Any, execution: Any) -> Any:
        result = await alone(self, execution)
        done.append(execution.call_id)
        return replace(result, llm_content=[{"text": f"the {len(done)}. that is done"}])

    in_each_session_anew(monkeypatch, done)
    monkeypatch.setattr(LocalInvocation, "execute", counting)

    result = broken("subagent_threads/two")

    assert {run.verdict for run in result.runs} == {CaseVerdict.PARITY}
    assert {found.runtime for found in result.leaks} == {"legacy", "adk"}
    assert "the 2. that is done" in str(result.leaks[0].difference.first)


@pytest.mark.parametrize("name", ["tools/parallel_reads", "subagent_threads/two"])
@pytest.mark.sampled(2)
def test_ids_that_go_by_completion_are_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from runtimes.legacy import agent
    from services.scheduler.scheduler import ToolScheduler

    answer, execute = agent._Stream._answer, ToolScheduler._execute
    ended: list[str] = []

    async def executed(self: ToolScheduler, call: Any, signal: Any) -> None:
        await execute(self, call, signal)
        ended.append(call.call_id)

    def by_completion(self: Any, completed: Sequence[Any]) -> list[dict[str, Any]]:
        parts = answer(self, completed)
        ids = [each for each in ended if each in {call.request.call_id for call in completed}]
        return [
            {**part, "functionResponse": {**part["functionResponse"], "id": id_}}
            for part, id_ in zip(parts, ids, strict=True)
        ]

    in_each_session_anew(monkeypatch, ended)
    monkeypatch.setattr(ToolScheduler, "_execute", executed)
    monkeypatch.setattr(agent._Stream, "_answer", by_completion)

    result = broken(name)

    worst = result.worst
    assert worst is not None
    assert worst.result.open[0].channel == "requests"
