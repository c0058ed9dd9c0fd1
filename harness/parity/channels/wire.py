"""What a surface with a protocol sends and gets: its messages, in order. An item is one message."""

from __future__ import annotations

from typing import Any

from harness.parity.channel import Channel, When
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.rules import EVERYWHERE
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Wire(Channel):
    name = ChannelName.WIRE
    about = "the messages between the surface and its client"
    did = "exchanged"
    item = "message"
    cannot = "The client does the same on both sides, so only one message can be right."

    rules = EVERYWHERE
    when = When.AS_EMITTED
    kind = MomentKind.EVENT

    def items(self, seen: Observation) -> list[JsonObject]:
        return list(seen.wire)

    def text(self, item: Any) -> str:
        message = item["message"]
        method = message.get("method")
        if method is None:
            return f"{item['from']} answered request {message.get('id')}"
        update = (message.get("params") or {}).get("update") or {}
        about = f" ({update['sessionUpdate']})" if "sessionUpdate" in update else ""
        return f"{item['from']} sent {quoted(str(method))}{about}"

    def seam(self, evidence: Evidence) -> Guess:
        return probably("wire", Seam.SURFACE, "an event that no other channel has may be missing")


CHANNEL = _Wire()
