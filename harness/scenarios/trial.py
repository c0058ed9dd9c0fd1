"""Runs one drawn scenario in both runtimes and compares them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path

from harness.canonical import sha256_hex
from harness.cassette.load import build_cassette
from harness.experiment.announcing import case_begins
from harness.explain import first_cause
from harness.faults.force import in_force
from harness.parity.compare import compare
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.provider.rules import RULES, Severity
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from seeded_faults import Fault
from services.wire import JsonObject

__all__ = ["UNDECIDED", "Trial", "fingerprint_of", "try_document"]

UNDECIDED = "undecided-"
"""Prefix of the fingerprints of undecided cases."""

_ROOT = Path("generated")
"""The root of drawn cassettes; no such folder is read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A scenario after its run."""

    document: JsonObject
    """The cassette, with the control's unused steps declared."""
    result: CaseResult
    reached: frozenset[str]
    """Probes that both runs reached (`harness.coverage.probes`)."""
    run_s: float
    """Processor time of the two runs, in seconds."""
    compare_s: float
    """Processor time of comparing them, in seconds."""
    provider_errors: frozenset[str] = frozenset()
    """Provider rules for which the API would have refused requests of the control."""
    misses: int = 0
    """How many requests of the control found no step."""

    @classmethod
    def undecided(cls, document: JsonObject, reason: str) -> Trial:
        """A scenario that decides nothing."""
        return cls(
            document=document,
            result=CaseResult.undecided(str(document["name"]), reason),
            reached=frozenset(),
            run_s=0.0,
            compare_s=0.0,
        )

    @property
    def fingerprint(self) -> str | None:
        """`fingerprint_of` the result."""
        return fingerprint_of(self.result)


def fingerprint_of(result: CaseResult) -> str | None:
    """An id of what is wrong, for names of files; `None` for parity.

    It is the fingerprint of the first cause, or for an undecided case a digest of the reason
    without numbers.
    """
    if result.verdict is CaseVerdict.PARITY:
        return None
    cause = first_cause(result)
    if cause is not None and not result.blockers:
        return cause.fingerprint
    if result.cut and not result.blockers:
        return f"cut-{result.cut[0]}"
    reasons = (*result.blockers, *result.doubts)
    reason = re.sub(r"\d+", "#", reasons[0]) if reasons else ""
    return f"{UNDECIDED}{sha256_hex(reason)[:12]}"


def try_document(
    document: JsonObject,
    control: str,
    candidate: str,
    waivers: Waivers,
    *,
    fault: Fault | None = None,
    deadline_s: float = 60,
    root: Path = _ROOT,
) -> Trial:
    """Run a cassette document in both runtimes and compare.

    Args:
        document: The cassette.
        control: The runtime that is right.
        candidate: The runtime that is judged.
        waivers: The accepted differences.
        fault: A seeded fault, for the side that it concerns.
        deadline_s: Real seconds for each run.
        root: The root of the cassette's files.

    Raises:
        FormatProblem: the document is no cassette.
    """
    case_begins()
    cassette = build_cassette(document, root / f"{document['name']}.yaml", root)
    begun = time.process_time()
    runs = []
    for side in (control, candidate):
        with in_force(fault, side):
            runs.append(run_cassette(cassette, side, deadline_s=deadline_s))
    ran = time.process_time()
    declared = replace(cassette, unused=tuple(runs[0].unused_steps))
    result = compare(runs[0], runs[1], declared, waivers)
    return Trial(
        document={**document, "unused": list(runs[0].unused_steps)},
        result=result,
        reached=frozenset(result.reached[0]).intersection(result.reached[1]),
        run_s=ran - begun,
        compare_s=time.process_time() - ran,
        provider_errors=_refused(runs[0]),
        misses=len(runs[0].notes),
    )


def _refused(run: Observation) -> frozenset[str]:
    found = {finding.rule for request in run.requests for finding in request.provider}
    return frozenset(rule for rule in found if RULES[rule].severity is Severity.ERROR)
