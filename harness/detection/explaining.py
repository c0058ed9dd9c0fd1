"""What the explainer says about the cases that show a fault, to measure if it names the fault."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cassette.find import CassetteFile
from harness.detection.families import own_first
from harness.detection.good import Corpus, CorpusCase, leg_of
from harness.detection.playing import Seen, play_broken
from harness.detection.reach import wrapped_by
from harness.errors import HarnessError
from harness.explain import Explanation, explained
from harness.http.case import load_case
from harness.parity.verdict import CaseResult, CaseVerdict
from seeded_faults import Fault

__all__ = ["explanations_of"]


def explanations_of(fault: Fault, corpus: Corpus) -> Iterator[tuple[str, Explanation]]:
    """Name and explanation of each cassette that shows a fault; its own class comes first."""
    for file in own_first(corpus.files, fault.behaviour):
        try:
            result = _result(fault, file, corpus)
        except HarnessError:
            continue  # a cassette that cannot be played here shows nothing
        if result is not None and result.verdict is CaseVerdict.DIVERGENT:
            yield file.name, explained(result, *result.runtimes)


def _result(fault: Fault, file: CassetteFile, corpus: Corpus) -> CaseResult | None:
    leg = leg_of(fault)
    good = CorpusCase(load_case(file.path, file.root), file, corpus)
    if not wrapped_by(fault).touches(good.run(leg.broken).called):
        return None
    broken = play_broken(good.cassette, leg.broken, fault)
    if not isinstance(broken, Seen) or broken.digest == good.run(leg.broken).digest:
        return None
    return good.result(leg, broken.observation) if good.at_parity(leg) else None
