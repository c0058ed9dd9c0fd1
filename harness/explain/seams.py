"""Names the seam at which the first difference arose, by the rules of its channel.

Each channel has named rules (`Channel.seam`) over what differs, what came before, and which other
channels differ. A rule is `plainly` right only where no other seam gives the same signs.
"""

from __future__ import annotations

from harness.parity.channels import channel_of
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably, unknown

__all__ = ["seam_of"]


def seam_of(evidence: Evidence) -> Guess:
    """The seam, and the rule that named it."""
    guess = _channel_seam(evidence)
    if guess.sure and any(found.kind is Kind.REPLAY for _, found in evidence.open):
        # A run that broke off early can differ for several reasons.
        return probably(guess.rule, guess.seam, "the course of the replay differs, too")
    return guess


def _channel_seam(evidence: Evidence) -> Guess:
    first = evidence.first
    if first.kind is Kind.NONDETERMINISTIC:
        return unknown("unsteady")
    if first.kind is Kind.REPLAY:
        return _replay_seam(first)
    if (child := _of_a_child(evidence)) is not None:
        return child
    return channel_of(first.channel).seam(evidence)


def _replay_seam(first: Divergence) -> Guess:
    if first.path == "stalled":
        return probably("stalled", Seam.LIFECYCLE, "anything that never ends stalls a run")
    return unknown("replay")


def _of_a_child(evidence: Evidence) -> Guess | None:
    """The seam of what a child agent did, or of the result that its parent received."""
    first = evidence.first
    if first.channel is ChannelName.CHILDREN:
        return None
    doubt = "subagents share code with their parent"
    if "thread " in first.label and first.channel is not ChannelName.PROVIDER:
        return probably("done-by-child", Seam.SUBAGENTS, doubt)
    if "recentActivity" in first.path or evidence.shows("function response invoke_agent"):
        return probably("result-of-child", Seam.SUBAGENTS, doubt)
    return None
