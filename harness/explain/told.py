"""The sentences: what was alike, what each side did, and where exactly they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.explain.another_order import Reordered, reordered
from harness.explain.evidence import Evidence
from harness.explain.words import CHANNELS, cut, ordinal, shown
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.provider.rules import RULES, Severity
from harness.timeline.fields import bounded_fields
from harness.timeline.model import Moment, MomentKind

__all__ = ["contradiction_of", "sentences_of"]

_PLACES: Final = 3
"""Places of one item that are told of."""


def sentences_of(evidence: Evidence, control: str, candidate: str) -> list[str]:
    """The sentences about the first cause; the first names its channel and what differs."""
    found = evidence.first
    told = [_opening(evidence, control, candidate)]
    if found.kind is Kind.NONDETERMINISTIC:
        told.extend(_unsteady(found, candidate))
    elif found.channel is ChannelName.PROVIDER and found.label in RULES:
        told.extend(_objection(found))
    elif found.kind is Kind.REPLAY:
        told.extend(_replayed(found, control, candidate))
    else:
        told.extend(_alike(evidence))
        told.extend(_sides(evidence, control, candidate))
    told.extend(_others(evidence))
    return [cut_sentence(sentence) for sentence in told]


def contradiction_of(evidence: Evidence, control: str, candidate: str) -> str:
    """The last sentence: what cannot both be right."""
    found = evidence.first
    if found.kind is Kind.NONDETERMINISTIC:
        return (
            f"One cassette with one clock leaves nothing to chance, and {candidate} did two "
            f"different things."
        )
    if found.kind is Kind.UNINHERITED:
        return f"{control} and {candidate} agree here, and neither agrees with what they replace."
    if found.kind is Kind.REPLAY:
        return "The same cassette was played to both; only one of them can have taken it as meant."
    if found.kind in (Kind.MISSING, Kind.EXTRA):
        one, other = (control, candidate) if found.kind is Kind.MISSING else (candidate, control)
        item = CHANNELS[found.channel].item
        return (
            f"Either that {item} belongs there, and {other} is wrong, or {one} is wrong to have it."
        )
    return CHANNELS[found.channel].cannot


def cut_sentence(text: str) -> str:
    """A sentence that one can still take in."""
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


_MOST: Final = 600


def _opening(evidence: Evidence, control: str, candidate: str) -> str:
    found = evidence.first
    words = CHANNELS[found.channel]
    where = f"The first difference is in {words.about} (channel {found.channel.value})"
    place = _place(found)
    if (order := reordered(evidence)) is not None:
        what = f"the same {order.count} results of calls in another order"
        return f"{where}: {place} has {what}." if order.at else f"{where}: {what}."
    match found.kind:
        case Kind.MISSING:
            return f"{where}: {control} {words.did} {place}, {candidate} did not."
        case Kind.EXTRA:
            return f"{where}: {candidate} {words.did} {place}, {control} did not."
        case Kind.ORDER:
            return f"{where}: {place} comes at another point."
        case Kind.NONDETERMINISTIC:
            return f"{where}: {candidate} differs from itself from run to run, at {place}."
        case Kind.UNINHERITED:
            both = f"{control} and {candidate} both {words.did} {place}"
            return f"{where}: {both}, the published core did not."
        case Kind.REPLAY:
            return f"{where}: the replay of the cassette went differently ({found.path})."
        case Kind.CHANGED:
            if found.channel is ChannelName.REQUESTS:
                return f"{where}: {control} and {candidate} put {place} differently."
            return f"{where}: {control} and {candidate} differ in {place}."


def _place(found: Divergence) -> str:
    """An item in words: `the second question to the model`."""
    index = found.control_index if found.control_index is not None else found.candidate_index
    item = CHANNELS[found.channel].item
    match found.channel:
        case ChannelName.WORKSPACE:
            return f"the file {cut(found.label)}"
        case ChannelName.COST:
            return f"the {found.path or 'sum'}"
        case ChannelName.EVENTS:
            item = f"event ({found.label})" if found.label else item
        case ChannelName.RETRIES:
            item = "retry" if found.sort == "retry" else f"report ({found.label})"
        case ChannelName.RECORDING:
            item = f"line of the recording ({found.label})"
        case ChannelName.REQUESTS:
            role = found.label.partition("(")[2].rstrip(")")
            aside = "" if role.startswith("main") else f" (for {role})"
            counted = " that only counts tokens" if found.label.startswith("countTokens") else ""
            item = f"question to the model{counted}{aside}"
        case _:
            pass
    return f"a {item}" if not isinstance(index, int) else f"the {ordinal(index)} {item}"


def _alike(evidence: Evidence) -> Iterator[str]:
    """How far both runs are alike, and what the last thing was that both did."""
    same = [row for row in evidence.before if evidence.result.waived.keys() >= set(row.divergences)]
    last = next((row.control for row in reversed(same) if row.control is not None), None)
    if evidence.at is None:
        return
    if last is None:
        yield "It is the first thing that happens in either run."
    elif len(same) == len(evidence.before):
        yield f"Both runs are alike up to there; the last thing both did: {last.line}."
    else:
        yield f"Shortly before, both did the same: {last.line}."


def _sides(evidence: Evidence, control: str, candidate: str) -> Iterator[str]:
    found, row = evidence.first, evidence.row
    if (order := reordered(evidence)) is not None:
        yield from _ordered(order, control, candidate)
        return
    here = None if row is None else row.control
    there = None if row is None else row.candidate
    if found.kind is Kind.ORDER:
        yield (
            f"{control} has it at position {found.control_index}, "
            f"{candidate} at position {found.candidate_index}: {shown(found.control)}."
        )
        return
    if found.kind in (Kind.MISSING, Kind.EXTRA):
        side, value, moment = (
            (control, found.control, here)
            if found.kind is Kind.MISSING
            else (candidate, found.candidate, there)
        )
        yield f"{side} {_line(moment) or shown(value)}."
        yield from _instead(evidence, candidate if found.kind is Kind.MISSING else control)
        return
    if here is not None and there is not None:
        if here.line == there.line:
            yield f"{control} and {candidate} both {_line(here)}; the difference is inside."
        else:
            yield f"{control} {_line(here)}."
            yield f"{candidate} {_line(there)}."
    for each in evidence.beside[:_PLACES]:
        yield _values(each, control, candidate)
    more = len(evidence.beside) - _PLACES
    if more > 0:
        yield f"{more} more place{'s' if more > 1 else ''} in it differ{'' if more > 1 else 's'}."


def _ordered(order: Reordered, control: str, candidate: str) -> Iterator[str]:
    """The same results, side by side."""
    where = f"At {order.at}{_turn_at(order.at)} " if order.at else ""
    how = " (ids of the calls: these results differ in nothing else)" if order.by_id else ""
    yield f"{where}{control} has: {order.listed(0)}{how}.".strip()
    yield f"{candidate} has: {order.listed(1)}."


def _line(moment: Moment | None) -> str:
    return "" if moment is None else moment.line


def _values(found: Divergence, control: str, candidate: str) -> str:
    here, there = (shown(value) for value in bounded_fields(found.control, found.candidate, _TEXT))
    if not found.path:
        return f"{control} has {here}, {candidate} has {there}."
    where = f"At {found.path}{_turn(found)}"
    if found.control == ABSENT:
        return f"{where} only {candidate} has something: {there}."
    if found.candidate == ABSENT:
        return f"{where} only {control} has something: {here}."
    return f"{where} {control} has {here}, {candidate} has {there}."


_TEXT: Final = 160
_CONTENT: Final = re.compile(r"contents\[(\d{1,9})\]")


def _turn(found: Divergence) -> str:
    """What a path into a question's contents means."""
    return _turn_at(found.path) if found.channel is ChannelName.REQUESTS else ""


