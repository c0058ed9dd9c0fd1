"""Judge revisions by one cassette: compare two of its runtimes, or one with an observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.explain import explain
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.replay.observation import Observation
from harness.triage.bisection import Judged, Light
from harness.triage.checkout import Worktree
from harness.triage.pairs import compared
from harness.triage.revision import CannotTrace, Tracer
from services.redaction import redacted

__all__ = ["Judge"]


@dataclass(slots=True, kw_only=True)
class Judge:
    """Judges revisions, one after the other, in one worktree."""

    tree: Worktree
    tracer: Tracer
    runtime: str
    """The runtime that is judged."""
    control: str | Observation
    """A runtime of the same revision, or the right observation for every revision."""
    waivers: Waivers
    on_judged: Callable[[Judged], None] = lambda judged: None
    """Called with each judged revision."""
    results: dict[str, CaseResult] = field(default_factory=dict)
    """Commit to the result of its comparison."""

    def judge(self, commit: str) -> Judged:
        """Judge one revision; it is skipped if it cannot be traced or is inconclusive."""
        judged = self._judged(commit)
        self.on_judged(judged)
        return judged

    def trace(self, commit: str) -> Observation:
        """The run of the judged runtime in that revision.

        Raises:
            CannotTrace: there is none.
        """
        self.tree.become(commit)
        return self.tracer.trace(self.tree, self.runtime)

    def _judged(self, commit: str) -> Judged:
        try:
            seen = self.trace(commit)
            control = self.control
            if isinstance(control, str):
                control = self.tracer.trace(self.tree, control)
        except CannotTrace as error:
            return Judged(commit, Light.SKIPPED, str(error))
        raw = compared(control, seen, seen.name)
        result = settle([raw], self.waivers)[0][0]
        self.results[commit] = result
        sides = self.sides(commit)
        words = redacted(next(iter(explain(result, *sides)), ""))
        match result.verdict:
            case CaseVerdict.PARITY:
                return Judged(commit, Light.GREEN)
            case CaseVerdict.DIVERGENT:
                return Judged(commit, Light.RED, words)
            case CaseVerdict.INCONCLUSIVE:
                return Judged(commit, Light.SKIPPED, words)

    def sides(self, commit: str) -> tuple[str, str]:
        """The names of the two sides of a revision's comparison."""
        if isinstance(self.control, str):
            return self.control, self.runtime
        return "expected", f"{self.runtime} at {commit[:10]}"
