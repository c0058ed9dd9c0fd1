"""What a session remembers between invocations: the archive behind ADK's live session.

ADK's session holds only what the current invocation still works on; every turn that is settled
lives here, in the form in which the next request carries it, with the chat recording at its side.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtimes.adk.notes import Answer
from runtimes.adk.prompt_calls import PromptCalls
from services.bundle import Services
from services.chat import Chat, ChatSuccession, SentRequest
from services.chat_recording import ChatRecording
from services.recording.records import HistoryTurn
from services.scheduler.calls import CompletedToolCall
from services.wire import Content

__all__ = ["Conversation", "SentRequest"]


class Conversation(Chat, ChatSuccession):
    """The current chat, which `start` replaces in place, and the client's counters."""

    def __init__(self, services: Services) -> None:
        Chat.__init__(self, services)
        ChatSuccession.__init__(self, services)
        self.loops = services.new_loop_detector(self.shown_history)
        """Outlives chats: a reset keeps what it has seen."""
        self.calls = PromptCalls(services.hooks)
        """Which prompts hooks have seen; outlives chats too."""
        self.expected: Answer | None = None
        """The answer that the model layer has yielded, until an event brings it."""

    def expect(self, answer: Answer | None) -> None:
        """Have the next event bring this answer; `None`: it has."""
        self.expected = answer

    @property
    def current(self) -> Chat:
        """This object: other chats take its place in it."""
        return self

    def send(self, content: Content, *, prompt_id: str, display_content: str | None) -> SentRequest:
        """Take a user-role turn into history and recording, as the request about to be made.

        Raises:
            EmptyMessageError: the turn has no parts.
        """
        shown = None if display_content is None else [{"text": display_content}]
        return self.take_request(content, prompt_id=prompt_id, display_content=shown)

    def record_tool_calls(self, model: str, calls: Sequence[CompletedToolCall]) -> None:
        """Write a batch's outcome into the recording."""
        self.recording.record_tool_calls(model, calls)

    def _open(self, recording: ChatRecording, turns: Sequence[HistoryTurn]) -> None:
        self.begin(recording, turns)
