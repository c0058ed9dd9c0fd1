"""Runs one cassette under one order after the other: a worker's unit of work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.cassette.format import Cassette
from harness.errors import LoadProblem
from harness.experiment.announcing import case_begins
from harness.experiment.backend import LoadedCassette
from harness.experiment.case import CassetteTask, guarded
from harness.experiment.shareable import compared_without_secrets
from harness.http.case import HttpCase
from harness.orders.across import Seen, differing
from harness.orders.barrier import Barrier
from harness.orders.exploring import Explorer
from harness.orders.model import Explored, Finding, OrderRun, OrdersResult
from harness.orders.order import Choice, Order, left_at
from harness.orders.places import Place
from harness.parity.compare import compare_repeated
from harness.parity.waivers import Waivers, settle
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.sides import base_names

__all__ = ["OrdersTask", "RunUnder", "explore", "run_under"]

logger = logging.getLogger(__name__)

RunUnder = Callable[[LoadedCassette, str, Barrier], Observation]
"""Runs a cassette in the runtime of that name, with a barrier."""

_OWN_TOOLS = "upstream"
"""The runtime whose tool calls no barrier can hold."""


def run_under(cassette: LoadedCassette, runtime: str, barrier: Barrier) -> Observation:
    """Run a cassette with `barrier` between the run and its model and tools."""
    if isinstance(cassette, HttpCase):
        return run_cassette(cassette.cassette, runtime, model=cassette.model, between=barrier)
    assert isinstance(cassette, Cassette)
    return run_cassette(cassette, runtime, between=barrier)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersTask(CassetteTask):
    """One cassette whose completion orders a worker tries."""

    control: str
    candidate: str
    most: int
    """The most orders to try."""
    waivers: Waivers
    only: tuple[Place, ...] = ()
    """If given, the only order to try."""
    run: RunUnder = run_under


def explore(task: OrdersTask) -> OrdersResult | LoadProblem:
    """Try the orders of one cassette; errors of the case become its result."""
    return guarded(
        task,
        lambda cassette: _Exploration(task, cassette).result(),
        partial(OrdersResult.undecided, task.name),
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """The name and the unused steps of a cassette, under an order that it was not written for.

    Any steps may be unused, as long as both sides agree.
    """

    name: str
    unused: frozenset[int]


class _Exploration:
    """The orders of one cassette, and what both engines did under each."""

    def __init__(self, task: OrdersTask, cassette: LoadedCassette) -> None:
        self._task = task
        self._cassette = cassette
        sides = base_names(task.control) | base_names(task.candidate)
        self._tools = _OWN_TOOLS not in sides
        self._runs: list[OrderRun] = []
        self._seen: tuple[list[Seen], list[Seen]] = ([], [])

    def result(self) -> OrdersResult:
        """Try the orders of answers and calls, and of chunks, too, if the others are few."""
        task = self._task
        if task.only:
            fine = any(place.kind == "chunk" for place in task.only)
            alone = Explorer(1, chunks=fine, begin=task.only)
            alone.orders(self._try)
            return self._summed(Explored(1, alone.exhaustive))
        whole = Explorer(task.most)
        whole.orders(self._try)
        answers = Explored(whole.tried, whole.exhaustive)
        chunks = None
        if whole.exhaustive and whole.tried < task.most and self._parts_of_streams():
            finer = Explorer(task.most - whole.tried, chunks=True)
            finer.orders(self._try)
            chunks = Explored(finer.tried, finer.exhaustive)
        return self._summed(answers, chunks)

    def _summed(self, answers: Explored, chunks: Explored | None = None) -> OrdersResult:
        task = self._task
        names = (task.control, task.candidate)
        found = [
            Finding(runtime=name, difference=difference)
            for name, seen in zip(names, self._seen, strict=True)
            for difference in differing(seen)
        ]
        return OrdersResult(
            cassette=task.name,
            runs=tuple(self._runs),
            findings=tuple(found),
            answers=answers,
            chunks=chunks,
        )

    def _parts_of_streams(self) -> bool:
        """Whether the order of chunks can matter: several orders, and streams of several chunks."""
        if len(self._runs) < 2 or not isinstance(self._cassette, Cassette):
            return False
        return any(len(step.chunks) > 1 for step in self._cassette.steps)

    def _try(self, order: Order, preemptions: int) -> Sequence[Choice] | None:
        """Run both engines in one order; returns the choices of the control."""
        case_begins()
        control = self._run(self._task.control, order, 0)
        went = control.schedule.went
        candidate = self._run(self._task.candidate, replace(order, places=went), 1)
        controls, candidates = (seen[-1].observation for seen in self._seen)
        facts = _Facts(self._cassette.name, frozenset(controls.unused_steps))
        judged = compared_without_secrets(
            lambda these, those: compare_repeated(these, those, facts),
            [controls],
            [candidates],
        )
        # Without timelines: there are many runs, and reports do not show them.
        result = replace(settle([judged], self._task.waivers)[0][0], timelines="")
        left = control.schedule.missed
        self._runs.append(
            OrderRun(
                number=len(self._runs),
                places=tuple(map(str, went)),
                preemptions=preemptions,
                chunks=order.chunks,
                result=result,
                left=left,
                missed=left_at(went, candidate.schedule.went)
                or left_at(candidate.schedule.went, went),
            )
        )
        return control.schedule.choices if left is None else None

    def _run(self, runtime: str, order: Order, side: int) -> Barrier:
        barrier = Barrier(order, tools=self._tools)
        observation = self._task.run(self._cassette, runtime, barrier)
        seen = Seen(number=len(self._runs), observation=observation, trace=barrier.trace)
        self._seen[side].append(seen)
        return barrier
