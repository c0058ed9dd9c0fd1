"""`AgentChatHistory`: a chat's turns under their durable ids, and the places they go back to.

Source: core `core/agentChatHistory.ts`, `core/geminiChat.ts`. Turns are not copied and scrubbed
whole at every request, as upstream does; `RequestView` keeps the request's contents ready.
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

__all__ = ["AgentChatHistory", "HistoryMark"]


@dataclass(frozen=True, slots=True)
class HistoryMark:
    """A place that history may go back to: its number of turns, and the tokens they were."""

    length: int
    token_count: int


@dataclass(frozen=True, slots=True)
class _PromptStart:
    """Where history stood when a prompt id was first used since the last return to one."""

    prompt_id: str
    mark: HistoryMark


class AgentChatHistory:
    """The turns of one chat, oldest first. The configured model's family says how they show."""

    def __init__(self, state: SessionState, turns: Sequence[HistoryTurn]) -> None:
        self._state = state
        self._ids = [turn_id for turn_id, _ in turns]
        self._view = RequestView(content for _, content in turns)
        self._known = KnownHistory()
        self._start: _PromptStart | None = None
        self.token_count = self._known.tokens(self._view.raw)
        """How many tokens the last request had: the model's count, or an estimate of the turns."""

    @property
    def raw(self) -> Sequence[Content]:
        """Every content as it was taken in; not to be changed."""
        return self._view.raw

    @property
    def strips_thoughts(self) -> bool:
        """Whether the configured model is shown no thoughts, and turns coalesced."""
        self._match_configured_model()
        return self._view.strips_thoughts

    def turns(self) -> list[HistoryTurn]:
        """Every turn as it was taken in, with its id."""
        return list(zip(self._ids, self._view.raw, strict=True))

    def shown(self) -> list[Content]:
        """Every turn, invalid ones included, thoughts left out."""
        self._match_configured_model()
        return self._view.whole()

    def curated(self) -> list[Content]:
        """The turns that are fit to be sent; coalesced and without thoughts, as the model wants."""
        if not self.strips_thoughts:
            return curated_history(self._view.raw)
        return self._view.curated()

    def request_contents(self, model: str) -> list[Content]:
        """The contents of a request to `model`; equal turns are the same objects every time."""
        self._match_configured_model()
        signed = supports_modern_features(model) or is_gemini2_model(model)
        return self._view.contents(signed=signed)

    def push(self, turn_id: str, content: Content) -> None:
        """Put a turn at the end."""
        self._ids.append(turn_id)
        self._view.append(content)

    def become(self, turns: Sequence[HistoryTurn]) -> None:
        """Have other turns; where the prompt began stays the number of turns that it was."""
        stable = self._known.stable(turns)
        self._ids = [turn_id for turn_id, _ in stable]
        self._view.replace([content for _, content in stable])
        self.token_count = self._known.tokens(self._view.raw)

    def begin_send(self, prompt_id: str) -> HistoryMark:
        """A send under `prompt_id` begins; returns where history stands before it."""
        mark = HistoryMark(len(self._ids), self.token_count)
        if self._start is None or self._start.prompt_id != prompt_id:
            self._start = _PromptStart(prompt_id, mark)
        return mark

    def go_back(self, mark: HistoryMark) -> None:
        """Forget what came after `mark`."""
        if mark.length <= len(self._ids):
            del self._ids[mark.length :]
            self._view.truncate(mark.length)
        self.token_count = mark.token_count

    def go_back_to_prompt(self) -> None:
        """Forget what came since the prompt of the send under way began, and that it began."""
        if self._start is not None:
            self.go_back(self._start.mark)
            self._start = None

    def _match_configured_model(self) -> None:
        configured = self._state.model
        self._view.set_strip_thoughts(
            is_gemini2_model(configured) or supports_modern_features(configured)
        )
