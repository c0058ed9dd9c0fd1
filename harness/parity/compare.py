"""Compares two observations and returns a `CaseResult`, in pure functions.

Channels whose items have equal text are equal; `channel_diff` projects, aligns and compares the
others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from harness.canonical import canonical
from harness.coverage.probes import reached
from harness.parity.channel import Channel
from harness.parity.channel_diff import Aligned, align_channel, channel_divergences
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.diff import differences
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.listing import MAX_LISTED, listed
from harness.parity.provider import (
    NOT_AT_HAND,
    CommittedFinding,
    CoreFindings,
    ProviderOutcome,
    core_of,
    provider_outcome,
    unsettled_remarks,
)
from harness.parity.shown import as_shown
from harness.parity.side_by_side.build import packed_timelines
from harness.parity.threads import made_comparable
from harness.parity.times import late_divergences, times_are_comparable
from harness.parity.verdict import CaseResult, Noise, leftover_doubts
from harness.parity.waivers import Waivers, settle
from harness.replay.observation import Observation
from services.wire import Json, JsonObject

__all__ = [
    "MAX_LISTED",
    "CaseFacts",
    "Comparison",
    "compare",
    "compare_observations",
    "compare_repeated",
    "observation_digest",
]


class CaseFacts(Protocol):
    """What a comparison needs to know about a cassette."""

    @property
    def name(self) -> str:
        """`family/behaviour`."""

    @property
    def unused(self) -> Collection[int]:
        """The model steps that are declared unused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every difference between two observations, before waivers."""

    divergences: tuple[Divergence, ...] = ()
    """Channel by channel in causal order, within a channel in order of position."""
    cut: tuple[ChannelName, ...] = ()
    """Channels with more differences than are listed."""
    rules: Mapping[str, int]
    """Projection rule to the number of differences that it hid."""
    inherited: tuple[CommittedFinding, ...] = ()
    """Findings of the provider rules that the published core has, too."""
    unsettled: tuple[CommittedFinding, ...] = ()
    """Findings of both sides while those of the published core are not known."""
    digests: tuple[str, str]
    """Digest of everything observed on each side."""
    aligned: Mapping[ChannelName, Aligned] = field(default_factory=dict)
    """The aligned items of the channels that differ as text."""
    sides: tuple[Observation, Observation]
    """Both runs as compared: the indices of divergences count these items."""
    left_out: Mapping[str, str]
    """Channel that is not compared → the reason."""


def compare(
    control: Observation,
    candidate: Observation,
    cassette: CaseFacts,
    waivers: Waivers,
    *,
    core: CoreFindings = NOT_AT_HAND,
) -> CaseResult:
    """Judge one run of each side; waivers count within this case alone."""
    judged = compare_repeated([control], [candidate], cassette, core=core)
    return settle([judged], waivers)[0][0]


def compare_repeated(
    controls: Sequence[Observation],
    candidates: Sequence[Observation],
    cassette: CaseFacts,
    *,
    core: CoreFindings = NOT_AT_HAND,
    shows_parity: bool = False,
) -> CaseResult:
    """Judge one or more runs of each side, before waivers (`settle` applies those to a whole run).

    The first runs are compared with each other, each further run with the first of its own side. A
    control that differs from itself makes the case inconclusive. A candidate that differs from
    itself while the control does not is divergent.

    Args:
        controls: The runs of the control.
        candidates: The runs of the candidate.
        cassette: The case.
        core: The published core's findings, unless it is one of the sides. Without them findings
            that both sides share are only counted (`CaseResult.unsettled`).
        shows_parity: Keep the timelines of a case at parity, too. That costs some milliseconds.
    """
    control, candidate = controls[0], candidates[0]
    core = core_of(control, candidate) or core
    comparison = compare_observations(control, candidate, core)
    divergences = comparison.divergences
    noise = _noise(controls, divergences)
    blockers = _blockers(controls, candidates)
    if noise:
        places = ", ".join(each.place for each in noise[:3])
        blockers.append(f"{control.runtime} differs from itself from run to run at {places}")
    else:
        divergences += tuple(_instability(candidates))
    alike = control.unused_steps, candidate.unused_steps
    side_by_side = ""
    if divergences or shows_parity:
        side_by_side = packed_timelines(*comparison.sides, divergences, comparison.aligned)
    return CaseResult(
        cassette=cassette.name,
        blockers=tuple(blockers),
        doubts=(
            *leftover_doubts(*alike, cassette.unused),
            *_unfinished_doubts(control, candidate),
        ),
        remarks=(
            *_remarks(control, candidate),
            *unsettled_remarks(comparison.unsettled, core),
        ),
        divergences=divergences,
        cut=comparison.cut,
        rules=comparison.rules,
        inherited=comparison.inherited,
        unsettled=comparison.unsettled,
        noise=noise,
        digests=comparison.digests,
        runtimes=(control.runtime, candidate.runtime),
        reached=(reached(control), reached(candidate)),
        cost=(_cost(control), _cost(candidate)),
        left_out=comparison.left_out,
        timelines=side_by_side,
    )


def _cost(seen: Observation) -> JsonObject:
    """The cost channel's one item."""
    item: JsonObject = channel_of(ChannelName.COST).items(seen)[0]
    return item


