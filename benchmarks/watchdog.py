"""What the watchdog costs: cases in a watched worker, against the same cases in this process.

`python -m benchmarks.watchdog cassettes/text cassettes/tools`. The two take turns, so that a
machine that gets slower meanwhile slows both. What is compared is wall time and the CPU time of
all processes; starting the worker is part of it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.cassette.find import find_cassettes
from harness.commands.case_tasks import case_tasks
from harness.experiment.backend import Backend, real_backend
from harness.experiment.case import CaseOutcome, CaseTask, judge
from harness.experiment.events import follow
from harness.experiment.pool import WorkerDied, run_cases

__all__ = ["Cost", "cost_of", "main"]

_SIDES = ("legacy", "adk")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that some cases took."""

    wall_s: float
    cpu_s: float


def cost_of(tasks: Sequence[CaseTask], backend: Backend) -> Cost:
    """Judge cases one after the other; with limits in a worker, without them here.

    Raises:
        AssertionError: a worker died.
    """
    wall, cpu = time.perf_counter(), _cpu()

    def died(task: CaseTask, died: WorkerDied) -> CaseOutcome:
        raise AssertionError(died.why)

    follow(run_cases(judge, tasks, died=died, jobs=1, backend=backend, runtimes=_SIDES))
    return Cost(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    return sum(os.times()[:4])


def main() -> int:
    """Measure and print the medians of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.watchdog")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cassettes", nargs="+", type=Path)
    asked = parser.parse_args()
    watched, plain = real_backend(), real_backend(limits=None)
    plain.preload(_SIDES)
    files = find_cassettes(asked.cassettes)
    tasks = case_tasks(files, watched, control=_SIDES[0], candidate=_SIDES[1], trust=False)
    cost_of(tasks, plain)
    pairs = []
    for _ in range(asked.rounds):
        one, other = cost_of(tasks, watched), cost_of(tasks, plain)
        pairs.append((one, other))
        print(f"wall {one.wall_s:.2f} s against {other.wall_s:.2f} s, ", end="")
        print(f"CPU {one.cpu_s:.2f} s against {other.cpu_s:.2f} s", flush=True)
    slower = median(one.wall_s / other.wall_s for one, other in pairs)
    more = median(one.cpu_s / other.cpu_s for one, other in pairs)
    print(f"{len(tasks)} cases, watched against not: wall x{slower:.3f}, CPU x{more:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
