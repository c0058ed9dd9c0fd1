"""Generated samples: scenarios that are drawn independently, and show no divergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.gate.answer import Measurement, Reason, ReasonKind, Sample
from harness.gate.measurements import SampleRun
from harness.gate.rules import SampleRule
from harness.gate.scope import Judged, Scope, counted, listed
from harness.scenarios.between import profile_between
from harness.scenarios.profiles import PROFILES
from harness.third_party import runtime_names

__all__ = ["bound_in_words", "counted_samples", "judged_samples"]

_LEVEL = 0.05
_NOTHING = "nothing found"


def judged_samples(scope: Scope) -> tuple[list[Judged], tuple[Sample, ...]]:
    """A condition for each sample that the profile asks for, and what was drawn."""
    found, samples = [], []
    for rule in scope.rules.sample:
        judged, sample = _judged(scope, rule)
        found.append(judged)
        samples += [sample] if sample is not None else []
    return found, tuple(samples)


def counted_samples(scope: Scope) -> list[SampleRun]:
    """The runs that the answer counts: fresh, complete, and asked for by a rule."""
    found: dict[Path, SampleRun] = {}
    for rule in scope.rules.sample:
        found |= {run.file: run for run in _counting(_fresh(scope, rule))}
    return list(found.values())


def bound_in_words(examples: int, profile: str) -> str:
    """The bound that `examples` independent scenarios without a divergence prove, in words.

    Exact: of `n` draws without a hit, the rate whose chance of that is 5 % is `1 - 0.05 ** (1/n)`
    (Clopper and Pearson). `1 in N` is rounded down to two digits, which claims less.
    """
    one_in = str(int(1 / upper_rate(examples)))
    rounded = int(one_in[:2].ljust(len(one_in), "0"))
    return (
        f"0 divergences in {counted(examples, 'independent scenario')} of profile {profile}: "
        f"at 95 % fewer than 1 in {rounded:,}"
    )


def upper_rate(examples: int) -> float:
    """The rate of divergence that `examples` draws without one exclude at 95 %."""
    return 1.0 - float(_LEVEL ** (1.0 / examples))


def _judged(scope: Scope, rule: SampleRule) -> tuple[Judged, Sample | None]:
    about = _about(rule)
    fresh = _fresh(scope, rule)
    if not fresh:
        reason = _lacking(scope, rule, [run for run in scope.evidence.samples if _is(run, rule)])
        return Judged.of("samples", about, "not generated with the current files", [reason]), None
    counting = _counting(fresh)
    drawn = sum(run.drawn for run in counting)
    reasons = [*_against(scope, rule, fresh), *_too_few(scope, rule, fresh, counting)]
    clean = drawn > 0 and all(run.verdict == _NOTHING for run in fresh)
    if clean:
        says = bound_in_words(drawn, rule.profile)
    else:
        says = f"{counted(drawn, 'scenario')}; they prove no bound"
    sample = Sample(
        profile=rule.profile,
        profile_digest=fresh[0].profile_digest,
        seeds=tuple(run.seed for run in counting),
        examples=drawn,
        control=rule.control,
        candidate=rule.candidate,
        findings=len({name for run in fresh for name in run.fingerprints}),
        rate=upper_rate(drawn) if clean else None,
        says=says,
    )
    return Judged.of("samples", about, says, reasons), sample


def _fresh(scope: Scope, rule: SampleRule) -> list[SampleRun]:
    runs = (run for run in scope.evidence.samples if _is(run, rule))
    return [run for run in runs if not _stale(scope, run)]


def _is(run: SampleRun, rule: SampleRule) -> bool:
    return (
        run.way == "sample"
        and run.fault is None
        and (run.profile, run.control, run.candidate)
        == (rule.profile, rule.control, rule.candidate)
    )


def _stale(scope: Scope, run: SampleRun) -> list[str]:
    theirs = runtime_names(run.control, run.candidate)
    moved = scope.moved(run.facts.components, "waivers", *theirs)
    moved += scope.other_packages(run.facts.environment)
    known = run.profile in PROFILES
    now = profile_between(run.profile, run.control, run.candidate).digest if known else ""
    if now != run.profile_digest:
        moved.append("weights of the profile")
    return moved


def _counting(fresh: Sequence[SampleRun]) -> list[SampleRun]:
    """The longest whole run of each seed: a shorter one draws the same again."""
    longest: dict[int, SampleRun] = {}
    for run in fresh:
        if run.interrupted:
            continue
        before = longest.get(run.seed)
        if before is None or run.drawn > before.drawn:
            longest[run.seed] = run
    return [longest[seed] for seed in sorted(longest)]


def _measurement(scope: Scope, rule: SampleRule) -> Measurement:
    """The command that draws as many scenarios as the rule asks for.

    A pull request always draws the same scenarios, so that only its own changes can fail it. A
    release seeds them with its commit: a bound holds for draws that the code was not written for.
    """
    seed = scope.seed if scope.profile == "release" else rule.examples
    sides = ["--control", rule.control, "--candidate", rule.candidate]
    drawn = ["--profile", rule.profile, "--examples", str(rule.examples), "--seed", str(seed)]
    file = scope.folder / f"sample-{rule.profile}-{rule.control}-{rule.candidate}.json"
    return Measurement(
        kind="sample",
        about=_about(rule),
        words=("generate", "--sample", *drawn, *sides, "--json", str(file)),
        control=rule.control,
        candidate=rule.candidate,
        units=rule.examples,
    )


def _about(rule: SampleRule) -> str:
    return f"generated: {rule.profile}, {rule.control} ≡ {rule.candidate}"


def _lacking(scope: Scope, rule: SampleRule, runs: Sequence[SampleRun]) -> Reason:
    anew = _measurement(scope, rule)
    if not runs:
        says = f"no sample of profile {rule.profile} compares {rule.control} with {rule.candidate}"
        return scope.reason(ReasonKind.SAMPLE_MISSING, rule.profile, says, anew)
    says = f"{runs[0].file.name} was drawn with other {listed(_stale(scope, runs[0]))}"
    return scope.reason(ReasonKind.SAMPLE_STALE, rule.profile, says, anew)


def _against(scope: Scope, rule: SampleRule, fresh: Sequence[SampleRun]) -> Iterator[Reason]:
    """The findings of every run, however short."""
    for run in fresh:
        file = run.file.name
        if run.verdict == "findings":
            found = run.fingerprints
            says = f"{counted(len(found), 'finding')} in {file}: {listed(found)}"
            yield scope.reason(ReasonKind.SAMPLE_FINDINGS, rule.profile, says, run.command)
        elif run.verdict != _NOTHING:
            says = f"{file} contains undecided cases"
            yield scope.reason(ReasonKind.SAMPLE_UNDECIDED, rule.profile, says, run.command)


def _too_few(
    scope: Scope, rule: SampleRule, fresh: Sequence[SampleRun], counting: Sequence[SampleRun]
) -> Iterator[Reason]:
    drawn = sum(run.drawn for run in counting)
    if drawn < rule.examples:
        for run in fresh:
            if run.interrupted:
                says = f"{run.file.name} was interrupted after {counted(run.drawn, 'scenario')}"
                change = f"{run.command} --resume"
                yield scope.reason(ReasonKind.SAMPLE_UNDECIDED, rule.profile, says, change)
        says = f"{counted(drawn, 'scenario')} drawn, and {rule.examples:,} are required"
        anew = _measurement(scope, rule)
        yield scope.reason(ReasonKind.SAMPLE_SMALL, rule.profile, says, anew)
    for run in counting:
        old = scope.too_old(run.facts.as_of)
        if old:
            says = f"{run.file.name}: {old}"
            anew = _measurement(scope, rule)
            yield scope.reason(ReasonKind.SAMPLE_STALE, rule.profile, says, anew)
