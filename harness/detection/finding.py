"""One case under one fault: found, not found, or no case to find anything with."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.canonical import printable
from harness.detection.good import GoodCase, Leg
from harness.detection.playing import Broke, Seen, play_broken
from harness.detection.reach import Wrapped
from harness.explain import explain, first_cause
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.replay.observation import Observation
from seeded_faults import Fault
from services.wire import JsonObject

__all__ = ["CaseOutcome", "Found", "FoundBy", "crashed", "difference", "look"]

_SHOWN = 300


class FoundBy(StrEnum):
    """How a fault gave itself away."""

    CRASH = "crash"
    """The broken run raised what nobody raises on purpose, hung, or passed its deadline: anybody
    would have noticed."""
    CHANNEL = "channel"
    """It came to its end, and one of the channels differs: the comparison noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What showed a fault first."""

    cassette: str
    by: FoundBy
    channel: str
    """The earliest channel that differs; empty for a crash."""
    place: str
    """Where in the channel, `events[4] usage: inputTokens`; of a crash what was raised."""
    says: str
    """What each side did there, in a line."""
    met: int
    """How many cases the fault had met by then, this one included."""

    def to_json(self) -> JsonObject:
        """As written to the kill matrix."""
        return {
            "cassette": self.cassette,
            "kind": self.by.value,
            "channel": self.channel,
            "place": self.place,
            "says": self.says,
            "met": self.met,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What became of one case. Neither of both: the case shows nothing of the fault."""

    found: Found | None = None
    left_out: str | None = None
    """Why the case cannot show a fault, whatever it does."""
    untouched: bool = False
    """The case calls nothing of what the fault wraps, and was not run."""
    unsteady: bool = False
    """Something was found that was not there when looked at again: it does not count."""


def look(
    fault: Fault, leg: Leg, good: GoodCase, met: int, wrapped: Wrapped | None = None
) -> CaseOutcome:
    """Run the case broken, and say whether that shows.

    A finding is looked at twice: broken runs must show it both times, and the good runtime must
    still do what it did before. What a fault leaves behind in the process, or a slow machine, is no
    finding of the harness.

    Args:
        fault: What to break.
        leg: Where it has to be found.
        good: The case.
        met: How many cases the fault has met with this one.
        wrapped: What the fault wraps: a case that calls none of it is not run.
    """
    if wrapped is not None and not wrapped.touches(good.run(leg.broken).called):
        return CaseOutcome(untouched=True)
    found = _found(fault, leg, good, met)
    if not isinstance(found, Found):
        return found
    again = _found(fault, leg, good, met)
    if not isinstance(again, Found) or not _still_good(leg, good):
        return CaseOutcome(unsteady=True)
    return CaseOutcome(found=found)


def _found(fault: Fault, leg: Leg, good: GoodCase, met: int) -> Found | CaseOutcome:
    broken = play_broken(good.cassette, leg.broken, fault)
    was = good.run(leg.broken)
    if isinstance(broken, Seen) and broken.digest == was.digest:
        return CaseOutcome()  # the same run: what the comparison says of it is known
    if not good.at_parity(leg):
        return CaseOutcome(left_out="the good runtimes do not agree on it")
    name = good.cassette.name
    if isinstance(broken, Broke):
        return _crash(name, broken.says, met)
    run = broken.observation
    reason = crashed(run, was.observation)
    if reason is not None:
        return _crash(name, run.paths.mask_text(reason), met)
    try:
        result = good.result(leg, run)
    except Exception as error:  # noqa: BLE001 - good runs were compared above: this one is no run
        return _crash(name, f"cannot be compared: {type(error).__name__}: {error}", met)
    if result.verdict is CaseVerdict.PARITY:
        return CaseOutcome()
    return difference(result, met)


def crashed(run: Observation, was: Observation) -> str | None:
    """Why the run counts as crashed: it ended so, or a runtime caught what nobody means to raise.

    A runtime tells of whatever escapes its loop in an `error` event with a stack. Where that is one
    of Python's own exceptions, code has failed, which any test of it would have shown.
    """
    if run.blocker is not None or (run.error is not None and run.error != was.error):
        return run.error or "the run stalled"
    before = set(_escaped(was))
    return next((error for error in _escaped(run) if error not in before), None)


def _escaped(run: Observation) -> Iterator[str]:
    for event in run.events:
        meta = event.get("_meta")
        if event.get("type") != "error" or not isinstance(meta, dict) or "stack" not in meta:
            continue
        kind = getattr(builtins, str(meta.get("errorName")), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            yield f"{kind.__name__}: {event.get('message')}"


def _still_good(leg: Leg, good: GoodCase) -> bool:
    now = good.rerun(leg.broken)
    if now.digest == good.run(leg.broken).digest:
        return True
    return good.result(leg, now.observation).verdict is CaseVerdict.PARITY


def _crash(cassette: str, error: str, met: int) -> Found:
    says = printable(error)[:_SHOWN]
    return Found(cassette=cassette, by=FoundBy.CRASH, channel="", place=says, says=says, met=met)


def difference(result: CaseResult, met: int) -> Found:
    """What a case that is not at parity shows, as the explainer words it."""
    cause = first_cause(result)
    control, candidate = (name or "?" for name in result.runtimes)
    lines = explain(result, control, candidate)
    channel = cause.channel.value if cause is not None else next(iter(result.cut), "requests")
    return Found(
        cassette=result.cassette,
        by=FoundBy.CHANNEL,
        channel=str(channel),
        place=printable(cause.place) if cause is not None else (lines or ["undecided"])[0][:_SHOWN],
        says="; ".join(lines[1:3] or lines)[:_SHOWN],
        met=met,
    )
