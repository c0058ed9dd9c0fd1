"""Is a revision green or red in one cassette? Two of its runtimes, or one against what is right."""

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
    """A runtime of the same revision, or what is right in every revision."""
    waivers: Waivers
    told: Callable[[Judged], None] = lambda judged: None
    """Is told of each revision."""
    results: dict[str, CaseResult] = field(default_factory=dict)
    """Commit to what its comparison came to."""

    def judge(self, commit: str) -> Judged:
        """Look at one revision; what cannot be told of it is skipped."""
        judged = self._judged(commit)
        self.told(judged)
        return judged

    def trace(self, commit: str) -> Observation:
        """What the judged runtime does in that revision.

        Raises:
            CannotTrace: it cannot be had.
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
        """What to call the two sides of a revision's comparison."""
        if isinstance(self.control, str):
            return self.control, self.runtime
        return "expected", f"{self.runtime} at {commit[:10]}"
