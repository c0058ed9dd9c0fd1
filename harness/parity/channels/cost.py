"""The cost of the run: model calls, tokens and the contents that were sent."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName, Divergence
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Cost(Channel):
    name = ChannelName.COST
    about = "the cost of the run"
    did = "used"
    item = "sum"
    cannot = "Both sides did the same work, so their costs must be equal."

    kept = True
    timing = True
    kind = MomentKind.COST

    def items(self, seen: Observation) -> list[JsonObject]:
        calls = Counter(f"{request.method}({request.role})" for request in seen.requests)
        tokens: dict[str, float] = dict.fromkeys(("inputTokens", "outputTokens", "cachedTokens"), 0)
        for event in seen.events:
            if event.get("type") == "usage":
                for name in tokens:
                    count = event.get(name)
                    tokens[name] += count if isinstance(count, int | float) else 0
        return [
            {
                "modelCalls": dict(calls),
                "tokens": tokens,
                # What prompt caches can serve: contents that the model has received before.
                "contentsSent": sum(request.contents_count for request in seen.requests),
                "contentsSentBefore": sum(request.same_as_previous for request in seen.requests),
            }
        ]

    def label(self, item: JsonObject) -> str:
        return "cost"

    def text(self, item: Any) -> str:
        tokens = item["tokens"]
        return (
            f"used {sum(item['modelCalls'].values())} model calls, "
            f"{tokens['inputTokens']} tokens in, {tokens['outputTokens']} out, "
            f"{item['contentsSent']} contents sent"
        )

    def place(self, found: Divergence) -> str:
        return f"the {found.path or 'sum'}"


CHANNEL: Final = _Cost()
