"""The custom channels of a project: effects of tools that no event shows, such as rows of a table.

A runtime declares their names (`RuntimeTraits.custom`) and returns their items
(`ShowsMore.shown`). Here they form one channel, whose items have the custom channel's name as their
label. docs/own-agent.md describes how a project adds one.
"""

from __future__ import annotations

from typing import Any, Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import ordinal, short_json
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Custom(Channel):
    name = ChannelName.CUSTOM
    about = "the custom channels of the project"
    did = "left"
    item = "item"
    cannot = "Both sides did the same work, so only one of the items can be right."

    kept = True
    kind = MomentKind.WORKSPACE

    def items(self, seen: Observation) -> list[JsonObject]:
        return [
            {"channel": name, "item": item}
            for name, items in sorted(seen.custom.items())
            for item in items
        ]

    def label(self, item: JsonObject) -> str:
        return str(item["channel"])

    def text(self, item: Any) -> str:
        return f"left in {item['channel']}: {short_json(item['item'])}"

    def place(self, found: Divergence) -> str:
        index = found.control_index if found.control_index is not None else found.candidate_index
        which = "an item" if index is None else f"the {ordinal(index)} item"
        return f"{which} of the custom channels ({found.label})"

    def seam(self, evidence: Evidence) -> Guess:
        return probably("custom", Seam.TOOL, "later steps may have the same effect")


CHANNEL: Final = _Custom()
