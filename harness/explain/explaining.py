"""Explains a result in words. Everything here is a function of the result alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from harness.canonical import printable
from harness.explain.model import Explanation
from harness.explain.seams import seam_of
from harness.explain.sentences import contradiction_of, sentences_of
from harness.parity.causes import first_cause_at
from harness.parity.divergence import Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Seam
from harness.parity.verdict import CaseResult
from harness.timeline.model import Timelines, unpack
from harness.wording import counted

if TYPE_CHECKING:
    from harness.coverage.contract import Contract

__all__ = ["explain", "explained", "first_cause"]

_NO_TIMELINES: Final = Timelines(rows=())

_CLASSES: Final = {
    Seam.REQUEST_ASSEMBLY: ("masking", "compression", "truncation", "streaming", "tools"),
    Seam.MODEL_CONFIG: ("routing", "fallback", "hooks"),
    Seam.ROUTING: ("routing", "fallback"),
    Seam.RETRY: ("errors", "invalid_stream"),
    Seam.FALLBACK: ("fallback",),
    Seam.STREAM: ("streaming", "invalid_stream"),
    Seam.SCHEDULER: ("tools", "truncation", "policy"),
    Seam.TOOL: ("tools", "mcp", "skills"),
    Seam.HOOKS: ("hooks",),
    Seam.POLICY: ("policy", "confirmation", "safety"),
    Seam.HISTORY: ("resume", "lifecycle", "abort", "masking", "compression"),
    Seam.RECORDING: ("recording", "resume"),
    Seam.EVENTS: ("streaming", "tools", "errors", "lifecycle"),
    Seam.LIFECYCLE: ("lifecycle", "abort", "limits", "next_speaker"),
    Seam.LOOPS: ("loops",),
    Seam.SUBAGENTS: ("subagents", "abort", "limits"),
    Seam.SURFACE: ("surfaces", "progress", "confirmation"),
}
"""Classes of the contract for each seam, the likeliest first."""


def explain(
    result: CaseResult, control: str, candidate: str, contract: Contract | None = None
) -> list[str]:
    """Explain a case in printable lines for a terminal; parity gives none.

    The first line names the channel and the place, or says why nothing can be decided. The others
    are the numbered sentences of `explained`.
    """
    if result.blockers:
        return [printable(blocker) for blocker in result.blockers]
    found = first_cause(result)
    if found is not None:
        place = printable(f"{found.place} ({found.kind.value})")
        return [place, *explained(result, control, candidate, contract).lines()]
    channels = [f"{channel.value}: more differences than are listed" for channel in result.cut]
    return channels or [printable(doubt) for doubt in result.doubts]


def first_cause(result: CaseResult) -> Divergence | None:
    """The open divergence that explains the others, by `first_cause_at`; `None` without any."""
    evidence = _evidence_of(result)
    return None if evidence is None else evidence.first


def explained(
    result: CaseResult, control: str, candidate: str, contract: Contract | None = None
) -> Explanation:
    """Explain why a case is not parity; parity gives no sentences.

    `control` and `candidate` are the sides' names as the reader knows them. Without a `contract`
    the explanation names no behaviour.
    """
    if result.blockers:
        return _undecided(result, control, candidate)
    evidence = _evidence_of(result)
    if evidence is None:
        return _doubtful(result)
    guess = seam_of(evidence)
    made = Explanation(
        channel=evidence.first.channel,
        sentences=tuple(map(printable, sentences_of(evidence, control, candidate))),
        contradiction=printable(contradiction_of(evidence, control, candidate)),
        seam=guess.seam,
        sure=guess.sure,
        doubt=guess.doubt,
        rule=guess.rule,
    )
    return made if contract is None else _with_behaviour(made, result, contract)


def _evidence_of(result: CaseResult) -> Evidence | None:
    """The first cause with the evidence for it; `None` where no divergence is open."""
    timelines = _unpacked(result)
    open_ = (each for each in enumerate(result.divergences) if each[0] not in result.waived)
    index = first_cause_at(open_, timelines.causes)
    return None if index is None else Evidence(result, timelines, index)


def _unpacked(result: CaseResult) -> Timelines:
    """The result's timelines. A journal is untrusted: broken timelines count as none."""
    if not result.timelines:
        return _NO_TIMELINES
    try:
        timelines = unpack(result.timelines)
    except ValueError:
        return _NO_TIMELINES
    known = len(result.divergences)
    named = (index for row in timelines.rows for index in row.divergences)
    fits = all(index < known for index in (*named, *timelines.causes))
    return timelines if fits else _NO_TIMELINES


def _with_behaviour(made: Explanation, result: CaseResult, contract: Contract) -> Explanation:
    """Add the behaviour that the cassette declares and whose class belongs to the seam, if any."""
    declared = [found for id_ in result.contract if (found := contract.by_id(id_)) is not None]
    for about in _CLASSES.get(made.seam, ()):
        for behaviour in declared:
            if behaviour.behaviour_class == about:
                return replace(
                    made,
                    behaviour=printable(behaviour.id),
                    source=printable(behaviour.source),
                )
    return made


def _undecided(result: CaseResult, control: str, candidate: str) -> Explanation:
    sentences = [f"Nothing can be decided: {printable(reason)}." for reason in result.blockers]
    if result.noise:
        hidden = sum(noise.hides for noise in result.noise)
        sentences.append(
            f"The runs of the control differ from each other, so "
            f"{counted(hidden, 'difference')} between {control} and {candidate} may be noise."
        )
    elif result.open:
        differences = counted(len(result.open), "difference")
        sentences.append(f"{differences} found, but the case stays undecided.")
    return Explanation(channel=None, sentences=tuple(sentences))


def _doubtful(result: CaseResult) -> Explanation:
    if result.cut:
        sentences = tuple(
            f"Channel {channel.value} has more differences than are listed. Waivers accept all "
            f"that are listed."
            for channel in result.cut
        )
        return Explanation(channel=result.cut[0], sentences=sentences)
    sentences = tuple(
        f"Everything that was compared agrees, but that is not enough: {printable(doubt)}."
        for doubt in result.doubts
    )
    return Explanation(channel=None, sentences=sentences)
