"""Memory after a long conversation: one child process per runtime, kind and way of looking."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.busy import large_file, open_busy
from benchmarks.conversations import open_conversation
from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.model import Kind
from services.clock import virtual_loop

__all__ = ["BUSY_TURNS", "TURNS", "WARM_UP", "converse_in_child", "measure"]

TURNS: Final = 1000
WARM_UP: Final = 10
BUSY: Final = "busy"
BUSY_TURNS: Final = 1000
BUSY_WARM_UP: Final = 40
"""By then masking is at work, and as many outputs are whole as ever will be."""
BOUNDED: Final = Target(1, "below")
"""All that is kept of a turn weighs less than the output that went through it."""
_ROOT: Final = Path(__file__).resolve().parents[1]
_MB: Final = 1024 * 1024


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Resident size from one child, allocations from another: tracing would swell the first."""
    turns = TURNS // 5 if quick else TURNS
    figures: list[Figure] = []
    kinds: tuple[tuple[Kind, str], ...] = (("text", "text"), ("tool", "tool call"))
    for kind, shown in kinds:
        for runtime in ("legacy", "adk"):
            progress(f"memory: {runtime}, {shown}, {turns} turns")
            plain = converse_in_child(runtime, kind, turns, "rss")
            traced = converse_in_child(runtime, kind, turns, "trace")
            where = f"{runtime}, {shown}"
            figures += [
                Figure(name=f"{where}: RSS, all", value=plain["end"] / _MB, unit="MB"),
                Figure(name=f"{where}: RSS, growth", value=_growth(plain) / _MB, unit="MB"),
                Figure(name=f"{where}: allocated, peak", value=traced["peak"] / _MB, unit="MB"),
                Figure(
                    name=f"{where}: allocated per turn",
                    value=_growth(traced) / (turns - WARM_UP) / 1024,
                    unit="KB",
                ),
            ]
    figures += _busy(BUSY_TURNS // 5 if quick else BUSY_TURNS, progress)
    remark = (
        f"{turns} turns; growth is counted from turn {WARM_UP}. The target, a quarter of the "
        "published core's memory, is judged by `published_core`, which measures both."
    )
    return Section("memory", figures, (remark,))


def _busy(turns: int, progress: Callable[[str], None]) -> list[Figure]:
    """All services on: what stays of each turn, against the large output that it had."""
    figures: list[Figure] = []
    for runtime in ("legacy", "adk"):
        progress(f"memory: {runtime}, all services on, {turns} turns")
        found = converse_in_child(runtime, BUSY, turns, "trace")
        where = f"{runtime}, all services on"
        measured = turns - BUSY_WARM_UP
        figures += [
            Figure(name=f"{where}: allocated, peak", value=found["peak"] / _MB, unit="MB"),
            Figure(
                name=f"{where}: allocated per turn",
                value=_growth(found) / measured / 1024,
                unit="KB",
            ),
            Figure(
                name=f"{where}: history kept per turn",
                value=found["kept"] / measured / 1024,
                unit="KB",
            ),
            Figure(
                name=f"{where}: allocated per turn / its output",
                value=_growth(found) / measured / len(large_file(0)),
                target=BOUNDED,
            ),
        ]
    return figures


def _growth(found: dict[str, int]) -> int:
    return found["end"] - found["start"]


def converse_in_child(runtime: str, kind: str, turns: int, way: str) -> dict[str, int]:
    """Bytes after a conversation of its own in a new process.

    Args:
        runtime: whose conversation.
        kind: of turn: one of `Kind`, or `busy` for all services on.
        turns: how many, `WARM_UP` of them included.
        way: `rss` for the resident size, `trace` for what Python allocated.

    Returns:
        Bytes after the warm-up (`start`), after all turns (`end`), and the most ever (`peak`); of a
        busy one also by how much its history grew in between, as JSON (`kept`).

    Raises:
        MeasurementError: the process failed.
    """
    command = [sys.executable, "-m", "benchmarks.memory", runtime, kind, str(turns), way]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MeasurementError(f"the child for {runtime}, {kind}, {way} failed: {last}")
    found: dict[str, int] = json.loads(done.stdout)
    return found


async def _converse(runtime: str, kind: Kind, turns: int, way: str) -> dict[str, int]:
    """Bytes after the warm-up (`start`), after all turns (`end`), and the most ever (`peak`)."""
    async with open_conversation(runtime, kind) as conversation:
        await conversation.turns(WARM_UP)
        if way == "trace":
            tracemalloc.start()
        start = _now(way)
        await conversation.turns(turns - WARM_UP)
        end = _now(way)
        peak = tracemalloc.get_traced_memory()[1] if way == "trace" else _peak_rss()
        return {"start": start, "end": end, "peak": peak}


async def _converse_busily(runtime: str, turns: int, way: str) -> dict[str, int]:
    if way == "trace":
        # From the beginning: an old output that is masked later must count as given back.
        tracemalloc.start()
    async with open_busy(runtime) as conversation:
        await conversation.turns(BUSY_WARM_UP)
        kept = conversation.history_size()
        start = _now(way)
        await conversation.turns(turns - BUSY_WARM_UP)
        end = _now(way)
        peak = tracemalloc.get_traced_memory()[1] if way == "trace" else _peak_rss()
        tracemalloc.stop()
        kept = conversation.history_size() - kept
        return {"start": start, "end": end, "peak": peak, "kept": kept}


def _now(way: str) -> int:
    gc.collect()
    if way == "trace":
        return tracemalloc.get_traced_memory()[0]
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return _peak_rss()


def _peak_rss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _main(runtime: str, kind: str, turns: str, way: str) -> None:
    if kind == BUSY:
        conversation = _converse_busily(runtime, int(turns), way)
    else:
        of_kind: Kind = "tool" if kind == "tool" else "text"
        conversation = _converse(runtime, of_kind, int(turns), way)
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        print(json.dumps(runner.run(conversation)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
