"""One drawn scenario through both runtimes: what came of it, and what it reached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cassette.load import build_cassette
from harness.parity.compare import compare
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.wire import JsonObject

__all__ = ["Trial", "behaviours_of", "fingerprint_of", "try_document"]

_ROOT = Path("generated")
"""Where a drawn cassette would lie: nothing of it is ever read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A scenario that was run."""

    document: JsonObject
    """The cassette, with the steps that the control left over declared in `unused`."""
    result: CaseResult
    reached: frozenset[str]
    """Behaviours seen in both runs: see `behaviours_of`."""
    run_s: float
    """Processor time of the two runs, in seconds."""
    compare_s: float
    """Processor time of comparing them, in seconds."""

    @property
    def fingerprint(self) -> str | None:
        """What is wrong, so that the same thing found again is known; `None` for parity."""
        return fingerprint_of(self.result)


def fingerprint_of(result: CaseResult) -> str | None:
    """The earliest open divergence's fingerprint, or the blocker; `None` where both agree."""
    if result.verdict is CaseVerdict.PARITY:
        return None
    if result.open:
        return result.open[0].fingerprint
    reasons = (*result.blockers, *result.doubts)
    return f"undecided: {reasons[0] if reasons else 'no reason given'}"


def try_document(
    document: JsonObject, control: str, candidate: str, waivers: Waivers, *, deadline_s: float = 60
) -> Trial:
    """Run a cassette document in both runtimes and compare.

    Raises:
        CassetteFormatError: the document is no cassette.
    """
    cassette = build_cassette(document, _ROOT / f"{document['name']}.yaml", _ROOT)
    begun = time.process_time()
    runs = [run_cassette(cassette, side, deadline_s=deadline_s) for side in (control, candidate)]
    ran = time.process_time()
    declared = replace(cassette, unused=tuple(runs[0].unused_steps))
    result = compare(runs[0], runs[1], declared, waivers)
    return Trial(
        document={**document, "unused": list(runs[0].unused_steps)},
        result=result,
        reached=behaviours_of(runs),
        run_s=ran - begun,
        compare_s=time.process_time() - ran,
    )


def behaviours_of(runs: Sequence[Observation]) -> frozenset[str]:
    """Names of what every run reached: event kinds, ends, errors, tool states, roles, retries."""
    found = [frozenset(_reached(run)) for run in runs]
    return frozenset.intersection(*found) if found else frozenset()


def _reached(run: Observation) -> set[str]:
    names: set[str] = set()
    for event in run.events:
        kind = event.get("type")
        names.add(f"event {kind}")
        if kind == "agent_end":
            names.add(f"end {event.get('reason')}")
        elif kind == "error":
            names.add(f"error {event.get('status')}")
        elif kind == "tool_response" and event.get("isError"):
            names.add(f"tool error {(event.get('data') or {}).get('errorType')}")
    names.update(f"tool {state}" for states in run.tool_states.values() for state in states)
    names.update(f"asked by {request.role}" for request in run.requests)
    names.update(f"side {event.get('event')}" for event in run.side_events)
    names.update("retry" for _ in run.retries[:1])
    return names
