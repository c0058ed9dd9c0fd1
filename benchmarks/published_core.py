"""The published core beside our runtimes: CPU per model turn, and memory of a long conversation."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from benchmarks import memory, turns
from benchmarks.figures import Figure, MeasurementError, Section, Target, number
from benchmarks.model import InstantModel
from benchmarks.sampling import BLOCK, typical
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, find_node, package_folder
from services.abort import AbortSignal
from services.clock import virtual_loop
from services.model.generator import LlmRole, ModelRequest
from services.wire import JsonObject

__all__ = ["CORE", "SCRIPT", "Core", "cpu_figures", "measure", "memory_figures"]

CORE: Final = "published core"
SCRIPT: Final = Path(__file__).with_name("core_turns.mjs")
CHEAPER: Final = Target(1, "below")
QUARTER: Final = Target(0.25)
REPEATS: Final = 3
DEADLINE_S: Final = 300
"""Of wall time, for one child; the longest takes half a minute on two slow cores."""
_MESSAGE: Final = "Have a look."
"""What a `benchmarks.conversations.Conversation` sends."""
_ROOMY: Final = ("--min-semi-space-size=128", "--max-semi-space-size=128")
"""MB of young generation: more than the turns of a visit allocate, so that none pays for others."""
_MB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Core:
    """A node and a script that measures a package: `core_turns.mjs` and the core, but in tests."""

    node: Path
    package: Path
    script: Path = SCRIPT

    def run(
        self, plan: JsonObject, *, flags: Sequence[str] = (), deadline_s: float = DEADLINE_S
    ) -> dict[str, Any]:
        """What the script finds, in a process with an environment and a home of its own.

        Args:
            plan: what to do, as the script describes it.
            flags: node's.
            deadline_s: seconds of wall time after which the process is ended.

        Raises:
            MeasurementError: it failed, or did not end in time.
        """
        command: list[str | Path] = [self.node, *flags, self.script, self.package, json.dumps(plan)]
        with (
            tempfile.TemporaryDirectory(prefix="parity-bench-") as home,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            with _started(command, home, output, errors) as child:
                try:
                    code = child.wait(deadline_s)
                except subprocess.TimeoutExpired:
                    raise MeasurementError(
                        f"the {CORE} was not done after {deadline_s:g} s and was ended; try again "
                        "when the machine has less to do"
                    ) from None
            if code != 0:
                last = (_text(errors).splitlines() or ["no message"])[-1]
                raise MeasurementError(f"the {CORE}'s process ended with {code}: {last}")
            try:
                found: dict[str, Any] = json.loads(_text(output))
            except ValueError as error:
                raise MeasurementError(f"the {CORE}'s process answered no JSON: {error}") from error
            return found


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Text turns of all three, each repeat in one go; nothing where node or the core is missing."""
    try:
        core = Core(find_node(), package_folder(DEFAULT_VERSION))
    except UpstreamUnavailable as missing:
        return Section("published_core", [], (f"Skipped: {missing}.",))
    asked: JsonObject = {"message": _MESSAGE, "chunks": asyncio.run(_answer())}
    repeats = []
    for repeat in range(1 if quick else REPEATS):
        progress(f"published_core: conversation {repeat + 1}")
        repeats.append(_cpu(core, asked, core_first=repeat % 2 == 1))
    count = memory.TURNS // 5 if quick else memory.TURNS
    progress(f"published_core: memory, {count} turns")
    figures = cpu_figures(repeats) + memory_figures(_memory(core, asked, count), judged=not quick)
    return Section("published_core", figures, (f"{DEFAULT_VERSION}; memory of {count} turns.",))


async def _answer() -> list[JsonObject]:
    """The chunks that our runtimes are given."""
    request = ModelRequest(
        model="", contents=(), role=LlmRole.MAIN, prompt_id="", signal=AbortSignal()
    )
    return [chunk async for chunk in await InstantModel().generate_content_stream(request)]


def _cpu(core: Core, asked: JsonObject, *, core_first: bool) -> dict[str, float]:
    """Seconds per turn by `name@turn`; the sides take turns at being first."""

    def theirs() -> dict[str, float]:
        plan = {**asked, "way": "cpu", "turns": turns.TURNS, "visits": turns.VISITS, "block": BLOCK}
        found = core.run(plan, flags=_ROOMY)
        return typical({f"{CORE}@{turn}": seconds for turn, seconds in found.items()})

    def ours() -> dict[str, float]:
        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            return runner.run(turns.sampled_turns("text"))

    return theirs() | ours() if core_first else ours() | theirs()


