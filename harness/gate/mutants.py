"""Mutants: the share of a sample of small edits of the source that the corpus finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.detection.bound import lower_bound
from harness.gate.answer import Measurement, MutantAnswer, Reason, ReasonKind
from harness.gate.measurements import MutantRun
from harness.gate.rules import MutantRule
from harness.gate.scope import Judged, Scope, counted, listed
from harness.inventory import HELPERS

__all__ = ["judged_mutants"]


def judged_mutants(scope: Scope) -> tuple[list[Judged], tuple[MutantAnswer, ...]]:
    """Return a condition for each part that the profile requires, and the counts."""
    found, answers = [], []
    for rule in scope.rules.mutants:
        judged, answer = _judged(scope, rule)
        found.append(judged)
        answers += [answer] if answer is not None else []
    return found, tuple(answers)


def _judged(scope: Scope, rule: MutantRule) -> tuple[Judged, MutantAnswer | None]:
    about = _about(rule)
    runs = [run for run in scope.evidence.mutants if run.parts == rule.parts]
    fresh = [run for run in runs if not _stale(scope, run)]
    if not fresh:
        reason = _lacking(scope, rule, runs)
        return Judged.of("mutants", about, "not measured with the current files", [reason]), None
    counting = _longest(fresh)
    tried = sum(run.whole.tried for run in counting)
    killed = sum(run.whole.found for run in counting)
    answer = MutantAnswer(
        part=rule.part,
        seeds=tuple(run.seed for run in counting),
        tried=tried,
        found=killed,
        bound=lower_bound(killed, tried),
    )
    says = f"{killed} of {tried} found, at least {answer.bound:.1%} at 95 %"
    reasons = [*_incomplete(scope, rule, counting), *_too_low(scope, rule, counting, answer)]
    return Judged.of("mutants", about, says, reasons), answer


def _stale(scope: Scope, run: MutantRun) -> list[str]:
    moved = scope.moved(run.facts.components, "corpus", HELPERS, "baselines", "waivers")
    return moved + scope.other_packages(run.facts.environment)


def _longest(fresh: Sequence[MutantRun]) -> list[MutantRun]:
    """Return the run with the most mutants of each seed: a smaller one draws the same ones."""
    longest: dict[int, MutantRun] = {}
    for run in fresh:
        before = longest.get(run.seed)
        if before is None or run.whole.tried > before.whole.tried:
            longest[run.seed] = run
    return [longest[seed] for seed in sorted(longest)]


def _about(rule: MutantRule) -> str:
    return f"mutants of the {rule.part} are found"


def _measurement(scope: Scope, rule: MutantRule) -> Measurement:
    """Return the measurement of as many mutants as the rule requires.

    A pull request that is judged by the policy of a revision draws places of the files that differ
    from it more often. A release uses its commit as the seed, as for generated scenarios.
    """
    seed = scope.seed if scope.profile == "release" else rule.sample
    words = ["mutants", "--in", rule.part, "--sample", str(rule.sample), "--seed", str(seed)]
    if rule.cases:
        words += ["--cases", str(rule.cases)]
    if scope.since and scope.profile == "pull_request":
        words += ["--since", scope.since]
    words += ["--json", str(scope.folder / f"mutants-{rule.part}.json")]
    return Measurement(
        kind="mutants", about=_about(rule), words=scope.over_corpus(*words), units=rule.sample
    )


def _lacking(scope: Scope, rule: MutantRule, runs: Sequence[MutantRun]) -> Reason:
    anew = _measurement(scope, rule)
    if not runs:
        says = f"there is no sample of mutants of the {rule.part}"
        return scope.reason(ReasonKind.MUTANTS_MISSING, rule.part, says, anew)
    says = f"{runs[0].file.name} was measured with other {listed(_stale(scope, runs[0]))}"
    return scope.reason(ReasonKind.MUTANTS_STALE, rule.part, says, anew)


def _incomplete(scope: Scope, rule: MutantRule, runs: Sequence[MutantRun]) -> Iterator[Reason]:
    for run in runs:
        anew = _measurement(scope, rule)
        if run.interrupted:
            says = f"{run.file.name} was interrupted"
            yield scope.reason(ReasonKind.MUTANTS_PARTIAL, rule.part, says, anew)
        old = scope.too_old(run.facts.as_of)
        if old:
            says = f"{run.file.name}: {old}"
            yield scope.reason(ReasonKind.MUTANTS_STALE, rule.part, says, anew)


def _too_low(
    scope: Scope, rule: MutantRule, runs: Sequence[MutantRun], answer: MutantAnswer
) -> Iterator[Reason]:
    if answer.tried < rule.sample:
        says = f"{counted(answer.tried, 'mutant')} tried, and {rule.sample} are required"
        anew = _measurement(scope, rule)
        yield scope.reason(ReasonKind.MUTANTS_FEW, rule.part, says, anew)
    elif answer.bound < rule.bound:
        survived = [each for run in runs for each in run.survivors]
        says = (
            f"{answer.found} of {answer.tried} found: at least {answer.bound:.1%} at 95 %, and "
            f"{rule.bound:.1%} is required; survived: {listed(survived)}"
        )
        name = survived[0] if survived else "FINGERPRINT"
        change = f"a cassette that shows it: parity mutants --mutant {name}"
        yield scope.reason(ReasonKind.MUTANTS_LOW, rule.part, says, change)
