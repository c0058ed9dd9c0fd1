"""A fault in words: what the explainer says of the first case that shows it.

By this it is measured whether the explainer names what was broken on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.cassette.find import CassetteFile
from harness.detection.catalogue_at import CatalogueAt
from harness.detection.families import own_first
from harness.detection.good import CorpusCase, leg_of
from harness.detection.playing import Seen, play_broken
from harness.detection.reach import all_targets, wrapped_by
from harness.errors import HarnessError
from harness.explain import Explanation, explained
from harness.http.case import load_case
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from seeded_faults import Fault

__all__ = ["explanation_of", "explanations_of"]


def explanation_of(
    fault: Fault,
    files: Iterable[CassetteFile],
    waivers: Waivers,
    *,
    kept: Path,
    baselines: Path | None,
) -> Explanation | None:
    """The explanation of the first cassette that shows a fault; `None` where none does.

    The arguments are those of `explanations_of`.
    """
    found = explanations_of(fault, files, waivers, kept=kept, baselines=baselines)
    return next((explanation for _, explanation in found), None)


def explanations_of(
    fault: Fault,
    files: Iterable[CassetteFile],
    waivers: Waivers,
    *,
    kept: Path,
    baselines: Path | None,
) -> Iterator[tuple[str, Explanation]]:
    """Name and explanation of each cassette that shows a fault, one after the other.

    Args:
        fault: What is broken.
        files: The cassettes; those of the fault's own class come first.
        waivers: Those in force.
        kept: A folder for good runs, shared between calls.
        baselines: The published core's baselines, for faults of services.
    """
    for file in own_first(list(files), fault.behaviour):
        try:
            result = _result(fault, file, waivers, kept, baselines)
        except HarnessError:
            continue  # a cassette that cannot be played here shows nothing
        if result is not None and result.verdict is CaseVerdict.DIVERGENT:
            yield file.name, explained(result, *result.runtimes)


def _result(
    fault: Fault, file: CassetteFile, waivers: Waivers, kept: Path, baselines: Path | None
) -> CaseResult | None:
    leg = leg_of(fault)
    good = CorpusCase(
        load_case(file.path, file.root),
        waivers,
        name=file.name,
        file=file.path,
        kept=kept,
        baselines=baselines,
        noting=all_targets(CatalogueAt()),
    )
    if not wrapped_by(fault).touches(good.run(leg.broken).called):
        return None
    broken = play_broken(good.cassette, leg.broken, fault)
    if not isinstance(broken, Seen) or broken.digest == good.run(leg.broken).digest:
        return None
    return good.result(leg, broken.observation) if good.at_parity(leg) else None
