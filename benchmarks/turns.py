"""CPU per model turn for both runtimes, early and late in one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final

from benchmarks.conversations import open_conversation
from benchmarks.figures import Figure, Section, Target
from benchmarks.model import Kind
from benchmarks.sampling import BLOCK, Subject, across, gc_paused, median_of, sample, typical
from services.clock import virtual_loop

__all__ = ["RUNTIMES", "TURNS", "VISITS", "measure", "sampled_turns"]

RUNTIMES: Final = ("legacy", "adk")
TURNS: Final = (10, 100, 1000)
VISITS: Final = 2
WINDOW: Final = VISITS * (BLOCK + 1)
"""Turns that are taken around each of `TURNS`."""
KINDS: Final[tuple[tuple[Kind, str], ...]] = (("text", "text"), ("tool", "tool call"))
FLAT: Final = Target(1.3)


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Two runtimes, three places in a conversation, two kinds of turn; ratios of medians."""
    figures: list[Figure] = []
    for kind, shown in KINDS:
        found = []
        for repeat in range(1 if quick else 5):
            progress(f"turns: {shown}, conversation {repeat + 1}")
            with asyncio.Runner(loop_factory=virtual_loop) as runner:
                found.append(runner.run(sampled_turns(kind)))
        figures += _figures(shown, found)
    return Section("turns", figures, ("Milliseconds are this machine's; ratios are what counts.",))


async def sampled_turns(kind: Kind) -> dict[str, float]:
    """CPU seconds per turn by `runtime@turn`: new conversations, each visited at its turn."""
    async with AsyncExitStack() as stack:
        subjects: dict[str, Subject] = {}
        for turn in TURNS:
            for runtime in RUNTIMES:
                conversation = await stack.enter_async_context(open_conversation(runtime, kind))
                with gc_paused():
                    await conversation.turns(turn - WINDOW // 2)
                subjects[f"{runtime}@{turn}"] = conversation
        return typical(await sample(subjects, visits=VISITS))


def _figures(shown: str, repeats: Sequence[Mapping[str, float]]) -> list[Figure]:
    cost = median_of(repeats)

    def ratio(name: str, above: str, below: str, target: Target | None = None) -> Figure:
        value, spread = across(repeats, lambda each: each[above] / each[below])
        return Figure(name=name, value=value, target=target, note=spread)

    figures = [
        Figure(
            name=f"{runtime}, {shown}, turn {turn}",
            value=cost[f"{runtime}@{turn}"] * 1000,
            unit="ms",
        )
        for runtime in RUNTIMES
        for turn in TURNS
    ]
    figures += [
        ratio(f"{runtime}, {shown}: turn 1000 / turn 10", f"{runtime}@1000", f"{runtime}@10", FLAT)
        for runtime in RUNTIMES
    ]
    figures += [
        ratio(f"adk / legacy, {shown}, turn {turn}", f"adk@{turn}", f"legacy@{turn}")
        for turn in TURNS
    ]
    return figures
