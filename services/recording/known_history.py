"""`KnownHistory`: facts about a chat's contents that stay valid when the history is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from services.history.prefix import PerContent
from services.model.tokens import part_tokens
from services.recording.conversion import ensure_stable_tool_ids, lacks_tool_id
from services.recording.records import HistoryTurn
from services.wire import Content

__all__ = ["KnownHistory"]


class KnownHistory:
    """How many tokens each content is, and whether it has a call or response without an id."""

    def __init__(self) -> None:
        self._tokens = PerContent(_tokens)
        self._lacking = PerContent(lacks_tool_id)

    def stable(self, turns: Sequence[HistoryTurn]) -> list[HistoryTurn]:
        """`ensure_stable_tool_ids` of the turns."""
        lacking = self._lacking.of([content for _, content in turns])
        first = lacking.index(True) if True in lacking else len(turns)
        return ensure_stable_tool_ids(turns, first)

    def tokens(self, contents: Sequence[Content]) -> int:
        """`estimate_tokens` of all the contents' parts."""
        return floor(sum(self._tokens.of(contents)))


def _tokens(content: Content) -> float:
    return sum(map(part_tokens, content.get("parts") or ()))
