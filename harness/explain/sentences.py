"""The sentences of an explanation: what was equal, what each side did, where they differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.parity.another_order import Reordered, reordered
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.divergence import ABSENT, Divergence, Kind
from harness.parity.evidence import LONE, Evidence
from harness.timeline.fields import bounded_fields
from harness.timeline.model import MomentKind
from harness.timeline.words import cut
from harness.wording import counted
from services.wire import Json

__all__ = ["contradiction_of", "sentences_of"]

_MOST: Final = 600
"""Characters of a sentence."""
_PLACES: Final = 3
"""Places of one item that are listed."""


def sentences_of(evidence: Evidence, control: str, candidate: str) -> list[str]:
    """The sentences about the first cause; the first names its channel and what differs."""
    found = evidence.first
    sentences = [_opening(evidence, control, candidate)]
    if found.kind is Kind.NONDETERMINISTIC:
        values = (found.control, found.candidate)
        sentences.extend(f"{candidate}, {cut(str(each))}." for each in values)
    elif own := list(channel_of(found.channel).sentences(found)):
        sentences.extend(own)
    elif found.kind is Kind.REPLAY:
        sentences.extend(_replayed(found, control, candidate))
    else:
        sentences.extend(_alike(evidence))
        sentences.extend(_sides(evidence, control, candidate))
    sentences.extend(_others(evidence))
    return [cut(sentence, _MOST) for sentence in sentences]


def contradiction_of(evidence: Evidence, control: str, candidate: str) -> str:
    """The last sentence: why one side must be wrong."""
    found = evidence.first
    channel = channel_of(found.channel)
    if found.kind is Kind.NONDETERMINISTIC:
        return (
            f"The cassette and the clock are the same in every run, so {candidate} must not differ "
            f"from itself."
        )
    if found.kind is Kind.UNINHERITED:
        return f"{control} and {candidate} agree here, but both differ from the published core."
    if found.kind is Kind.REPLAY:
        return "Both sides replayed the same cassette, so only one of the two runs can be right."
    if found.kind in LONE and channel.remarks_on is None:
        one, other = (control, candidate) if found.kind is Kind.MISSING else (candidate, control)
        return f"Either {other} must have this {channel.item}, too, or {one} must not have it."
    return channel.cannot


def _opening(evidence: Evidence, control: str, candidate: str) -> str:
    found = evidence.first
    channel = channel_of(found.channel)
    where = f"The first difference is in {channel.about} (channel {found.channel.value})"
    place = channel.place(found)
    if (order := reordered(evidence)) is not None:
        what = f"the same {order.count} tool results in another order"
        return f"{where}: {place} has {what}." if order.at else f"{where}: {what}."
    match found.kind:
        case Kind.MISSING:
            return f"{where}: {control} {channel.did} {place}, {candidate} did not."
        case Kind.EXTRA:
            return f"{where}: {candidate} {channel.did} {place}, {control} did not."
        case Kind.ORDER:
            return f"{where}: {place} is at another position."
        case Kind.NONDETERMINISTIC:
            return f"{where}: the runs of {candidate} differ from each other at {place}."
        case Kind.UNINHERITED:
            both = f"{control} and {candidate} both {channel.did} {place}"
            return f"{where}: {both}, the published core did not."
        case Kind.REPLAY:
            return f"{where}: the course of the replay differs ({found.path})."
        case Kind.CHANGED:
            return f"{where}: {control} and {candidate} differ in {place}."


def _alike(evidence: Evidence) -> Iterator[str]:
    """How far both runs agree, and the last step that both took."""
    same = [row for row in evidence.before if evidence.result.waived.keys() >= set(row.divergences)]
    last = next((row.control for row in reversed(same) if row.control is not None), None)
    if evidence.at is None:
        return
    if last is None:
        yield "It is the first step of both runs."
    elif len(same) == len(evidence.before):
        yield f"Both runs are equal up to this point. Last common step: {last.line}."
    else:
        yield f"Last common step before it: {last.line}."


def _sides(evidence: Evidence, control: str, candidate: str) -> Iterator[str]:
    found, row = evidence.first, evidence.row
    if (order := reordered(evidence)) is not None:
        meaning = channel_of(found.channel).meaning(order.at)
        yield from _ordered(order, meaning, control, candidate)
        return
    here = None if row is None else row.control
    there = None if row is None else row.candidate
    if found.kind is Kind.ORDER:
        yield (
            f"{control} has it at position {found.control_index}, "
            f"{candidate} at position {found.candidate_index}: {_shown(found.control)}."
        )
        return
    if found.kind in LONE:
        if found.kind is Kind.MISSING:
            side, other, value, moment = control, candidate, found.control, here
        else:
            side, other, value, moment = candidate, control, found.candidate, there
        yield f"{side} {_shown(value) if moment is None else moment.line}."
        yield from _instead(evidence, other)
        return
    if here is not None and there is not None:
        if here.line == there.line:
            yield f"{control} and {candidate} both {here.line}; the difference is in the fields."
        else:
            yield f"{control} {here.line}."
            yield f"{candidate} {there.line}."
    for each in evidence.beside[:_PLACES]:
        yield _values(each, control, candidate)
    more = len(evidence.beside) - _PLACES
    if more > 0:
        yield f"{counted(more, 'more field')} differ{'' if more > 1 else 's'}."


def _ordered(order: Reordered, meaning: str, control: str, candidate: str) -> Iterator[str]:
    """The same results in the order of each side."""
    where = f"At {order.at}{meaning} " if order.at else ""
    how = " (the ids of the calls; the results are equal otherwise)" if order.by_id else ""
    yield f"{where}{control} has: {order.listed(0)}{how}.".strip()
    yield f"{candidate} has: {order.listed(1)}."


def _values(found: Divergence, control: str, candidate: str) -> str:
    here, there = (_shown(value) for value in bounded_fields(found.control, found.candidate, _TEXT))
    if not found.path:
        return f"{control} has {here}, {candidate} has {there}."
    where = f"At {found.path}{channel_of(found.channel).meaning(found.path)}"
    if found.control == ABSENT:
        return f"{where} only {candidate} has a value: {there}."
    if found.candidate == ABSENT:
        return f"{where} only {control} has a value: {here}."
    return f"{where} {control} has {here}, {candidate} has {there}."


_TEXT: Final = 160


def _instead(evidence: Evidence, other: str) -> Iterator[str]:
    """What the side that lacks the item did next."""
    which = "candidate" if evidence.first.kind is Kind.MISSING else "control"
    if channel_of(evidence.first.channel).kept or evidence.at is None:
        return
    following = (getattr(row, which) for row in evidence.after if row.kind not in _WHEN_IT_IS_OVER)
    moment = next((each for each in following if each is not None), None)
    if moment is None:
        yield f"{other} did nothing more in this run."
    else:
        yield f"{other} continued without it: {moment.line}."


_WHEN_IT_IS_OVER: Final = {MomentKind.NOTE, *(each.kind for each in CHANNELS if each.kept)}


def _replayed(found: Divergence, control: str, candidate: str) -> Iterator[str]:
    yield _REPLAY.get(found.path.partition("[")[0], "The replay noted this difference.")
    yield _values(found, control, candidate)


_REPLAY: Final = {
    "notes": "The replay notes a request for which the cassette has no response.",
    "unusedSteps": "A model step of the cassette is one response. Some steps were not requested.",
    "error": "The runs ended differently: a runtime raised an exception.",
    "stalled": "One run stalled: it waited for an event that could not happen.",
}


def _others(evidence: Evidence) -> Iterator[str]:
    """What else differs, what is not listed, and what waivers accept."""
    beside = set(map(id, evidence.beside))
    counts = Counter(found.channel.value for _, found in evidence.open if id(found) not in beside)
    if counts:
        others = ", ".join(f"{channel} ({count})" for channel, count in counts.items())
        yield f"Also different, possibly as a consequence: {others}."
    cut_off = evidence.result.cut
    if cut_off:
        yield f"Channels with more differences than are listed: {', '.join(cut_off)}."
    waivers = sorted(set(evidence.result.waived.values()))
    if waivers:
        yield f"Accepted by waivers: {', '.join(waivers)}."


def _shown(value: Json) -> str:
    """A value as short JSON; `nothing` where it is absent."""
    if value == ABSENT:
        return "nothing"
    return cut(json.dumps(value, sort_keys=True, ensure_ascii=False))
