"""The limits of a sign-off, as sentences computed from the evidence.

Each sentence names a subject that was not replayed, the age of recordings, or an assumption of the
verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from harness.cassette.format import Cassette, SetModel
from harness.coverage.contract import PHASES
from harness.gate.answer import GateAnswer, Leg
from harness.http.case import HttpCase
from harness.wording import listed
from services.model import names

__all__ = ["CorpusFacts", "not_said"]

_NAMED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFacts:
    """Counts over the cassettes' own facts."""

    cases: int = 0
    models: Mapping[str, int] = field(default_factory=dict)
    """Model to the number of cassettes that ask for it."""
    recorded: tuple[str, ...] = ()
    """The days on which cassettes were recorded, sorted, where known."""
    live: int = 0
    """Number of cassettes that were recorded rather than written by hand."""

    @classmethod
    def of(cls, cassettes: Iterable[object]) -> CorpusFacts:
        """Count over loaded cassettes; other objects count as cases only."""
        models: Counter[str] = Counter()
        recorded: list[str] = []
        cases = live = 0
        for loaded in cassettes:
            cases += 1
            cassette = loaded.cassette if isinstance(loaded, HttpCase) else loaded
            if not isinstance(cassette, Cassette):
                continue
            chosen = {act.model for act in cassette.script if isinstance(act, SetModel)}
            models.update({cassette.session.model, *chosen})
            live += cassette.provenance.kind == "recorded"
            if cassette.provenance.recorded_at:
                recorded.append(cassette.provenance.recorded_at[:10])
        return cls(
            cases=cases,
            models=dict(sorted(models.items())),
            recorded=tuple(sorted(recorded)),
            live=live,
        )


def not_said(
    answer: GateAnswer,
    corpus: CorpusFacts,
    environment: Mapping[str, str],
    classes: Collection[str],
    baselines: str,
    *,
    recordings_days: int,
    phases: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the sentences about the limits of a sign-off.

    Args:
        answer: The answer that is signed.
        corpus: Facts of the cassettes.
        environment: The machine of the run.
        classes: The contract's classes of the phase.
        baselines: Digest of the published core's baselines.
        recordings_days: Age from which a recording is old.
        phases: The phases of the gates: name → title.
    """
    return (
        *_models(corpus),
        _systems(answer.legs, environment),
        *_classes(answer, classes),
        *_phases(answer.phase, phases),
        *_settings(answer),
        _recordings(corpus, date.fromisoformat(answer.as_of), recordings_days),
        *_reproduction(answer.legs, environment, baselines),
    )


def _models(corpus: CorpusFacts) -> Iterable[str]:
    if not corpus.models:
        yield "No cassette says which model it is about."
        return
    known = _known_models()
    left_out = sorted(known - set(corpus.models))
    yield (
        f"Answers were replayed as those of {_listed(corpus.models)}; of no other model's is "
        "anything said" + (f", among them {_listed(left_out)}" if left_out else "") + "."
    )
    yield "No model was asked: how a live one answers either runtime is not said."


def _known_models() -> set[str]:
    """Return the models that the product knows by name."""
    return {
        value
        for name in names.__all__
        if name.startswith(("PREVIEW_", "DEFAULT_PRO", "BASE_", "LATEST_", "LEGACY_", "GEMMA_"))
        and isinstance(value := getattr(names, name), str)
    }


def _systems(legs: Sequence[Leg], environment: Mapping[str, str]) -> str:
    seen = {(leg.environment.get("platform"), leg.environment.get("python")) for leg in legs}
    seen.add((environment.get("platform"), environment.get("python")))
    systems = sorted(" with ".join(each for each in pair if each) for pair in seen)
    return f"It was run on {_listed(filter(None, systems))}, and on no other system."


def _classes(answer: GateAnswer, classes: Collection[str]) -> Iterable[str]:
    reached = {each.name for each in answer.coverage if each.reached}
    if missing := [name for name in classes if name not in reached]:
        yield f"Classes of behaviour that no case reached in both: {_listed(missing)}."
    never = [one for each in answer.coverage for one in each.never]
    if never:
        yield f"Behaviours of the contract that were not reached in both: {_listed(never)}."


def _phases(phase: str, phases: Mapping[str, str]) -> Iterable[str]:
    known = {**(PHASES if phase in PHASES else {}), **phases}
    others = [f"{name} ({title})" for name, title in known.items() if name != phase]
    if others:
        yield f"Nothing is said of the phases {', '.join(others)}."


def _settings(answer: GateAnswer) -> Iterable[str]:
    if answer.samples:
        drawn = [f"{each.profile} of {each.examples:,}" for each in answer.samples]
        yield (
            f"Generated scenarios were those of {_listed(drawn)} examples; a bound holds for the "
            "settings and inputs that its profile draws, and not for others."
        )
    else:
        yield "No scenarios were generated: there is no bound on how often the runtimes differ."
    if waived := [each.id for each in answer.waivers if each.count]:
        yield f"Where these waivers apply the runtimes do differ: {_listed(waived)}."


def _recordings(corpus: CorpusFacts, as_of: date, days: int) -> str:
    silent = corpus.cases - len(corpus.recorded)
    if not corpus.recorded:
        return (
            f"None of {corpus.cases} cassettes says when it was recorded ({corpus.live} say that "
            "they were): that today's service still answers so is not said."
        )
    oldest, newest = corpus.recorded[0], corpus.recorded[-1]
    last = (as_of - timedelta(days=days)).isoformat()
    old = sum(day < last for day in corpus.recorded)
    return (
        f"The oldest recording is of {oldest} and the newest of {newest}, {old} older than "
        f"{days} days; {silent} of {corpus.cases} cassettes do not say when they were recorded."
    )


def _reproduction(
    legs: Sequence[Leg], environment: Mapping[str, str], baselines: str
) -> Iterable[str]:
    """Yield what is known of legacy as a reproduction; nothing where no leg has it."""
    if not any("legacy" in f"{leg.control}+{leg.candidate}".split("+") for leg in legs):
        return
    core = environment.get("core", "unknown")
    of_core = [leg for leg in legs if "upstream" in leg.control or "upstream" in leg.name]
    if not of_core:
        yield (
            f"No run compares legacy with the published core: that legacy is a reproduction of "
            f"core {core} is not shown by this."
        )
        return
    runs = [
        f"{leg.control} and {leg.candidate} over {leg.cases} cases (traces {leg.digest[:16]})"
        for leg in of_core
    ]
    yield (
        f"That legacy is a reproduction is tied to core {core} by {_listed(runs)} and baselines "
        f"{baselines[:16] or 'of nothing'}; of other versions of the core nothing is said."
    )


def _listed(names: Iterable[str]) -> str:
    return listed(names, _NAMED)
