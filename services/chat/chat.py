"""`Chat`: a history with its recording, and the effects of a request and its answer on both.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.bundle import Services
from services.chat.history import ChatHistory, HistoryMark
from services.chat_recording import ChatRecording
from services.history.binary import binary_received, split_binary_injections
from services.history.transforms import INTERRUPTED_RESPONSE_PLACEHOLDER, has_function_response
from services.model.errors import EmptyMessageError, is_cancellation
from services.model.parts import part_list_to_string
from services.model.stream import AssembledTurn
from services.output_masking import MaskingResult
from services.recording.records import HistoryTurn
from services.scheduler.calls import CompletedToolCall
from services.wire import Content, Part

__all__ = ["Chat", "SentRequest"]


@dataclass(frozen=True, slots=True)
class SentRequest(HistoryMark):
    """A user-role turn that is sent to the model, and the mark of the history before it."""

    answers_tools: bool


class Chat(ChatHistory):
    """One chat. Call `begin` first; a second `begin` starts another chat."""

    def __init__(self, services: Services) -> None:
        super().__init__(services.state)
        self._services = services
        self.recording: ChatRecording = services.new_recording()
        self.sending = asyncio.Lock()
        """Hold it during a request and its answer, so that there is one at a time."""

    def begin(self, recording: ChatRecording, turns: Sequence[HistoryTurn]) -> None:
        """Begin with `turns`, and write them to the initialised `recording`."""
        self.recording = recording
        self._prompt_start = None
        self.become(turns)

    def become(self, turns: Sequence[HistoryTurn]) -> None:
        """Replace the history, and update the recording."""
        self.replace(turns)
        self._sync_recording()

    def replace_history(self, contents: Sequence[Content]) -> None:
        """Replace the history, and record each content as a new turn."""
        self.become(self.recording.record_history(contents))

    def add_history(self, content: Content) -> None:
        """Add a turn to the history and the recording without sending it."""
        self.push(*self.recording.record_content(content))

    def mask(self) -> MaskingResult | None:
        """Mask the long and old tool outputs; `None` if there are none."""
        self.match_configured_model()
        masking, view = self._services.masking, self.view
        if not masking.due(view.raw, coalesced=view.strips_thoughts):
            return None
        result = masking.mask(self.shown_history(), live=view.raw)
        if not result.masked_count:
            return None
        self.replace_history(result.history)
        return result

    def take_request(
        self, content: Content, *, prompt_id: str, display_content: list[Part] | None = None
    ) -> SentRequest:
        """Add the user-role turn of the next request to history and recording.

        `display_content` is recorded too, if its text differs from the turn's.

        Raises:
            EmptyMessageError: the turn has no parts.
        """
        if not content.get("parts"):
            raise EmptyMessageError
        mark = self.mark(prompt_id)
        answers_tools = has_function_response(content)
        if answers_tools:
            self._take_tool_response(content)
        else:
            self._close_unanswered_response()
            self._take_message(content, display_content)
        return SentRequest(mark.length, mark.token_count, answers_tools)

    def answer(self, turn: AssembledTurn, model: str) -> None:
        """Add the model's turn to recording and history."""
        recording = self.recording
        for thought in turn.thoughts:
            recording.record_thought(thought.subject, thought.description)
        if turn.usage is not None:
            recording.record_tokens(turn.usage)
            prompt_tokens = turn.usage.get("promptTokenCount")
            if prompt_tokens is not None:
                self.last_prompt_token_count = prompt_tokens
        if turn.recorded_as_message:
            turn_id = recording.record_message(
                type="gemini", content=turn.response_text, model=model
            )
        else:
            turn_id = recording.record_synthetic_message("gemini", turn.parts)
        self.push(turn_id, {"role": "model", "parts": turn.parts})

    def record_tool_calls(self, model: str, calls: Iterable[CompletedToolCall]) -> None:
        """Record completed calls."""
        self.recording.record_tool_calls(model, calls)

    def fail(self, request: SentRequest, *, aborted: bool, error: BaseException | None) -> None:
        """Roll back: after an abort to the prompt's start, after an error to before this request.

        After an error a tool response stays, as the model has not seen it.
        """
        start = self._prompt_start
        called_off = aborted or (error is not None and is_cancellation(error))
        if called_off and start is not None:
            self._prompt_start = None
            self._roll_back(start[1])
        elif not request.answers_tools:
            self._roll_back(request)

    def _close_unanswered_response(self) -> None:
        raw = self.view.raw
        if raw and raw[-1].get("role") == "user" and has_function_response(raw[-1]):
            placeholder = {"text": INTERRUPTED_RESPONSE_PLACEHOLDER}
            turn_id = self._services.ids.uuid("message")
            self.push(turn_id, {"role": "model", "parts": [placeholder]})

    def _take_message(self, content: Content, display_content: list[Part] | None) -> None:
        parts: list[Part] = content["parts"]
        shown = display_content
        if shown is not None and part_list_to_string(shown) == part_list_to_string(parts):
            shown = None
        turn_id = self.recording.record_message(type="user", content=parts, display_content=shown)
        self.push(turn_id, content)

    def _take_tool_response(self, content: Content) -> None:
        """Move binary data inside a response to a separate user turn after a thought.

        The recording keeps the original response, as upstream clears its key afterwards.
        """
        recording, parts = self.recording, content["parts"]
        cleaned, injected = split_binary_injections(parts)
        turn_id = recording.record_synthetic_message("user", parts)
        self.push(turn_id, {**content, "parts": cleaned})
        if not injected:
            return
        received = [binary_received()]
        received_id = recording.record_synthetic_message("gemini", received)
        self.push(received_id, {"role": "model", "parts": received})
        binary_id = recording.record_synthetic_message("info", injected)
        self.push(binary_id, {"role": "user", "parts": injected})

    def _roll_back(self, mark: HistoryMark) -> None:
        self.go_back(mark)
        self._sync_recording()

    def _sync_recording(self) -> None:
        self.recording.update_messages_from_history(self.history())
