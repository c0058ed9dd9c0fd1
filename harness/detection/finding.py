"""Run one case with one fault: it finds the fault, misses it, or cannot show any fault."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.canonical import printable
from harness.codec import Coded
from harness.detection.good import GoodCase, Leg
from harness.detection.playing import Broke, Seen, play_broken
from harness.detection.reach import Wrapped
from harness.explain import explain, first_cause
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.replay.observation import Observation
from seeded_faults import Fault

__all__ = ["CaseOutcome", "Found", "FoundBy", "crashed", "difference", "look"]

_SHOWN = 300


class FoundBy(StrEnum):
    """How a fault was found."""

    CRASH = "crash"
    """The broken run raised an exception of Python, hung, or passed its deadline. No comparison is
    necessary to notice that."""
    CHANNEL = "channel"
    """The run came to its end, and the comparison found a difference in a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Coded):
    """The first finding of a fault."""

    cassette: str
    kind: FoundBy
    channel: str
    """The earliest channel that differs; empty for a crash."""
    place: str
    """Place in the channel, `events[4] usage: inputTokens`; for a crash the exception."""
    says: str
    """What each side did there, in a line."""
    met: int
    """Cases that were run with the fault so far, this one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """The outcome of one case. With no field set, the case does not show the fault."""

    found: Found | None = None
    left_out: str | None = None
    """Why the case cannot show any fault."""
    untouched: bool = False
    """Whether the case was not run, since it calls nothing that the fault wraps."""
    unsteady: bool = False
    """Whether a second run did not confirm the finding, which then does not count."""


def look(
    fault: Fault, leg: Leg, good: GoodCase, met: int, wrapped: Wrapped | None = None
) -> CaseOutcome:
    """Run the case with the fault in force, and compare.

    A finding counts if a second broken run confirms it, and a good run still gives the same
    result. That excludes traces of a fault in the process, and slow machines.

    Args:
        fault: What to break.
        leg: The comparison that has to find it.
        good: The case.
        met: Cases that were run with the fault, this one included.
        wrapped: What the fault wraps; a case that calls none of it is not run.
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
        return CaseOutcome()  # the same run as the good one
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
    except Exception as error:  # noqa: BLE001 - a broken run may hold anything
        return _crash(name, f"cannot be compared: {type(error).__name__}: {error}", met)
    if result.verdict is CaseVerdict.PARITY:
        return CaseOutcome()
    return difference(result, met)


def crashed(run: Observation, was: Observation) -> str | None:
    """Return why the run counts as crashed: it broke, or its runtime caught an exception of Python.

    A runtime emits what escapes its loop as an `error` event with a stack.
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
    return Found(cassette=cassette, kind=FoundBy.CRASH, channel="", place=says, says=says, met=met)


def difference(result: CaseResult, met: int) -> Found:
    """What a case that is not at parity shows, as the explainer words it."""
    cause = first_cause(result)
    control, candidate = (name or "?" for name in result.runtimes)
    lines = explain(result, control, candidate)
    channel = cause.channel.value if cause is not None else next(iter(result.cut), "requests")
    return Found(
        cassette=result.cassette,
        kind=FoundBy.CHANNEL,
        channel=str(channel),
        place=printable(cause.place) if cause is not None else (lines or ["undecided"])[0][:_SHOWN],
        says="; ".join(lines[1:3] or lines)[:_SHOWN],
        met=met,
    )
