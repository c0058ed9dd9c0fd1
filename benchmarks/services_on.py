"""CPU per turn with all services on: masking, loop detection, recording, policy, a hook or none."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final

from benchmarks.busy import BusyConversation, Equipment, core_plan, open_busy
from benchmarks.detectors import detector_costs
from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.published_core import CORE, Core
from benchmarks.sampling import gc_paused
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, find_node, package_folder
from services.clock import virtual_loop

__all__ = ["measure"]

RUNTIMES: Final = ("legacy", "adk")
TURNS: Final = (10, 100, 1000)
EARLY: Final = (10, 100)
CORE_TURNS: Final = (10, 100, 300)
"""At turn 1000 a turn of the core is far too long to wait for forty of them."""
WINDOW: Final = 40
"""Turns that are measured from each of `TURNS` on: masking happens at every fourth or so."""
BLOCK: Final = 8
"""Turns of one conversation in a row, before the others have theirs."""
DEADLINE_S: Final = 900
FLAT: Final = Target(1.3)
CHEAPER: Final = Target(1, "below")

Costs = Mapping[str, Sequence[float]]
"""`name@turn` to seconds of CPU of each turn of the window."""


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Everything on, what a hook adds, what loop detection adds, and the services alone."""
    turns = EARLY if quick else TURNS
    figures: list[Figure] = []
    remarks = [f"{WINDOW} turns from each turn on; a quiet turn is the median, masking not in it."]
    progress(f"services: everything on, {turns[-1]} turns")
    everything = {name: (name, Equipment()) for name in RUNTIMES}
    costs = dict(_conversations(everything, turns))
    figures += _growth(RUNTIMES, turns, costs)
    try:
        core = Core(find_node(), package_folder(DEFAULT_VERSION))
    except UpstreamUnavailable as missing:
        remarks.append(f"Without the {CORE}: {missing}.")
    else:
        core_turns = EARLY if quick else CORE_TURNS
        progress(f"services: the {CORE}, {core_turns[-1]} turns")
        found = core.run(core_plan(core_turns, WINDOW), deadline_s=DEADLINE_S)
        costs |= {f"{CORE}@{turn}": seconds for turn, seconds in found.items()}
        figures += _growth([CORE], core_turns, costs)
        figures += _against_core([turn for turn in core_turns if turn in turns], costs)
    progress("services: a hook, and no loop detection")
    figures += _equipped()
    progress("services: masking and loop detection alone")
    figures += detector_costs(TURNS)
    return Section("services", figures, remarks)


def _conversations(asked: Mapping[str, tuple[str, Equipment]], turns: Sequence[int]) -> Costs:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(_windows(asked, turns))


async def _windows(asked: Mapping[str, tuple[str, Equipment]], turns: Sequence[int]) -> Costs:
    """Each window block by block, the conversations taking turns."""
    taken: dict[str, list[float]] = {}
    async with AsyncExitStack() as stack:
        subjects = {
            name: await stack.enter_async_context(open_busy(runtime, equipment))
            for name, (runtime, equipment) in asked.items()
        }
        done = 0
        for turn in turns:
            for subject in subjects.values():
                await subject.turns(turn - done)
            done = turn + WINDOW
            with gc_paused():
                for _ in range(WINDOW // BLOCK):
                    for name, subject in subjects.items():
                        taken.setdefault(f"{name}@{turn}", []).extend(await _block(subject))
        for name, subject in subjects.items():
            if asked[name][1].outputs and not subject.masked():
                raise MeasurementError(f"{name}: nothing was masked")
    return taken


async def _block(subject: BusyConversation) -> list[float]:
    found = []
    for _ in range(BLOCK):
        begun = time.process_time()
        await subject.turn()
        found.append(time.process_time() - begun)
    return found


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)


def _growth(names: Sequence[str], turns: Sequence[int], costs: Costs) -> list[Figure]:
    figures = []
    first, last = turns[0], turns[-1]
    for name in names:
        for turn in turns:
            each = costs[f"{name}@{turn}"]
            figures += [
                Figure(
                    name=f"{name}: turn {turn}, masking included",
                    value=_mean(each) * 1e3,
                    unit="ms",
                ),
                Figure(
                    name=f"{name}: quiet turn {turn}",
                    value=statistics.median(each) * 1e3,
                    unit="ms",
                ),
            ]
        for what, value in (("quiet turn", statistics.median), ("masking included", _mean)):
            figures.append(
                Figure(
                    name=f"{name}, {what}: turn {last} / turn {first}",
                    value=value(costs[f"{name}@{last}"]) / value(costs[f"{name}@{first}"]),
                    target=None if name == CORE else FLAT,
                )
            )
    return figures


def _against_core(turns: Sequence[int], costs: Costs) -> list[Figure]:
    return [
        Figure(
            name=f"{name} / {CORE}, masking included, turn {turn}",
            value=_mean(costs[f"{name}@{turn}"]) / _mean(costs[f"{CORE}@{turn}"]),
            target=CHEAPER if (name, turn) == ("legacy", 10) else None,
        )
        for name in RUNTIMES
        for turn in turns
    ]


def _equipped() -> list[Figure]:
    """Small turns, so that what is added shows: one large output would hide it."""
    kinds = {
        "plain": Equipment(outputs=False, loop_detection=False),
        "loop detection": Equipment(outputs=False),
        "large output": Equipment(),
        "large output and a hook": Equipment(hooks=1),
    }
    asked = {f"{name}, {kind}": (name, kinds[kind]) for name in RUNTIMES for kind in kinds}
    costs = _conversations(asked, EARLY)
    first, last = EARLY
    cost = {name: statistics.median(each) for name, each in costs.items()}
    figures = []
    for name in RUNTIMES:
        figures += [
            Figure(
                name=f"{name}: with loop detection / without, turn {last}",
                value=cost[f"{name}, loop detection@{last}"] / cost[f"{name}, plain@{last}"],
            ),
            Figure(
                name=f"{name}: a hook's CPU here, turn {last}",
                value=1e3
                * (
                    cost[f"{name}, large output and a hook@{last}"]
                    - cost[f"{name}, large output@{last}"]
                ),
                unit="ms",
            ),
        ]
        figures += [
            Figure(
                name=f"{name}, {kind}: quiet turn {last} / turn {first}",
                value=cost[f"{name}, {kind}@{last}"] / cost[f"{name}, {kind}@{first}"],
                target=FLAT,
            )
            for kind in ("loop detection", "large output and a hook")
        ]
    return figures
