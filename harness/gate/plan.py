"""The plan of the missing measurements, in order, with estimated times.

The gate's reasons name the measurements.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.gate.answer import GateAnswer, Measurement
from harness.gate.evidence import Evidence
from harness.gate.scope import FOLDER
from harness.sides import base_names, hands_over

__all__ = ["Planned", "in_about", "measure_command", "needed", "plan_of"]

_START_S: Final = 3.0
"""Seconds until the workers of a command have started."""
_FAULT_S: Final = 2.2
_MUTANT_S: Final = 3.0
_CASE_S: Final = {"baseline": 0.02, "upstream": 0.43, "": 0.12}
_SCENARIO_S: Final = {"upstream": 1.0, "": 0.16}
"""Seconds of one worker for one unit on one side, measured on two busy cores: docs/gate.md."""
_HANDED_OVER: Final = 0.7
"""Share of a leg's time if sessions are handed over, as cassettes with one send are skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A measurement with an estimated time."""

    measurement: Measurement
    seconds: float
    recorded: bool
    """Whether the estimate is from a journal of the same leg, not from usual rates."""


def needed(answer: GateAnswer) -> list[Measurement]:
    """Return the measurements that the answer's reasons name, in the gate's order.

    The larger of two measurements of the same subject counts.
    """
    found: dict[tuple[str, str], Measurement] = {}
    for measurement in (reason.measure for reason in answer.reasons):
        if measurement is None:
            continue
        key = (measurement.kind, measurement.about)
        if key not in found or found[key].units < measurement.units:
            found[key] = measurement
    return list(found.values())


def plan_of(measurements: Iterable[Measurement], evidence: Evidence, jobs: int) -> list[Planned]:
    """Return the measurements with estimates for `jobs` workers.

    A journal of the same leg, even a stale one, gives the time of a case. Otherwise usual rates do.
    """
    planned = []
    for measurement in measurements:
        took = _recorded(measurement, evidence)
        work = measurement.units * (_usual(measurement) if took is None else took)
        seconds = _START_S + work / min(jobs, max(measurement.units, 1))
        recorded = took is not None
        planned.append(Planned(measurement=measurement, seconds=seconds, recorded=recorded))
    return planned


def _recorded(measurement: Measurement, evidence: Evidence) -> float | None:
    """Return a worker's seconds per case, from the leg's journal with the most cases."""
    sides = (measurement.control, measurement.candidate)
    records = [
        run.record
        for run in evidence.legs
        if (run.record.header.control, run.record.header.candidate) == sides and run.record.took_ms
    ]
    if measurement.kind != "leg" or not records:
        return None
    record = max(records, key=lambda each: len(each.took_ms))
    ran = len(record.finished) + len(record.skipped)
    return sum(record.took_ms.values()) / 1000 / ran if ran else None


def _usual(measurement: Measurement) -> float:
    """Return a worker's usual seconds per unit."""
    sides = (measurement.control, measurement.candidate)
    if measurement.kind == "faults":
        return _FAULT_S
    if measurement.kind == "mutants":
        return _MUTANT_S
    if measurement.kind == "sample":
        return sum(_SCENARIO_S.get(_engine(side), _SCENARIO_S[""]) for side in sides)
    took = sum(_CASE_S.get(_engine(side), _CASE_S[""]) for side in sides)
    return took * _HANDED_OVER if any(map(hands_over, sides)) else took


def _engine(side: str) -> str:
    """Return the kind of a side, which decides its time: baseline, published core, or other."""
    if side.startswith("baseline:"):
        return "baseline"
    return "upstream" if "upstream" in base_names(side) else ""


def in_about(seconds: float) -> str:
    """Return a rounded duration: `40s`, `7m`, `1h45m`."""
    if seconds < 60:
        return f"{max(10, math.ceil(seconds / 10) * 10)}s" if seconds <= 50 else "1m"
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes}m"
    minutes = math.ceil(minutes / 5) * 5
    return f"{minutes // 60}h{minutes % 60:02}m" if minutes % 60 else f"{minutes // 60}h"


def measure_command(
    phase: str, profile: str, places: Sequence[Path] = (FOLDER,), options: Sequence[str] = ()
) -> str:
    """Return the command that runs an answer's missing measurements, with the gate's `options`."""
    words = ["parity", "measure", "--phase", phase, "--profile", profile]
    if tuple(places) != (FOLDER,):
        words += [word for place in places for word in ("--journal", str(place))]
    return shlex.join([*words, *options])
