"""`Chats`: the one chat of a conversation after another. Source: core `core/client.ts`."""

from __future__ import annotations

from collections.abc import Sequence

from runtimes.legacy.chat import GeminiChat
from services.bundle import Services
from services.chat import ChatSuccession, RequestParts
from services.chat_recording import ChatRecording
from services.model.generator import LlmRole
from services.recording.records import HistoryTurn

__all__ = ["Chats"]


class Chats(ChatSuccession):
    """The chats of one conversation, each an object of its own; the first begins at once."""

    _current: GeminiChat

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._request_parts = RequestParts(
            role=LlmRole.MAIN,
            system_instruction=services.prompts.system_instruction,
            tools=self.declarations.taken,
        )
        self.start()

    @property
    def current(self) -> GeminiChat:
        """The current chat."""
        return self._current

    def begin_turn(self, model: str) -> None:
        """Choose the tools that a turn of this model declares. Source: core `setTools`."""
        self.declarations.current(model)

    def _open(self, recording: ChatRecording, turns: Sequence[HistoryTurn]) -> None:
        self._current = GeminiChat(self._services, self._request_parts)
        self._current.begin(recording, turns)
