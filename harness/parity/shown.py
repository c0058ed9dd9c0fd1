"""Which channels a comparison uses: those that both sides show and the project does not leave out.

The channels and values that are not compared are taken out of both runs, so that nothing of them
shows in digests, timelines and explanations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation

__all__ = ["Shown", "as_shown", "unknown_channels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Both runs with what both of them show, and the reasons why channels are left out."""

    control: Observation
    candidate: Observation
    left_out: Mapping[str, str]
    """Channel, or `custom NAME` → why it is not compared. In causal order."""


def as_shown(control: Observation, candidate: Observation) -> Shown:
    """Return both runs as far as both show the same channels.

    The values that a project lets vary are those of both runs: a stored run may not have them.
    """
    left_out = {
        name.value: reason
        for name in ChannelName
        if (reason := _reason(name.value, control, candidate))
    }
    both = control.custom.keys() & candidate.custom.keys()
    for name in sorted(control.custom.keys() ^ candidate.custom.keys()):
        lacks = candidate if name in control.custom else control
        left_out[f"{ChannelName.CUSTOM.value} {name}"] = f"{lacks.runtime} does not show it"
    vary = tuple(dict.fromkeys((*control.vary, *candidate.vary)))
    if not left_out and control.vary == candidate.vary == vary:
        return Shown(control=control, candidate=candidate, left_out={})
    channels = frozenset(name.value for name in ChannelName if name.value not in left_out)
    here, there = (
        replace(
            seen,
            channels=channels,
            vary=vary,
            custom={name: items for name, items in seen.custom.items() if name in both},
        )
        for seen in (control, candidate)
    )
    return Shown(control=here, candidate=there, left_out=left_out)


def _reason(channel: str, control: Observation, candidate: Observation) -> str:
    """Return why a channel is not compared; empty if it is."""
    for seen in (control, candidate):
        if channel in seen.left_out:
            return f"the project leaves it out: {seen.left_out[channel]}"
    lacking = [seen.runtime for seen in (control, candidate) if not seen.shows(channel)]
    if not lacking:
        return ""
    names = list(dict.fromkeys(lacking))
    if len(names) == 1:
        return f"{names[0]} does not show it"
    return f"neither {names[0]} nor {names[1]} shows it"


def unknown_channels(names: frozenset[str]) -> list[str]:
    """Return those of `names` that no channel has, sorted."""
    return sorted(names - {name.value for name in ChannelName})
