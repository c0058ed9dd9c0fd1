"""How often the explainer names the right seam: every fault of the catalogue, put in and explained.

The case that shows a fault is the first of its own class that differs. What is right stands in
`fault_seams.toml`, by what a fault spoils. The rules were made with one half of the faults before
their eyes; the other half says how they do with faults that nobody had in mind.
"""

from __future__ import annotations

import hashlib
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, MeasurementError, Section, Target
from harness.cassette.find import find_cassettes
from harness.detection.explaining import explanation_of
from harness.detection.reach import wrapped_by
from harness.experiment.backend import real_backend
from harness.explain import Explanation, Seam
from harness.faults.catalogue import faults
from harness.faults.fault import Fault, Site
from harness.parity.waivers import load_waivers

__all__ = ["accepted_seams", "measure", "outcome_of"]

ROOT: Final = Path(__file__).resolve().parents[1]
BASELINES: Final = ROOT / "baselines" / "upstream"
AS_OF: Final = date(2026, 11, 21)
"""The day by which waivers are judged: one on which all are in force."""
SEAMS: Final = Path(__file__).with_name("fault_seams.toml")
WRONG: Final = Target(10)
UNKNOWN: Final = Target(20)
_EVERY: Final = 20
"""Of a quick measurement: one fault of so many."""


def measure(*, quick: bool, tell: Callable[[str], None]) -> Section:
    """Explain every observable fault and count what the explanations say."""
    files = tuple(find_cassettes([ROOT / "cassettes"])) if (ROOT / "cassettes").is_dir() else ()
    if not files:
        raise MeasurementError("no cassettes in cassettes/")
    real_backend().preload(("legacy", "adk"))
    waivers = load_waivers(ROOT / "parity_tests" / "waivers.toml", as_of=AS_OF)
    chosen = [fault for fault in faults().values() if fault.unobservable is None]
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="explaining-") as kept:
        for number, fault in enumerate(chosen):
            accepted = accepted_seams(fault)
            if not accepted or (quick and number % _EVERY):
                continue
            if number % 20 == 0:
                tell(f"explaining: {number} of {len(chosen)} faults")
            found = explanation_of(fault, files, waivers, kept=Path(kept), baselines=BASELINES)
            part = f"{_site(fault)}, {_half(fault)}"
            counts.setdefault(part, Counter())[outcome_of(found, accepted)] += 1
    return Section(
        "explaining",
        [figure for part in sorted(counts) for figure in _figures(part, counts[part])],
        (
            "wrong: another seam than the accepted ones, said with confidence.",
            "Faults that no cassette shows are left out; of services the module decides.",
        ),
    )


def accepted_seams(fault: Fault) -> frozenset[Seam]:
    """The seams that are right for a fault; none where nobody has said."""
    table = _table()
    if fault.site is not Site.SERVICE:
        return frozenset(map(Seam, table["runtimes"].get(fault.name, [])))
    found: set[Seam] = set()
    for target in wrapped_by(fault).targets:
        module = target.partition(":")[0]
        names = [name for name in table["services"] if module.startswith(name)]
        if names:
            found.update(map(Seam, table["services"][max(names, key=len)]))
    return frozenset(found)


def outcome_of(found: Explanation | None, accepted: frozenset[Seam]) -> str:
    """`right`, `unknown`, `wrong`, or `not shown`."""
    if found is None or found.channel is None:
        return "not shown"
    if found.seam is Seam.UNKNOWN:
        return "unknown"
    return "right" if found.seam in accepted else "wrong"


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(SEAMS.read_text("utf-8"))


def _site(fault: Fault) -> str:
    return "services" if fault.site is Site.SERVICE else "runtimes"


def _half(fault: Fault) -> str:
    """Which half a fault belongs to: by its name, so that no author decides."""
    even = int(hashlib.sha256(fault.name.encode()).hexdigest(), 16) % 2 == 0
    return "in mind" if even else "held out"


def _figures(part: str, counts: Counter[str]) -> list[Figure]:
    shown = counts["right"] + counts["unknown"] + counts["wrong"]

    def share(outcome: str, target: Target | None = None) -> Figure:
        value = counts[outcome] / max(shown, 1) * 100
        return Figure(name=f"{part}: {outcome}, of {shown}", value=value, unit="%", target=target)

    return [share("right"), share("unknown", UNKNOWN), share("wrong", WRONG)]
