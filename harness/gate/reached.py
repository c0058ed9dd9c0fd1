"""The coverage condition: both runtimes must have reached every class of behaviour.

Nothing was compared in a class that was not reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.coverage.behaviour import BehaviourClass
from harness.coverage.table import Coverage, coverage
from harness.gate.answer import ClassAnswer, ReasonKind
from harness.gate.legs import LegSeen
from harness.gate.scope import Judged, Scope, counted, listed
from harness.parity.verdict import CaseResult

__all__ = ["judged_coverage"]

_NEVER_NAMED = 5
_SURFACES = BehaviourClass.SURFACES.value


def judged_coverage(
    scope: Scope, seen: Sequence[LegSeen]
) -> tuple[list[Judged], tuple[ClassAnswer, ...]]:
    """Return two conditions: classes are reached, and cassettes show their declared behaviours.

    There is none for a phase without a contract.
    """
    if scope.gates.reached_in is None:
        return [], ()
    rule = scope.gates.leg_called(scope.gates.reached_in)
    leg = next((leg for leg in seen if leg.rule == rule), None)
    cases = () if leg is None else leg.cases
    table = coverage(cases, scope.contract, scope.phase)
    behind = [each for each in seen if each.rule.surface is not None and not each.cut_off]
    answers = tuple(
        _shown_by_surfaces(scope, answer, behind) if answer.name == _SURFACES else answer
        for answer in _answers(scope, table, cases)
    )
    anew = scope.leg_measurement(rule).command
    # The rest of a partial run may reach more.
    whole = {each.rule.name for each in (*behind, *((leg,) if leg else ())) if not each.cut_off}
    asked = [rule, *(each for each in scope.legs if each.surface is not None)]
    lacks = [each.name for each in asked if each.name not in whole]
    judged = [
        _classes(scope, answers, anew, lacks),
        _declared(scope, table, cases, anew, lacks),
    ]
    return judged, answers


def _answers(scope: Scope, table: Coverage, cases: Sequence[CaseResult]) -> Iterator[ClassAnswer]:
    declared: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for case in cases:
        both = set(scope.contract.of_probes(case.reached[0]))
        both &= set(scope.contract.of_probes(case.reached[1]))
        declared.update(_classes_of(scope, case.contract))
        shown.update(_classes_of(scope, [] if case.blockers else both.intersection(case.contract)))
    of_contract = {each.behaviour_class.value: each for each in table.classes}
    for name in dict.fromkeys([*scope.gates.classes, *of_contract]):
        behaviours = of_contract.get(name)
        reached = () if behaviours is None else behaviours.both
        ids = () if behaviours is None else behaviours.behaviours
        yield ClassAnswer(
            name=name,
            declared=declared[name],
            cases=shown[name],
            behaviours=len(ids),
            reached=len(reached),
            never=tuple(each for each in ids if each not in reached),
        )


def _shown_by_surfaces(scope: Scope, answer: ClassAnswer, legs: Sequence[LegSeen]) -> ClassAnswer:
    """Return the answer of the class that only the legs behind surfaces can reach.

    A cassette does not say through which surface it is played, so it declares no such behaviour:
    each decided case that reaches one on both sides counts.
    """
    found: Counter[str] = Counter()
    for case in (case for leg in legs for case in leg.cases if not case.blockers):
        both = set(scope.contract.of_probes(case.reached[0]))
        both &= set(scope.contract.of_probes(case.reached[1]))
        found.update(each for each in both if _classes_of(scope, [each]) == {_SURFACES})
    never = tuple(each for each in answer.never if each not in found)
    reached = answer.behaviours - len(never)
    # The surfaces reach different behaviours, so no case counts twice.
    return answer.model_copy(update={"cases": found.total(), "reached": reached, "never": never})


def _classes_of(scope: Scope, ids: Sequence[str] | set[str]) -> set[str]:
    """Return the classes of a phase's behaviours by id."""
    found = (scope.contract.by_id(each) for each in ids)
    return {
        each.behaviour_class.value
        for each in found
        if each is not None and each.phase == scope.phase
    }


def _classes(
    scope: Scope, answers: Sequence[ClassAnswer], command: str, lacks: Sequence[str]
) -> Judged:
    reasons = []
    unobserved = [each.name for each in answers if each.name in scope.rules.unobserved]
    answers = [each for each in answers if each.name not in unobserved]
    for answer in answers:
        asked = scope.gates.classes.get(answer.name, 1)
        if answer.cases >= asked:
            continue
        says = (
            f"{answer.name}: both runtimes reached it in {counted(answer.cases, 'case')}, and "
            f"{asked} are required"
        )
        if answer.never:
            says += f"; not reached: {', '.join(answer.never[:_NEVER_NAMED])}"
        change = f"add cassettes that name these behaviours under `contract:`, then {command}"
        reasons.append(scope.reason(ReasonKind.CLASS_UNREACHED, answer.name, says, change))
    fine = len(answers) - len(reasons)
    total = sum(answer.behaviours for answer in answers)
    says = f"{fine} of {counted(len(answers), 'class', 'classes')} reached; "
    says += f"{sum(answer.reached for answer in answers)} of {counted(total, 'behaviour')}"
    if unobserved:
        says += f"; not asked for: {', '.join(unobserved)}"
    about = "every class is reached in both runtimes"
    return Judged.of("coverage", about, says, [] if lacks else reasons, lacks=lacks)


def _declared(
    scope: Scope,
    table: Coverage,
    cases: Sequence[CaseResult],
    command: str,
    lacks: Sequence[str],
) -> Judged:
    about = "cassettes show the behaviours that they name"
    reasons = []
    if table.unshown:
        found = [f"{each.cassette} does not show {each.behaviour}" for each in table.unshown]
        says = f"{counted(len(found), 'behaviour')} named and not shown: {listed(found)}"
        change = f"remove it from `contract:`, or fix the cassette; then {command}"
        about_ = table.unshown[0].cassette
        reasons.append(scope.reason(ReasonKind.BEHAVIOUR_UNREACHED, about_, says, change))
    if table.undeclarable:
        found = [f"{each.cassette} names {each.behaviour}" for each in table.undeclarable]
        says = f"not in the contract: {listed(found)}"
        change = "correct the number in the cassette, or add the behaviour to contract.md"
        about_ = table.undeclarable[0].cassette
        reasons.append(scope.reason(ReasonKind.BEHAVIOUR_UNREACHED, about_, says, change))
    naming = sum(bool(case.contract) for case in cases)
    says = f"{counted(naming, 'case')} of {len(cases):,} name behaviours"
    return Judged.of("coverage", about, says, reasons, lacks=lacks)
