"""How long `parity --help` takes: what anybody meets first."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Final

from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target

__all__ = ["measure"]

ANSWER: Final = Target(0.3, "below")
RUNS: Final = 7


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """The median of seven runs; one before them fills the caches."""
    progress(f"help: {RUNS} runs")
    walls = [_once() for _ in range(RUNS + 1)][1:]
    figure = Figure(
        name="parity --help, median of 7",
        value=statistics.median(walls),
        unit="s wall",
        target=ANSWER,
        note=f"{min(walls):.2f} to {max(walls):.2f}",
    )
    return Section("help", [figure])


def _once() -> float:
    begun = time.perf_counter()
    done = subprocess.run([*PARITY, "--help"], cwd=ROOT, capture_output=True, check=False)
    wall = time.perf_counter() - begun
    if done.returncode != 0 or b"Usage" not in done.stdout:
        raise MeasurementError(f"parity --help ended with {done.returncode}")
    return wall