def _blockers(controls: Sequence[Observation], candidates: Sequence[Observation]) -> list[str]:
    """Why runs decide nothing; a reason that both sides share appears once.

    A run that hangs while the other side's run ends is a difference: virtual time shows for certain
    that nothing was left to happen. Only when both hang there is nothing to compare.
    """
    hangs = [any(seen.hung for seen in runs) for runs in (controls, candidates)]
    stuck: dict[str, dict[str, None]] = {}
    for seen in [*controls, *candidates]:
        if hangs[0] != hangs[1] and seen.hung:
            continue
        if seen.blocker is not None:
            stuck.setdefault(seen.paths.mask_text(seen.blocker), {})[seen.runtime] = None
    return [f"{' and '.join(names)} {reason}" for reason, names in stuck.items()]


def _noise(controls: Sequence[Observation], divergences: Sequence[Divergence]) -> tuple[Noise, ...]:
    found: dict[str, Divergence] = {}
    for again in controls[1:]:
        for each in compare_observations(controls[0], again).divergences:
            found.setdefault(each.fingerprint, each)
    hidden = Counter(each.fingerprint for each in divergences)
    return tuple(Noise(place=each.place, hides=hidden[print_]) for print_, each in found.items())


def _instability(candidates: Sequence[Observation]) -> Iterator[Divergence]:
    first: Divergence | None = None
    differing = 0
    for again in candidates[1:]:
        found = compare_observations(candidates[0], again).divergences
        differing += bool(found)
        first = first or next(iter(found), None)
    if first is not None:
        rate = f"{differing} of {len(candidates) - 1} repetitions differ from the first run"
        yield replace(
            first,
            kind=Kind.NONDETERMINISTIC,
            control=f"first run: {canonical(first.control)}",
            candidate=f"{rate}: {canonical(first.candidate)}",
        )


def _remarks(control: Observation, candidate: Observation) -> tuple[str, ...]:
    here, there = _replay_facts(control), _replay_facts(candidate)
    remarks = []
    if here["notes"] == there["notes"] != []:
        remarks.append(f"the replay noted on both sides: {'; '.join(here['notes'])}")
    if here["error"] == there["error"] is not None:
        remarks.append(f"both sides ended with the same error: {here['error']}")
    return tuple(remarks)


def _unfinished_doubts(control: Observation, candidate: Observation) -> tuple[str, ...]:
    """Doubts about work that both sides left unfinished; what only one left is a divergence."""
    left = _replay_facts(control).get("unfinished", [])
    both = left if left == _replay_facts(candidate).get("unfinished") else []
    return tuple(f"both sides left work unfinished: {found}" for found in both)


