"""What a surface with a protocol sends and gets: its messages, in order. An item is one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.parity.channel import Channel, When
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.items import Item, join, list_of, rule
from harness.parity.rules import EVERYWHERE
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted
from services.wire import JsonObject

__all__ = ["CHANNEL"]


@rule(marker='"messageId"')
def message_ids(item: Item) -> None:
    """A message id of A2A only identifies its message: a dropped update would change all later ids.

    An id that two messages share is a difference: ids map one to one.
    """
    for holder, path in _a2a_messages(item.value["message"]):
        if isinstance(holder.get("messageId"), str):
            item.rename("message_ids", holder, "messageId", join(path, "messageId"), "message")


def _a2a_messages(rpc: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    """The messages of A2A in a message of JSON-RPC, with their paths."""
    params, result = (rpc.get(key) or {} for key in ("params", "result"))
    status = result.get("status") or {}
    for holder, path in ((params, "message.params"), (status, "message.result.status")):
        if isinstance(holder.get("message"), dict):
            yield holder["message"], join(path, "message")
    for number, each in enumerate(list_of(result.get("history"))):
        yield each, f"message.result.history[{number}]"


class _Wire(Channel):
    name = ChannelName.WIRE
    about = "the messages between the surface and its client"
    did = "exchanged"
    item = "message"
    cannot = "The client does the same on both sides, so only one message can be right."

    rules = (message_ids, *EVERYWHERE)
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
