"""`explained`: a result in words, a function of the result alone.

Any writer can call it, on results that were just made or read back from a journal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from harness.canonical import printable
from harness.explain.cause import cause_of
from harness.explain.model import Explanation
from harness.explain.seams import seam_of
from harness.explain.sentences import contradiction_of, sentences_of
from harness.parity.guess import Seam
from harness.parity.verdict import CaseResult

if TYPE_CHECKING:
    from harness.coverage.contract import Contract

__all__ = ["explained"]

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
}
"""Classes of the contract that are about what lies behind a seam, likeliest first."""


def explained(
    result: CaseResult, control: str, candidate: str, contract: Contract | None = None
) -> Explanation:
    """Why a case is not parity, in sentences; without sentences where it is.

    Args:
        result: The case, judged.
        control: The control's name, as the reader knows it.
        candidate: The candidate's name.
        contract: The numbered behaviours; without it none is named.
    """
    if result.blockers:
        return _undecided(result, control, candidate)
    evidence = cause_of(result)
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


def _with_behaviour(made: Explanation, result: CaseResult, contract: Contract) -> Explanation:
    """The behaviour that the cassette declares and that lies behind the seam, if there is one."""
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
        differences = f"{hidden} difference{'' if hidden == 1 else 's'}"
        sentences.append(
            f"A control that differs from itself is nothing to compare with: {differences} between "
            f"{control} and {candidate} may be its own."
        )
    elif result.open:
        count = len(result.open)
        sentences.append(
            f"{count} difference{'' if count == 1 else 's'} seen all the same decide nothing."
        )
    return Explanation(channel=None, sentences=tuple(sentences))


def _doubtful(result: CaseResult) -> Explanation:
    if result.cut:
        sentences = tuple(
            f"The first difference is in channel {channel.value}: more differs than is listed, and "
            f"all that is listed is accepted."
            for channel in result.cut
        )
        return Explanation(channel=result.cut[0], sentences=sentences)
    if not result.doubts:
        return Explanation(channel=None, sentences=())
    sentences = tuple(
        f"All that was compared agrees, but it is not enough: {printable(doubt)}."
        for doubt in result.doubts
    )
    return Explanation(channel=None, sentences=sentences)