def compare_observations(
    control: Observation, candidate: Observation, core: CoreFindings = NOT_AT_HAND
) -> Comparison:
    """Compare every channel, and the replay itself.

    `core` decides which findings of the channel `provider` are inherited.
    """
    here, there = hashlib.sha256(), hashlib.sha256()
    as_run = (control, candidate)
    both = as_shown(control, candidate)
    comparable = made_comparable(both.control, both.candidate)
    control, candidate = comparable.control, comparable.candidate
    fired: Counter[str] = Counter(comparable.fired)
    found: list[Divergence] = list(_replay_divergences(control, candidate))
    cut: list[ChannelName] = []
    aligned: dict[ChannelName, Aligned] = {}
    provider = ProviderOutcome()
    if control.shows(ChannelName.PROVIDER):
        provider = provider_outcome(control, candidate, core)
    for channel in CHANNELS:
        mine, theirs = _brief_text(channel, control), _brief_text(channel, candidate)
        here.update(mine.encode())
        there.update(theirs.encode())
        every: Iterator[Divergence] = iter(())
        if channel.name is ChannelName.PROVIDER:
            every = iter(provider.divergences)
        elif mine != theirs:
            aligned[channel.name] = align_channel(channel, control, candidate)
            every = channel_divergences(channel, control, candidate, fired, aligned[channel.name])
        shown, more = listed(every)
        found.extend(shown)
        cut.extend([channel.name] if more else [])
    if not found and not fired["thread_interleaving"] and times_are_comparable(control, candidate):
        found.extend(late_divergences(control, candidate, aligned))
        if found:
            del fired["timestamps"]
    here.update(canonical(_replay_facts(control)).encode())
    there.update(canonical(_replay_facts(candidate)).encode())
    return Comparison(
        divergences=tuple(found),
        cut=tuple(cut),
        rules=dict(sorted(fired.items())),
        inherited=provider.inherited,
        unsettled=provider.unsettled,
        digests=(
            here.hexdigest() if control is as_run[0] else observation_digest(as_run[0]),
            there.hexdigest() if candidate is as_run[1] else observation_digest(as_run[1]),
        ),
        aligned=aligned,
        sides=(control, candidate),
        left_out=both.left_out,
    )


def observation_digest(seen: Observation) -> str:
    """SHA-256 over the whole observation, paths replaced: equal for equal runs."""
    running = hashlib.sha256()
    for channel in CHANNELS:
        running.update(_brief_text(channel, seen).encode())
    running.update(canonical(_replay_facts(seen)).encode())
    return running.hexdigest()


def _brief_text(channel: Channel, seen: Observation) -> str:
    items = channel.brief(seen) if seen.shows(channel.name.value) else ()
    return seen.paths.mask_json(canonical(list(items)))


def _replay_facts(seen: Observation) -> dict[str, Any]:
    left = list(map(seen.paths.mask_text, seen.unfinished))
    return {
        **({"unfinished": left} if left else {}),
        "notes": list(map(seen.paths.mask_text, seen.notes)),
        "unusedSteps": list(seen.unused_steps),
        "error": None if seen.error is None else seen.paths.mask_text(seen.error),
        "stalled": seen.stalled,
    }


def _replay_divergences(control: Observation, candidate: Observation) -> Iterator[Divergence]:
    here, there = _replay_facts(control), _replay_facts(candidate)
    if here == there:
        return
    places = (control.error_place, candidate.error_place)
    for found in differences(here, there):
        values = (found.control, found.candidate)
        if found.path == "error":
            values = tuple(map(_with_place, values, places))
        yield Divergence(
            cassette=control.name,
            channel=ChannelName.REQUESTS,
            kind=Kind.REPLAY,
            label="replay",
            path=found.path,
            control=values[0],
            candidate=values[1],
        )


def _with_place(error: Json, place: str) -> Json:
    return f"{error} ({place})" if isinstance(error, str) and place else error
