"""What our ADK runtime adds, against a bare lean ADK step and against a stock agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import Final

from benchmarks.conversations import open_conversation
from benchmarks.figures import Figure, Section, Target
from benchmarks.model import Kind
from benchmarks.sampling import BLOCK, Subject, across, gc_paused, median_of, sample, typical
from services.clock import virtual_loop

__all__ = ["measure"]

EVENTS: Final = 2000
"""A stock agent's long history; as many turns of ours are half of it: a question, an answer."""
EARLY: Final = 10
LATE: Final = EVENTS // 2
VISITS: Final = 2
WINDOW: Final = VISITS * (BLOCK + 1)
SURPLUS: Final = Target(1.3)
AGAINST_STOCK: Final = Target(10, "at least")


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Both kinds of turn, all subjects by turns within each conversation."""
    from runtimes.adk.quiet import import_quietly

    import_quietly("google.adk.runners")
    figures: list[Figure] = []
    kinds: tuple[tuple[Kind, str], ...] = (("text", "text"), ("tool", "tool call"))
    for kind, shown in kinds:
        found = []
        for repeat in range(1 if quick else 5):
            progress(f"adk_step: {shown}, conversation {repeat + 1}")
            with asyncio.Runner(loop_factory=virtual_loop) as runner:
                found.append(runner.run(_once(kind)))
        figures += _figures(shown, found)
    a2a = "installed" if find_spec("a2a") else "absent: costs the stock agent about 6 ms a send"
    return Section("adk_step", figures, (f"a2a-sdk is {a2a}.",))


async def _once(kind: Kind) -> dict[str, float]:
    from benchmarks.adk_baselines import open_lean, open_stock

    async with AsyncExitStack() as stack:
        subjects: dict[str, Subject] = {}
        for turn in (EARLY, LATE):
            for runtime in ("legacy", "adk"):
                ours = await stack.enter_async_context(open_conversation(runtime, kind))
                with gc_paused():
                    await ours.turns(turn - WINDOW // 2)
                subjects[f"{runtime}@{turn}"] = ours
        lean = await stack.enter_async_context(open_lean(kind))
        await lean.turns(EARLY - WINDOW // 2)
        subjects["lean"] = lean
        for events in (0, EVENTS):
            stock = await stack.enter_async_context(open_stock(kind, events=events))
            subjects[f"stock@{events}"] = stock
        return typical(await sample(subjects, visits=VISITS))


def _figures(shown: str, repeats: Sequence[Mapping[str, float]]) -> list[Figure]:
    cost = median_of(repeats)

    def ms(name: str, key: str) -> Figure:
        return Figure(name=name, value=cost[key] * 1000, unit="ms")

    def ratio(
        name: str, value: Callable[[Mapping[str, float]], float], target: Target | None = None
    ) -> Figure:
        middle, spread = across(repeats, value)
        return Figure(name=name, value=middle, target=target, note=spread)

    def surplus(turn: int) -> Figure:
        return ratio(
            f"(adk - legacy) / lean, {shown}, turn {turn}",
            lambda each: (each[f"adk@{turn}"] - each[f"legacy@{turn}"]) / each["lean"],
            SURPLUS,
        )

    def against_stock(events: int, turn: int, target: Target | None) -> Figure:
        return ratio(
            f"stock / adk, {shown}, {events} events",
            lambda each: each[f"stock@{events}"] / each[f"adk@{turn}"],
            target,
        )

    figures = [ms(f"bare lean ADK step, {shown}", "lean")]
    for turn in (EARLY, LATE):
        figures += [
            ms(f"legacy, {shown}, turn {turn}", f"legacy@{turn}"),
            ms(f"adk, {shown}, turn {turn}", f"adk@{turn}"),
            surplus(turn),
        ]
    return [
        *figures,
        ms(f"stock LlmAgent, {shown}, 0 events", "stock@0"),
        against_stock(0, EARLY, None),
        ms(f"stock LlmAgent, {shown}, {EVENTS} events", f"stock@{EVENTS}"),
        against_stock(EVENTS, LATE, AGAINST_STOCK),
    ]
