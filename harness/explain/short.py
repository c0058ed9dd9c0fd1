"""A case in lines for a terminal: the place of its first cause, then `harness.explain`'s words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.canonical import printable
from harness.explain.cause import cause_of
from harness.explain.explaining import explained
from harness.parity.divergence import Divergence
from harness.parity.verdict import CaseResult

if TYPE_CHECKING:
    from harness.coverage.contract import Contract

__all__ = ["explain", "first_cause"]


def first_cause(result: CaseResult) -> Divergence | None:
    """The open divergence that explains the others; `None` where nothing is open.

    Of questions to the model, retries and calls, which are taken down as they happen, the one that
    happened first; then what is looked at when the run is over, and last what the client received:
    a different question explains everything that comes after it, a different event explains
    nothing.
    """
    evidence = cause_of(result)
    return None if evidence is None else evidence.first


def explain(
    result: CaseResult, control: str, candidate: str, contract: Contract | None = None
) -> list[str]:
    """Why the case is not parity, as lines for a terminal; empty where it is.

    The first line names the channel and the place, or says why nothing can be decided; the others
    are numbered sentences. Lines are printable, whatever is in a case.

    Args:
        result: The case, judged.
        control: The control's name.
        candidate: The candidate's name.
        contract: The numbered behaviours; without it none is named.
    """
    if result.blockers:
        return [printable(blocker) for blocker in result.blockers]
    found = first_cause(result)
    if found is not None:
        place = printable(f"{found.place} ({found.kind.value})")
        return [place, *explained(result, control, candidate, contract).lines()]
    channels = [f"{channel.value}: more differences than are listed" for channel in result.cut]
    return channels or [printable(doubt) for doubt in result.doubts]