def _turn_at(path: str) -> str:
    match = _CONTENT.match(path)
    return f" (turn {int(match[1]) + 1} of the conversation that is sent)" if match else ""


def _instead(evidence: Evidence, other: str) -> Iterator[str]:
    """What the side without the item did next."""
    which = "candidate" if evidence.first.kind is Kind.MISSING else "control"
    if evidence.first.channel in _KEPT or evidence.at is None:
        return
    following = (getattr(row, which) for row in evidence.after if row.kind not in _WHEN_IT_IS_OVER)
    moment = next((each for each in following if each is not None), None)
    if moment is None:
        yield f"{other} did nothing more in this run."
    else:
        yield f"{other} went on without it: {moment.line}."


_WHEN_IT_IS_OVER: Final = frozenset(
    {
        MomentKind.MEMORY,
        MomentKind.RECORDING,
        MomentKind.WORKSPACE,
        MomentKind.COST,
        MomentKind.NOTE,
    }
)
_KEPT: Final = frozenset(
    {ChannelName.TRANSCRIPT, ChannelName.RECORDING, ChannelName.WORKSPACE, ChannelName.COST}
)


def _unsteady(found: Divergence, candidate: str) -> Iterator[str]:
    yield f"{candidate}, {shown_text(found.control)}."
    yield f"{candidate}, {shown_text(found.candidate)}."


def shown_text(value: object) -> str:
    """A sentence part that is text already."""
    return cut(str(value))


def _replayed(found: Divergence, control: str, candidate: str) -> Iterator[str]:
    yield _REPLAY.get(found.path.partition("[")[0], "The replay itself noted it.")
    yield _values(found, control, candidate)


_REPLAY: Final = {
    "notes": "The model of a replay answers from the cassette and says when a question finds none.",
    "unusedSteps": "A step of the cassette is an answer of the model; some were never asked for.",
    "error": "How the run ended is not the same: an exception came out of a runtime.",
    "stalled": "One run could never have gone on by itself: nothing was left to happen.",
}


def _objection(found: Divergence) -> Iterator[str]:
    """What the API has against a question, and how we know."""
    rule = RULES[found.label]
    api = "refuses" if rule.severity is Severity.ERROR else "takes, though no client means it"
    value = found.candidate if found.control == ABSENT else found.control
    yield f"What the API {api}: {rule.says}"
    yield f"It is so at {found.path}, {shown_text(value)}."
    yield f"How that is known: {rule.evidence}"


def _others(evidence: Evidence) -> Iterator[str]:
    """What else differs: in consequence perhaps, but nobody can say."""
    beside = set(map(id, evidence.beside))
    counts = Counter(found.channel.value for _, found in evidence.open if id(found) not in beside)
    if counts:
        told = ", ".join(f"{channel} ({count})" for channel, count in counts.items())
        yield f"Also different, perhaps in consequence: {told}."
    cut_off = evidence.result.cut
    if cut_off:
        yield f"More differs than is listed in {', '.join(channel.value for channel in cut_off)}."
    waivers = sorted(set(evidence.result.waived.values()))
    if waivers:
        yield f"Left aside as accepted (waivers): {', '.join(waivers)}."
