"""`ChatHistory`: a chat's turns under their durable ids, and the places they may go back to.

Source: core `core/agentChatHistory.ts`, `core/geminiChat.ts`. Upstream copies and scrubs all turns
at every request; here `RequestView` keeps the request's contents ready.
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
    """A place that history may go back to: its number of turns, and the tokens they were."""

    length: int
    token_count: int


class ChatHistory:
    """The turns of one chat, oldest first. The configured model's family says how they show."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._ids: list[str] = []
        self._known = KnownHistory()
        self._prompt_start: tuple[str, HistoryMark] | None = None
        """The prompt id under way, and where history stood when it was first used."""
        self.view = RequestView()
        """The contents as a request carries them; every change below keeps it up to date."""
        self.generation = 0
        """Counts how often other turns took the place of all turns."""
        self.last_prompt_token_count = 0
        """How many tokens the last request had: the model's count, or an estimate of the turns."""

    @property
    def turn_ids(self) -> Sequence[str]:
        """The durable ids of the turns in `view.raw`, oldest first; not to be changed."""
        return self._ids

    def history(self) -> list[HistoryTurn]:
        """Every turn as it was taken in, with its durable id."""
        return list(zip(self._ids, self.view.raw, strict=True))

    def shown_history(self) -> list[Content]:
        """Every turn, invalid ones included, thoughts left out. Source: core `getHistory`."""
        self.match_configured_model()
        return self.view.whole()

    def curated_history(self) -> list[Content]:
        """The turns that are fit to be sent; coalesced and without thoughts, as the model wants."""
        self.match_configured_model()
        return self.view.curated() if self.view.strips_thoughts else curated_history(self.view.raw)

    def request_contents(self, model: str) -> list[Content]:
        """The contents of a request to `model`; equal turns are the same objects every time."""
        self.match_configured_model()
        signed = supports_modern_features(model) or is_gemini2_model(model)
        return self.view.contents(signed=signed)

    def match_configured_model(self) -> None:
        """Let the view follow a change of the configured model's family."""
        configured = self._state.model
        self.view.set_strip_thoughts(
            is_gemini2_model(configured) or supports_modern_features(configured)
        )

    def push(self, turn_id: str, content: Content) -> None:
        """Put a turn at the end."""
        self._ids.append(turn_id)
        self.view.append(content)

    def replace(self, turns: Sequence[HistoryTurn]) -> None:
        """Take other turns. Where the prompt began stays the number of turns that it was."""
        stable = self._known.stable(turns)
        self._ids = [turn_id for turn_id, _ in stable]
        self.match_configured_model()
        self.view.replace([content for _, content in stable])
        self.generation += 1
        self.last_prompt_token_count = self._known.tokens(self.view.raw)

    def mark(self, prompt_id: str) -> HistoryMark:
        """Where history stands. The first mark under a prompt id is where the prompt began."""
        mark = HistoryMark(len(self._ids), self.last_prompt_token_count)
        if self._prompt_start is None or self._prompt_start[0] != prompt_id:
            self._prompt_start = prompt_id, mark
        return mark

    def go_back(self, mark: HistoryMark) -> None:
        """Drop the turns that came after `mark`."""
        if mark.length <= len(self._ids):
            del self._ids[mark.length :]
            self.view.truncate(mark.length)
        self.last_prompt_token_count = mark.token_count