def _memory(core: Core, asked: JsonObject, count: int) -> dict[str, Mapping[str, int]]:
    """Side to its bytes at `start`, `end` and other points."""
    plan = {**asked, "way": "rss", "turns": count, "warmUp": memory.WARM_UP}
    found = {name: memory.converse_in_child(name, "text", count, "rss") for name in turns.RUNTIMES}
    return {CORE: core.run(plan, flags=["--expose-gc"]), **found}


def cpu_figures(repeats: Sequence[Mapping[str, float]]) -> list[Figure]:
    """Milliseconds per turn of all three, and ours as parts of the core's.

    Args:
        repeats: seconds per turn by `name@turn`, one mapping each.
    """

    def figure(
        name: str,
        value: Callable[[Mapping[str, float]], float],
        unit: str = "x",
        target: Target | None = None,
    ) -> Figure:
        each = [value(repeat) for repeat in repeats]
        # Three digits: two places, as elsewhere, would show nothing of a hundredth.
        spread = f"{number(min(each))} to {number(max(each))} in {len(each)}"
        middle = statistics.median(each)
        note = spread if len(each) > 1 else ""
        return Figure(name=name, value=middle, unit=unit, target=target, note=note)

    def milliseconds(name: str, turn: int) -> Figure:
        shown = f"{name}, text, turn {turn}"
        return figure(shown, lambda each: each[f"{name}@{turn}"] * 1000, "ms")

    def part(name: str, turn: int) -> Figure:
        return figure(
            f"{name} / {CORE}, text, turn {turn}",
            lambda each: each[f"{name}@{turn}"] / each[f"{CORE}@{turn}"],
            target=CHEAPER if (name, turn) == ("legacy", 10) else None,
        )

    return [
        *(milliseconds(name, turn) for name in (CORE, *turns.RUNTIMES) for turn in turns.TURNS),
        figure(
            f"{CORE}, text: turn 1000 / turn 10",
            lambda each: each[f"{CORE}@1000"] / each[f"{CORE}@10"],
        ),
        *(part(name, turn) for name in turns.RUNTIMES for turn in turns.TURNS),
    ]


def memory_figures(found: Mapping[str, Mapping[str, int]], *, judged: bool) -> list[Figure]:
    """Resident sizes of all three, and ours as parts of the core's.

    The target says "memory" and means either: the whole process, and what the conversation adds.

    Args:
        found: bytes by `start` and `end`, the core's also by `imported`, `peak` and `heap`.
        judged: whether the conversation was as long as the target says.
    """
    core = found[CORE]

    def megabytes(name: str, value: int) -> Figure:
        return Figure(name=name, value=value / _MB, unit="MB")

    def part(name: str, what: str, value: Callable[[Mapping[str, int]], int]) -> Figure:
        return Figure(
            name=f"{name} / {CORE}, text: RSS, {what}",
            value=value(found[name]) / value(core),
            target=QUARTER if judged else None,
        )

    figures = [
        megabytes(f"{CORE}: RSS, imported", core["imported"]),
        megabytes(f"{CORE}, text: RSS, peak", core["peak"]),
        megabytes(f"{CORE}, text: heap in use, all", core["heap"]),
    ]
    for name in (CORE, *turns.RUNTIMES):
        figures += [
            megabytes(f"{name}, text: RSS, all", _all(found[name])),
            megabytes(f"{name}, text: RSS, growth", _growth(found[name])),
        ]
    for name in turns.RUNTIMES:
        figures += [part(name, "all", _all), part(name, "growth", _growth)]
    return figures


def _all(found: Mapping[str, int]) -> int:
    return found["end"]


def _growth(found: Mapping[str, int]) -> int:
    return found["end"] - found["start"]


@contextmanager
def _started(
    command: Sequence[str | Path], home: str, output: IO[bytes], errors: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own: if the block is left before it ends, all of it is ended.

    Its input stays open and empty: where this process is killed itself, the script sees it close.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home}
    environment |= {"TZ": "UTC", "LANG": "en_US.UTF-8"}
    with subprocess.Popen(
        command,
        cwd=home,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        start_new_session=True,
    ) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip()
