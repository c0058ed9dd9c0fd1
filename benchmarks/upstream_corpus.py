"""Cassettes a second through the published core: a warm pool, a cold one, and two workers."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target, number
from benchmarks.harness_overhead import CORPUS
from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.load import load_cassette
from harness.experiment.backend import real_backend
from harness.replay.runner import run_cassette
from runtimes.contract import RuntimeUnavailable
from runtimes.published import DEFAULT_VERSION
from runtimes.registry import check_runtime
from runtimes.upstream import pool

__all__ = ["JOBS", "SHARED", "Pass", "measure", "passed", "spread_over", "upstream_figures"]

SHARED: Final = ROOT.parent / "shared" / "oracle" / "cassettes"
FAST: Final = Target(6, "at least")
SLOW: Final = Target(2, "below")
JOBS: Final = 2
REPEATS: Final = 3
AT_MOST: Final = 138
"""Cassettes of the project's corpus, where the shared ones are not there: as many as these."""
COLD: Final = 15
DEADLINE_S: Final = 300
"""Of wall time, for the two workers; they take ten seconds on two slow cores."""
_GRACE_S: Final = 10
"""More than an interrupted run gives its workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What some cassettes took, one after another.

    Attributes:
        seconds: wall time by cassette, loading its file included.
        sessions: how many sessions they opened in the core.
        started: how many of these found no warm driver, so that one was started.
        retired: how many drivers were ended because a session left something behind.
    """

    seconds: dict[str, float]
    sessions: int
    started: int
    retired: int

    def rate(self, names: Sequence[str] | None = None) -> float:
        """Cassettes a second, of all or of `names`."""
        chosen = list(self.seconds) if names is None else names
        return len(chosen) / sum(self.seconds[name] for name in chosen)


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """The three by turns, each repeat in one go; nothing where node or the core is missing."""
    try:
        check_runtime("upstream")
    except RuntimeUnavailable as missing:
        return Section("upstream", [], (f"Skipped: {missing}.",))
    folder = SHARED if SHARED.is_dir() else CORPUS
    files = spread_over(find_cassettes([folder]) if folder.is_dir() else [], AT_MOST)
    if not files:
        raise MeasurementError(f"no cassettes in {folder.name}/")
    sample = spread_over(files, COLD)
    real_backend().preload(["upstream"])
    warm, cold, walls = [], [], []
    try:
        for repeat in range(1 if quick else REPEATS):
            progress(f"upstream: {len(files)} cassettes, pass {repeat + 1}")
            passed(sample[:1], _run)
            warm.append(passed(files, _run))
            progress(f"upstream: {len(sample)} cassettes in a new process each, pass {repeat + 1}")
            pool.close_idle()
            cold.append(passed(sample, _run_cold))
            progress(f"upstream: {len(files)} cassettes, {JOBS} workers, run {repeat + 1}")
            walls.append(_traced(files))
    finally:
        pool.close_idle()
    whose = "the shared" if folder == SHARED else "the project's"
    remarks = (
        f"{DEFAULT_VERSION}; {len(files)} of {whose} cassettes; {os.cpu_count()} cores.",
        "Wall time. What the workers' pools did is not seen from here; they run the same sessions.",
    )
    figures = upstream_figures(warm, cold, walls, judged=folder == SHARED)
    return Section("upstream", figures, remarks)


