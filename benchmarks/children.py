"""What an agent's session costs beside its parent's turn, alone and ten at once, and what stays."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.child_sessions import ChildSession, open_children
from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.sampling import BLOCK, across, gc_paused, median_of, typical
from services.clock import virtual_loop

__all__ = ["AT_ONCE", "IN_SEQUENCE", "measure"]

RUNTIMES: Final = ("legacy", "adk")
AT_ONCE: Final = 10
IN_SEQUENCE: Final = 50
WARM_UP: Final = 50
VISITS: Final = 4
RETURNS: Final = Target(1, "below")
"""All that fifty agents leave behind weighs less than one of them while it runs."""
_ROOT: Final = Path(__file__).resolve().parents[1]


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """CPU of agents' sessions as ratios to a parent's turn; memory from a process of its own."""
    found = []
    for repeat in range(1 if quick else 5):
        progress(f"children: session {repeat + 1}")
        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            found.append(runner.run(_sampled()))
    figures = _costs(found)
    for runtime in RUNTIMES:
        progress(f"children: {runtime}, {IN_SEQUENCE} in sequence")
        figures += _memory(runtime, _kept_in_child(runtime))
    return Section(
        "children", figures, ("Milliseconds are this machine's; ratios are what counts.",)
    )


async def _sampled() -> dict[str, float]:
    """CPU seconds by `runtime/what`, the runtimes by turns."""
    taken: dict[str, list[float]] = {}
    async with AsyncExitStack() as stack:
        sessions = {name: await stack.enter_async_context(open_children(name)) for name in RUNTIMES}
        for session in sessions.values():
            await session.turn(AT_ONCE)
        order = list(RUNTIMES)
        with gc_paused():
            for _ in range(VISITS):
                for name in order:
                    for what, seconds in await _visited(sessions[name]):
                        taken.setdefault(f"{name}/{what}", []).append(seconds)
                order.reverse()
    return typical(taken)


async def _visited(session: ChildSession) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    await session.turn()
    for _ in range(BLOCK):
        begun = time.process_time()
        await session.turn()
        found.append(("turn", time.process_time() - begun))
    await session.child()
    for _ in range(BLOCK):
        start, whole = await session.child()
        found += [("start", start), ("whole", whole)]
    for count in (1, AT_ONCE):
        begun = time.process_time()
        await session.turn(count)
        found.append((f"turn with {count}", time.process_time() - begun))
    return found


def _costs(repeats: Sequence[Mapping[str, float]]) -> list[Figure]:
    cost = median_of(repeats)

    def ratio(name: str, above: str, below: str, share: int = 1) -> Figure:
        found, spread = across(repeats, lambda each: each[above] / each[below] / share)
        return Figure(name=name, value=found, note=spread)

    figures: list[Figure] = []
    for name in RUNTIMES:
        turn, start, whole = f"{name}/turn", f"{name}/start", f"{name}/whole"
        figures += [
            Figure(name=f"{name}: parent's turn, text", value=cost[turn] * 1000, unit="ms"),
            Figure(name=f"{name}: agent's start", value=cost[start] * 1000, unit="ms"),
            Figure(name=f"{name}: agent, one model turn", value=cost[whole] * 1000, unit="ms"),
            ratio(f"{name}: start / parent's turn", start, turn),
            ratio(f"{name}: agent / parent's turn", whole, turn),
            ratio(
                f"{name}: {AT_ONCE} at once / {AT_ONCE} turns with one",
                f"{name}/turn with {AT_ONCE}",
                f"{name}/turn with 1",
                AT_ONCE,
            ),
        ]
    return [
        *figures,
        ratio("adk / legacy: start", "adk/start", "legacy/start"),
        ratio("adk / legacy: agent", "adk/whole", "legacy/whole"),
    ]


def _memory(runtime: str, found: Mapping[str, int]) -> list[Figure]:
    return [
        Figure(name=f"{runtime}: an agent at its most", value=found["one"] / 1024, unit="KB"),
        Figure(
            name=f"{runtime}: left by each of {IN_SEQUENCE} in sequence",
            value=found["left"] / IN_SEQUENCE / 1024,
            unit="KB",
        ),
        Figure(
            name=f"{runtime}: left by all {IN_SEQUENCE} / one at its most",
            value=found["left"] / found["one"],
            target=RETURNS,
        ),
    ]


def _kept_in_child(runtime: str) -> dict[str, int]:
    """Bytes from a new process: what `one` agent takes at its most, what all have `left`.

    Raises:
        MeasurementError: the process failed.
    """
    command = [sys.executable, "-m", "benchmarks.children", runtime]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MeasurementError(f"the child for {runtime} failed: {last}")
    found: dict[str, int] = json.loads(done.stdout)
    return found


async def _kept(runtime: str) -> dict[str, int]:
    # A replay's clock and ids remember agents that are long gone.
    async with open_children(runtime, real=True) as session:
        tracemalloc.start()
        for _ in range(WARM_UP):
            await session.child()
        before = _allocated()
        tracemalloc.reset_peak()
        await session.child()
        one = tracemalloc.get_traced_memory()[1] - before
        before = _allocated()
        for _ in range(IN_SEQUENCE):
            await session.child()
        return {"one": one, "left": _allocated() - before}


def _allocated() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_kept(sys.argv[1]))))
