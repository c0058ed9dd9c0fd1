"""How often the explainer is right about a case with a seeded fault.

`fault_seams.toml` has the right seams of each fault. A fault is explained in the first cases of its
own class that show it, up to four. The hash of their names divides the faults in two halves: one
was used to write the rules, the other shows how the rules do with new faults. The rules are also
counted one by one, as a count decides which of them are sure.
"""

from __future__ import annotations

import hashlib
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, MeasurementError, Section, Target
from harness.cassette.find import find_cassettes
from harness.detection.explaining import explanations_of
from harness.detection.families import own_first
from harness.detection.good import Corpus
from harness.detection.reach import wrapped_by
from harness.experiment.backend import real_backend
from harness.explain import Explanation, Seam
from harness.faults.catalogue import CatalogueAt, faults
from harness.parity.divergence import ChannelName
from harness.parity.waivers import load_waivers
from harness.triage.places import lies_at, places_of
from seeded_faults import Fault, Site

__all__ = ["accepted_channels", "accepted_seams", "measure", "names_file", "outcome_of"]

ROOT: Final = Path(__file__).resolve().parents[1]
BASELINES: Final = ROOT / "baselines" / "upstream"
AS_OF: Final = date(2026, 11, 21)
"""The day by which waivers are judged: one on which all are in force."""
SEAMS: Final = Path(__file__).with_name("fault_seams.toml")
OUTCOMES: Final = ("right, sure", "right, probably", "unknown", "wrong, probably", "wrong, sure")
TARGETS: Final = {
    "runtimes": {"right": Target(85, "at least"), "wrong, sure": Target(1)},
    "services": {"wrong, sure": Target(3)},
}
_CASES: Final = 4
"""Findings of one fault that are counted."""
_NEAR: Final = 40
"""Cassettes in which findings after the first one are sought, those of the fault's class first."""
_EVERY: Final = 20
"""A quick measurement takes one of so many faults."""


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Explain every observable fault and count what the explanations say."""
    files = tuple(find_cassettes([ROOT / "cassettes"])) if (ROOT / "cassettes").is_dir() else ()
    if not files:
        raise MeasurementError("no cassettes in cassettes/")
    real_backend().preload(("legacy", "adk"))
    waivers = load_waivers(ROOT / "parity_tests" / "waivers.toml", as_of=AS_OF)
    chosen = [fault for fault in faults().values() if fault.unobservable is None]
    seams: dict[str, Counter[str]] = {}
    plain: dict[str, Counter[bool]] = {}
    channels: Counter[bool] = Counter()
    named: dict[str, Counter[bool]] = {}
    with tempfile.TemporaryDirectory(prefix="explaining-") as kept:
        for number, fault in enumerate(chosen):
            accepted = accepted_seams(fault)
            if not accepted or (quick and number % _EVERY):
                continue
            if number % 20 == 0:
                progress(f"explaining: {number} of {len(chosen)} faults")
            corpus = Corpus(
                catalogue=CatalogueAt(),
                files=files,
                trusted=frozenset(),
                waivers=waivers,
                kept=Path(kept),
                baselines=BASELINES,
            )
            for place, found in enumerate(_explanations(fault, corpus)):
                part = f"{_site(fault)}, {_half(fault)}"
                seams.setdefault(part, Counter())[outcome_of(found, accepted)] += 1
                named.setdefault(_site(fault), Counter())[names_file(fault, found.seam)] += 1
                if found.sure:
                    plain.setdefault(found.rule, Counter())[found.seam in accepted] += 1
                expected = accepted_channels(fault)
                if expected and place == 0:
                    channels[found.channel in expected] += 1
    return Section(
        "explaining",
        [
            *(figure for part in sorted(seams) for figure in _figures(part, seams[part])),
            *_share("{}: the broken file is among those of the seam", named),
            *_share("rule {}: right", plain),
            *_share("{}: right", {"channel of the first sentence": channels}),
        ],
        (
            "sure: the seam is stated plainly; probably: as the best guess.",
            "Faults that no cassette shows are left out; of services the module decides.",
        ),
    )


def _explanations(fault: Fault, corpus: Corpus) -> Iterator[Explanation]:
    """The explanations of the first case that shows a fault, then of a few more."""
    first, explanation = next(explanations_of(fault, corpus), ("", None))
    if explanation is None:
        return
    yield explanation
    files = own_first(corpus.files, fault.behaviour)[:_NEAR]
    near = explanations_of(fault, replace(corpus, files=tuple(files)))
    yield from islice((found for name, found in near if name != first), _CASES - 1)


def accepted_channels(fault: Fault) -> frozenset[ChannelName]:
    """The channels in which a fault may show first; empty where the table has none."""
    return frozenset(map(ChannelName, _table()["channels"].get(fault.name, [])))


def accepted_seams(fault: Fault) -> frozenset[Seam]:
    """The seams that are right for a fault; empty where the table has none."""
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


def names_file(fault: Fault, seam: Seam) -> bool:
    """Whether a file that a fault breaks is among those in which the code of a seam lies."""
    judged = "legacy" if fault.site is Site.LEGACY else "adk"
    # A service breaks both runtimes alike: it shows against the published core alone.
    control = "upstream" if fault.site is Site.SERVICE else "legacy"
    places = places_of(seam, control, judged)
    modules = {target.partition(":")[0].replace(".", "/") for target in wrapped_by(fault).targets}
    broken = [file for name in modules for file in (f"{name}.py", f"{name}/__init__.py")]
    return any(lies_at(file, places) for file in broken)


def outcome_of(found: Explanation, accepted: frozenset[Seam]) -> str:
    """One of `OUTCOMES`."""
    if found.seam is Seam.UNKNOWN:
        return "unknown"
    how = "sure" if found.sure else "probably"
    return f"{'right' if found.seam in accepted else 'wrong'}, {how}"


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
    shown = counts.total()
    targets = TARGETS[part.partition(",")[0]]
    sums = {outcome: counts[outcome] for outcome in OUTCOMES}
    sums["right"] = counts["right, sure"] + counts["right, probably"]
    return [
        Figure(
            name=f"{part}: {outcome}, of {shown}",
            value=count / shown * 100,
            unit="%",
            target=targets.get(outcome),
        )
        for outcome, count in sums.items()
    ]


def _share(name: str, counts: Mapping[str, Counter[bool]]) -> list[Figure]:
    return [
        Figure(
            name=f"{name.format(key)}, of {found.total()}",
            value=found[True] / found.total() * 100,
            unit="%",
            target=Target(99, "at least"),
        )
        for key, found in sorted(counts.items())
        if found
    ]