def spread_over(files: Sequence[CassetteFile], count: int) -> list[CassetteFile]:
    """At most `count` of `files`, evenly spread, so that every family has its part."""
    if len(files) <= count:
        return list(files)
    return [files[place * len(files) // count] for place in range(count)]


def passed(files: Sequence[CassetteFile], run: Callable[[CassetteFile], str | None]) -> Pass:
    """Run cassettes one after another, and see what the pool of this process does for them.

    Args:
        files: which ones.
        run: runs one; says what failed if the core itself or its process did.

    Raises:
        MeasurementError: one failed that way: it would count as a fast one.
    """
    before = pool.Statistics(
        pool.statistics.sessions, pool.statistics.started, pool.statistics.retired
    )
    seconds: dict[str, float] = {}
    for file in files:
        begun = time.perf_counter()
        problem = run(file)
        seconds[file.name] = time.perf_counter() - begun
        if problem is not None:
            raise MeasurementError(f"{file.name} could not be run: {problem}")
    return Pass(
        seconds=seconds,
        sessions=pool.statistics.sessions - before.sessions,
        started=pool.statistics.started - before.started,
        retired=pool.statistics.retired - before.retired,
    )


def _run(file: CassetteFile) -> str | None:
    seen = run_cassette(load_cassette(file.path, file.root), "upstream")
    return seen.error or "no reason given" if seen.broken else None


def _run_cold(file: CassetteFile) -> str | None:
    try:
        return _run(file)
    finally:
        pool.close_idle()


def _traced(files: Sequence[CassetteFile]) -> float:
    """Seconds of wall time that `parity trace` takes, from the start of its process to the end."""
    scratch = Path(tempfile.mkdtemp(prefix="parity-bench-"))
    output, log = scratch / "traces", scratch / "log.txt"
    command: list[str | Path] = [*PARITY, "trace", *(file.path for file in files)]
    command += ["--runtime", "upstream", "-n", str(JOBS), "--out", output, "--trust"]
    try:
        begun = time.perf_counter()
        with log.open("wb") as said:
            code = _ended(command, said.fileno())
        wall = time.perf_counter() - begun
        written = len(list(output.glob("**/*.json")))
        # 3: a run that got stuck, for instance; it has been run and written down all the same.
        if code not in (0, 3) or written != len(files):
            last = (log.read_text("utf-8", "replace").strip().splitlines() or ["nothing"])[-1]
            raise MeasurementError(
                f"parity trace ended with {code} and {written} of {len(files)} documents: {last}"
            )
        return wall
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _ended(command: Sequence[str | Path], output: int) -> int:
    """The exit code of a command in a group of its own, which is ended if this is interrupted."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
    ) as child:
        try:
            return child.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise MeasurementError(
                f"parity trace was not done after {DEADLINE_S} s and was ended; try again when the "
                "machine has less to do"
            ) from None
        finally:
            if child.poll() is None:
                _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupt it as a user would, since it ends its workers then; else end the whole group."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)


def upstream_figures(
    warm: Sequence[Pass], cold: Sequence[Pass], walls: Sequence[float], *, judged: bool
) -> list[Figure]:
    """Rates, what the warm pool gains, and how often it had no driver to give.

    Only the two workers are held against the target for a warm pool: it names two cores, and a
    start that they have to make themselves is no excuse.

    Args:
        warm: passes over all cassettes, one each repeat; the pool was warm before.
        cold: passes over some of these, each cassette with a driver of its own.
        walls: seconds that two workers took for all.
        judged: whether these are the cassettes that the targets are about.
    """
    slow, fast = (SLOW, FAST) if judged else (None, None)
    count = len(warm[0].seconds)
    some = list(cold[0].seconds)

    def figure(name: str, each: Sequence[float], unit: str, target: Target | None = None) -> Figure:
        spread = f"{number(min(each))} to {number(max(each))} in {len(each)}"
        note = spread if len(each) > 1 else ""
        middle = statistics.median(each)
        return Figure(name=name, value=middle, unit=unit, target=target, note=note)

    def rate(name: str, each: Sequence[float], target: Target | None = None) -> Figure:
        return figure(name, each, "cassettes/s", target)

    gains = [hot.rate(some) / new.rate() for hot, new in zip(warm, cold, strict=True)]
    sessions = sum(each.sessions for each in warm)
    started = sum(each.started for each in warm)
    retired = sum(each.retired for each in warm)
    return [
        rate("warm pool, one process", [each.rate() for each in warm]),
        rate("a new driver each, one process", [each.rate() for each in cold], slow),
        figure(f"warm / new, the same {len(some)} cassettes", gains, "x"),
        rate(f"-n {JOBS}, start included", [count / wall for wall in walls], fast),
        Figure(
            name="warm pool: sessions that needed a new driver",
            value=100 * started / sessions if sessions else float("nan"),
            unit="%",
            note=f"{started} of {sessions}",
        ),
        Figure(
            name="warm pool: sessions that left something behind",
            value=100 * retired / sessions if sessions else float("nan"),
            unit="%",
            note=f"{retired} of {sessions}",
        ),
    ]
