"""A case in words: what each side did first, at the earliest place that can be the cause."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from harness.canonical import printable
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.provider.rules import RULES, Severity

__all__ = ["explain", "first_cause"]

_DID: Final = {
    ChannelName.REQUESTS: "asked the model",
    ChannelName.PROVIDER: "asked what the API objects to",
    ChannelName.RETRIES: "reported",
    ChannelName.TOOL_STATES: "took a call through",
    ChannelName.WORKSPACE: "left in the workspace",
    ChannelName.TRANSCRIPT: "remembered",
    ChannelName.RECORDING: "recorded",
    ChannelName.EVENTS: "emitted",
    ChannelName.COST: "spent",
}
_ORDER: Final = tuple(ChannelName)
_SHOWN: Final = 240


def first_cause(result: CaseResult) -> Divergence | None:
    """The first open divergence of the earliest channel that has one.

    Earliest in what causes what: a different question to the model explains everything that comes
    after it, a different event explains nothing. Within a channel a difference of the runs
    themselves comes before how the replay took it.
    """
    return min(
        result.open,
        key=lambda found: (_ORDER.index(found.channel), found.kind is Kind.REPLAY),
        default=None,
    )


def explain(result: CaseResult, control: str, candidate: str) -> list[str]:
    """Why the case is not parity, as lines for people; empty where it is.

    `control` and `candidate` are the runtimes' names. Lines are printable, whatever is in a case.
    """
    return [printable(line) for line in _lines(result, control, candidate)]


def _lines(result: CaseResult, control: str, candidate: str) -> list[str]:
    if result.blockers:
        return list(result.blockers)
    found = first_cause(result)
    if found is None:
        channels = [f"{channel.value}: more differences than are listed" for channel in result.cut]
        return channels or list(result.doubts)
    lines = [f"{found.place} ({found.kind.value})", *_sentences(found, control, candidate)]
    others = Counter(each.channel.value for each in result.open if each is not found)
    if others:
        told = ", ".join(f"{channel} ({count})" for channel, count in others.items())
        lines.append(f"also different, perhaps in consequence: {told}")
    if result.waived:
        lines.append(f"waived: {', '.join(sorted(set(result.waived.values())))}")
    return lines


def _sentences(found: Divergence, control: str, candidate: str) -> list[str]:
    if found.channel is ChannelName.PROVIDER and found.label in RULES:
        return _objections(found, control, candidate)
    did = _DID[found.channel]
    width = max(len(control), len(candidate)) + 1
    values = [
        f"{control + ':':<{width}} {_shown(found.control)}",
        f"{candidate + ':':<{width}} {_shown(found.candidate)}",
    ]
    match found.kind:
        case Kind.MISSING:
            return [f"{control} {did} this, {candidate} did not: {_item(found.control)}"]
        case Kind.EXTRA:
            return [f"{candidate} {did} this, {control} did not: {_item(found.candidate)}"]
        case Kind.ORDER:
            here, there = found.control_index, found.candidate_index
            return [
                f"{control} {did} this at {here}, {candidate} at {there}: {_item(found.control)}"
            ]
        case Kind.NONDETERMINISTIC:
            return [f"{candidate} differs from itself from run to run:", *values]
        case Kind.REPLAY:
            return ["the replay went differently:", *values]
        case Kind.CHANGED | Kind.UNINHERITED:
            return values


def _objections(found: Divergence, control: str, candidate: str) -> list[str]:
    """What the API has against a request, who asked it, and how we know."""
    rule = RULES[found.label]
    api = "refuses" if rule.severity is Severity.ERROR else "takes, though no client means it"
    who = {
        Kind.MISSING: f"{control} asked this, {candidate} did not",
        Kind.EXTRA: f"{candidate} asked this, {control} did not",
        Kind.UNINHERITED: f"{control} and {candidate} both asked this, the published core did not",
    }.get(found.kind, f"{candidate} asks this in some runs")
    value = found.candidate if found.control == ABSENT else found.control
    return [
        f"what the API {api}: {rule.says}",
        f"{who}: {found.path} {_item(value)}",
        f"evidence: {rule.evidence}",
    ]


def _item(value: object) -> str:
    """A whole item; one that was cut is JSON text already."""
    return _cut(value) if isinstance(value, str) else _shown(value)


def _shown(value: object) -> str:
    return _cut(json.dumps(value, sort_keys=True, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
