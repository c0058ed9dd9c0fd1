"""A whole `parity run` as its user sees it: wall time to the first result and to the last."""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.harness_overhead import CORPUS

__all__ = ["PARITY", "ROOT", "measure"]

ROOT: Final = Path(__file__).resolve().parents[1]
PARITY: Final = (sys.executable, "-c", "from harness.cli import main; main()")
"""The console script, also where the project is not installed."""
FIRST: Final = Target(2)
MANY: Final = 2000
_NAME: Final = re.compile(r"^name:[ ]*(.+)$", re.MULTILINE)
_POLL_S: Final = 0.005


@dataclass(frozen=True, slots=True)
class _Run:
    """Seconds to the first finished case and to the end: wall time, and CPU of all processes."""

    first: float
    first_cpu: float
    wall: float
    cpu: float


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """One worker against two, on the corpus and, unless quick, on 2000 copies of its cases."""
    if not CORPUS.is_dir():
        raise MeasurementError(f"no cassettes in {CORPUS.name}/")
    found: dict[int, list[_Run]] = {1: [], 2: []}
    for repeat in range(1 if quick else 3):
        for jobs, runs in found.items():
            progress(f"corpus: -n {jobs}, run {repeat + 1}")
            runs.append(_run(CORPUS, jobs))
    figures = [figure for jobs, runs in found.items() for figure in _corpus_figures(jobs, runs)]
    figures.append(_speed_up("corpus", found))
    if not quick:
        figures += _many(progress)
    remark = (
        f"{os.cpu_count()} cores. Wall time: whatever else the machine does is in it; CPU beside "
        "it is not disturbed as much."
    )
    return Section("corpus", figures, (remark,))


def _corpus_figures(jobs: int, runs: list[_Run]) -> list[Figure]:
    def seconds(name: str, what: str, unit: str, target: Target | None = None) -> Figure:
        value = statistics.median(getattr(run, what) for run in runs)
        return Figure(name=f"-n {jobs}: {name}", value=value, unit=unit, target=target)

    return [
        seconds("first result", "first", "s wall", FIRST),
        seconds("until then, all processes", "first_cpu", "s CPU"),
        seconds("whole corpus", "wall", "s wall"),
        seconds("whole corpus, all processes", "cpu", "s CPU"),
    ]


def _speed_up(what: str, found: dict[int, list[_Run]]) -> Figure:
    one, two = (statistics.median(run.wall for run in found[jobs]) for jobs in (1, 2))
    return Figure(name=f"{what}: -n 1 / -n 2", value=one / two)


def _many(progress: Callable[[str], None]) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="parity-bench-") as folder:
        count = _copies(Path(folder))
        found: dict[int, list[_Run]] = {}
        for jobs in (1, 2):
            progress(f"corpus: {count} cases, -n {jobs} (a minute or two)")
            found[jobs] = [_run(Path(folder), jobs)]
    figures = [
        Figure(name=f"{count} cases, -n {jobs}", value=runs[0].wall, unit="s wall")
        for jobs, runs in found.items()
    ]
    figures += [
        Figure(name=f"{count} cases, -n {jobs}, all processes", value=runs[0].cpu, unit="s CPU")
        for jobs, runs in found.items()
    ]
    return [*figures, _speed_up(f"{count} cases", found)]


def _copies(folder: Path) -> int:
    """Fill `folder` with renamed copies of the corpus until there are `MANY`."""
    sources = [
        path
        for path in sorted(CORPUS.glob("*/*.yaml"))
        if path.parent.name != "http" and _NAME.search(path.read_text("utf-8"))
    ]
    if not sources:
        raise MeasurementError(f"no cassettes in {CORPUS.name}/")
    rounds = -(-MANY // len(sources))
    for number in range(rounds):
        for source in sources:
            family = f"copy{number}-{source.parent.name}"
            target = folder / family / source.name
            target.parent.mkdir(exist_ok=True)
            shown = f"name: {family}/{source.stem}"
            target.write_text(_NAME.sub(shown, source.read_text("utf-8"), count=1), "utf-8")
    return rounds * len(sources)


def _run(corpus: Path, jobs: int) -> _Run:
    scratch = Path(tempfile.mkdtemp(prefix="parity-bench-"))
    journal, log = scratch / "journal.jsonl", scratch / "log.txt"
    command = [*PARITY, "run", str(corpus), "-n", str(jobs), "--trust", "--journal", str(journal)]
    try:
        begun = time.perf_counter()
        with log.open("wb") as output:
            child = subprocess.Popen(
                command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
            )
            found = _follow(child, journal, begun)
        if child.returncode not in (0, 1, 3) or found is None:
            said = (log.read_text("utf-8", "replace").strip().splitlines() or ["nothing"])[-1]
            raise MeasurementError(f"parity run ended with {child.returncode}: {said}")
        return found
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _follow(child: subprocess.Popen[bytes], journal: Path, begun: float) -> _Run | None:
    """Watch a run until it ends; `None` if it finished no case."""
    first: tuple[float, float] | None = None
    cpu = _SessionCpu(child.pid)
    try:
        while child.poll() is None:
            if first is None and journal.exists() and b'"finished"' in journal.read_bytes():
                first = time.perf_counter() - begun, cpu.total()
            cpu.look()
            time.sleep(_POLL_S if first is None else 10 * _POLL_S)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait()
    wall = time.perf_counter() - begun
    return None if first is None else _Run(first[0], first[1], wall, cpu.seen())


class _SessionCpu:
    """CPU seconds of every process of a session, workers of workers included; 0 without /proc.

    What a process used after it was last looked at is lost: a poll's length at most.
    """

    def __init__(self, session: int) -> None:
        self._session = str(session)
        self._ticks: dict[str, int] = {}

    def look(self) -> None:
        """Take down what every living process has used."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue  # gone meanwhile
            if fields[3] == self._session:
                self._ticks[stat.parent.name] = int(fields[11]) + int(fields[12])

    def total(self) -> float:
        """Look, and add up."""
        self.look()
        return self.seen()

    def seen(self) -> float:
        """The sum of what was last seen of each."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")
