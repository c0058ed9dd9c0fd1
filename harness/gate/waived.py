"""Waivers: none may be expired, unused or exceeded, and there may not be too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.gate.answer import Reason, ReasonKind, WaiverAnswer
from harness.gate.legs import LegSeen
from harness.gate.scope import Judged, Scope, counted
from harness.parity.breadth import glob_pattern
from harness.parity.waiver import Waiver

__all__ = ["judged_waivers"]

_NOT_ASKED: Final = "not asked"
"""State of a waiver of other runtimes, or of cassettes that were not run."""
_WORST_FIRST: Final = ("exceeded", "expired", "used", "unused")
_KINDS: Final = {
    "expired": ReasonKind.WAIVER_EXPIRED,
    "unused": ReasonKind.WAIVER_UNUSED,
    "exceeded": ReasonKind.WAIVER_EXCEEDED,
}


def judged_waivers(
    scope: Scope, seen: Sequence[LegSeen]
) -> tuple[Judged, tuple[WaiverAnswer, ...], list[str]]:
    """The condition, the state of each waiver over all legs, and warnings of those that end soon.

    Only a complete run of a leg shows that a waiver is unused.
    """
    answers = tuple(_answer(scope, waiver, seen) for waiver in scope.waivers.entries)
    reasons = [reason for answer in answers for reason in _reasons(scope, answer)]
    most = scope.rules.waivers.most
    if len(answers) > most:
        says = f"{counted(len(answers), 'waiver')} in the file, and {most} are allowed"
        change = "fix their differences and remove them"
        reasons.append(scope.reason(ReasonKind.WAIVERS_TOO_MANY, "all", says, change))
    states = [answer.state for answer in answers]
    counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states))]
    says = f"{counted(len(answers), 'waiver')}" + (f": {', '.join(counts)}" if counts else "")
    lacks = scope.lacking(leg.rule for leg in seen)
    judged = Judged.of("waivers", f"waivers are valid at {scope.as_of}", says, reasons, lacks=lacks)
    return judged, answers, list(_warnings(scope))


def _answer(scope: Scope, waiver: Waiver, seen: Sequence[LegSeen]) -> WaiverAnswer:
    found = [
        status
        for leg in seen
        for status in leg.statuses
        if status.id == waiver.id and (status.state != "unused" or _could_use(waiver, leg))
    ]
    states = {status.state for status in found}
    state = next((each for each in _WORST_FIRST if each in states), _NOT_ASKED)
    if scope.as_of > waiver.expires:
        state = "expired"
    return WaiverAnswer(
        id=waiver.id,
        state=state,
        count=max((status.count for status in found), default=0),
        max_count=waiver.max_count,
        expires=waiver.expires.isoformat(),
        owner=waiver.owner,
    )


def _could_use(waiver: Waiver, leg: LegSeen) -> bool:
    """Whether the leg ran all of the waiver's cassettes, so that it could have used it."""
    record = leg.run.record
    ran = [name for name in record.finished if _meant(waiver, name)]
    not_run = {*record.missing, *record.skipped, *record.problems}
    if any(_meant(waiver, name) for name in not_run):
        return False
    # A waiver without any cassette is unused.
    return bool(ran) or not any(_meant(waiver, name) for name in record.planned)


def _meant(waiver: Waiver, cassette: str) -> bool:
    scenario = waiver.scenario
    return glob_pattern(scenario).fits(cassette) if "*" in scenario else scenario == cassette


def _reasons(scope: Scope, answer: WaiverAnswer) -> Iterator[Reason]:
    kind = _KINDS.get(answer.state)
    if kind is None:
        return
    fits = f"fits {answer.count} differences, and {answer.max_count} are allowed"
    extended = f"fix its differences, or let {answer.owner} extend it in waivers.toml"
    raised = f"fix the new differences, or let {answer.owner} raise its max_count in waivers.toml"
    what, change = {
        "expired": (f"ended on {answer.expires}", extended),
        "unused": ("covers no difference any more", "remove it from waivers.toml"),
        "exceeded": (fits, raised),
    }[answer.state]
    yield scope.reason(kind, answer.id, f"the waiver {answer.id} {what}", change)


def _warnings(scope: Scope) -> Iterator[str]:
    for waiver in scope.waivers.entries:
        days = (waiver.expires - scope.as_of).days
        if 0 <= days < scope.rules.waivers.warn_days:
            left = "today" if days == 0 else f"in {counted(days, 'day')}"
            yield f"the waiver {waiver.id} ends {left} ({waiver.expires}); owner {waiver.owner}"
