"""What child agents report about their work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from harness.parity.align import Pair
from harness.parity.channel import Channel, of_thread
from harness.parity.channels.events import event_label, event_text
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.items import Item
from harness.parity.rules import (
    EVERYWHERE,
    call_ids,
    error_stacks,
    event_ids,
    own_stacks,
    stream_ids,
    timestamps,
)
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted, short_json
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Children(Channel):
    name = ChannelName.CHILDREN
    about = "the reports of the subagents"
    did = "reported"
    item = "subagent report"
    cannot = "The work of the subagent is equal on both sides, so only one report can be right."

    rules = (event_ids, stream_ids, timestamps, own_stacks, error_stacks, call_ids, *EVERYWHERE)
    kind = MomentKind.CHILD

    def items(self, seen: Observation) -> list[JsonObject]:
        items: list[JsonObject] = []
        for child in seen.children:
            items.append({"thread": child.thread, "agent": child.agent})
            items.extend({"thread": child.thread, "activity": each} for each in child.activities)
            items.extend({"thread": child.thread, "event": event} for event in child.events or ())
        return items

    def label(self, item: JsonObject) -> str:
        if "activity" in item:
            return of_thread(str(item["activity"].get("type")), item)
        return of_thread(event_label(item["event"]) if "event" in item else "child", item)

    def implied(
        self, pairs: Sequence[Pair], control: Sequence[Item], candidate: Sequence[Item]
    ) -> Callable[[Item], bool]:
        """The reports of a child that only one side has: the child itself is reported."""
        lone = {
            item.value["thread"]
            for a, b in pairs
            if a is None or b is None
            for item in [control[a] if a is not None else candidate[b or 0]]
            if "agent" in item.value
        }
        return lambda item: "agent" not in item.value and item.value["thread"] in lone

    def text(self, item: Any) -> str:
        agent, thread = item.get("agent"), item.get("thread")
        if agent is not None:
            return f"started subagent {thread} ({agent})"
        return f"subagent {thread} {_did(item)}"

    def seam(self, evidence: Evidence) -> Guess:
        """Requests, calls and recordings do not differ before this."""
        sort = evidence.first.sort
        if sort == "child":
            return probably(
                "child-itself", Seam.SUBAGENTS, "the definitions of subagents may differ"
            )
        if not sort.isupper():  # activities are, events are not
            return probably("child-event", Seam.EVENTS, "the subagent may have emitted it so")
        return probably(
            "child-reported", Seam.SUBAGENTS, "the report may be true, and the work differ"
        )


def _did(item: Any) -> str:
    if "event" in item:
        return event_text(item["event"])
    activity = item["activity"]
    data = activity.get("data")
    shown = data if isinstance(data, dict) else {}
    said = shown.get("text") or shown.get("error")
    rest = quoted(said) if said else f"{shown.get('name')} {short_json(shown.get('args'))}".strip()
    return f"reported {activity.get('type')}: {rest}"


CHANNEL: Final = _Children()
