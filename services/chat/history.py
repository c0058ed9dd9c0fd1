"""`ChatHistory`: a chat's turns under their durable ids, and the marks for going back.

Upstream copies and cleans all turns for every request; here `RequestView` keeps the contents of
requests up to date.

Source: core `core/agentChatHistory.ts`, `core/geminiChat.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.history.transforms import curated_history
from services.history.view import RequestView
from services.model.names import is_gemini2_model, supports_modern_features
from services.recording.known_history import KnownHistory
from services.recording.records import HistoryTurn
from services.state import SessionState
from services.wire import Content

__all__ = ["ChatHistory", "HistoryMark"]


@dataclass(frozen=True, slots=True)
class HistoryMark:
    """A state of the history: its number of turns and of tokens."""

    length: int
    token_count: int


class ChatHistory:
    """The turns of one chat, oldest first. Their view depends on the configured model's family."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._ids: list[str] = []
        self._known = KnownHistory()
        self._prompt_start: tuple[str, HistoryMark] | None = None
        """The id of the current prompt, and the mark of its start."""
        self.view = RequestView()
        """The contents of requests; every change below updates it."""
        self.generation = 0
        """Counts the replacements of all turns."""
        self.last_prompt_token_count = 0
        """The tokens of the last request: the model's count, or an estimate of the turns."""

    @property
    def turn_ids(self) -> Sequence[str]:
        """The durable ids of the turns in `view.raw`, oldest first; read only."""
        return self._ids

    def history(self) -> list[HistoryTurn]:
        """Every turn as it was added, with its durable id."""
        return list(zip(self._ids, self.view.raw, strict=True))

    def shown_history(self) -> list[Content]:
        """Every turn, also invalid ones, without thoughts. Source: core `getHistory`."""
        self.match_configured_model()
        return self.view.whole()

    def curated_history(self) -> list[Content]:
        """The valid turns, coalesced and without thoughts if the model needs that."""
        self.match_configured_model()
        return self.view.curated() if self.view.strips_thoughts else curated_history(self.view.raw)

    def request_contents(self, model: str) -> list[Content]:
        """The contents of a request to `model`; equal turns are the same objects every time."""
        self.match_configured_model()
        signed = supports_modern_features(model) or is_gemini2_model(model)
        return self.view.contents(signed=signed)

    def match_configured_model(self) -> None:
        """Adapt the view to the family of the configured model."""
        configured = self._state.model
        self.view.set_strip_thoughts(
            is_gemini2_model(configured) or supports_modern_features(configured)
        )

    def push(self, turn_id: str, content: Content) -> None:
        """Add a turn."""
        self._ids.append(turn_id)
        self.view.append(content)

    def replace(self, turns: Sequence[HistoryTurn]) -> None:
        """Replace all turns. The mark of the prompt's start keeps its number of turns."""
        stable = self._known.stable(turns)
        self._ids = [turn_id for turn_id, _ in stable]
        self.view.replace([content for _, content in stable])
        self.generation += 1
        self.last_prompt_token_count = self._known.tokens(self.view.raw)

    def mark(self, prompt_id: str) -> HistoryMark:
        """The current mark. The first mark under a prompt id is the prompt's start."""
        mark = HistoryMark(len(self._ids), self.last_prompt_token_count)
        if self._prompt_start is None or self._prompt_start[0] != prompt_id:
            self._prompt_start = prompt_id, mark
        return mark

    def go_back(self, mark: HistoryMark) -> None:
        """Drop the turns after `mark`."""
        if mark.length <= len(self._ids):
            del self._ids[mark.length :]
            self.view.truncate(mark.length)
        self.last_prompt_token_count = mark.token_count
