"""What a session remembers between invocations: the archive behind ADK's live session.

ADK's session holds only what the current invocation still works on; every turn that is settled
lives here, in the form in which the next request carries it, with the chat recording at its side.
Rules of history, rollback and recording: core `core/geminiChat.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from runtimes.adk.prompt_calls import PromptCalls
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.history.binary import binary_received, split_binary_injections
from services.history.transforms import (
    INTERRUPTED_RESPONSE_PLACEHOLDER,
    curated_history,
    has_function_response,
)
from services.history.view import RequestView
from services.model.errors import EmptyMessageError, is_cancellation
from services.model.names import is_gemini2_model, supports_modern_features
from services.model.parts import part_list_to_string
from services.model.stream import AssembledTurn
from services.output_masking import MaskingResult
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.known_history import KnownHistory
from services.recording.records import HistoryTurn, ResumedSession
from services.scheduler.calls import CompletedToolCall
from services.tools.declaring import ToolDeclarations
from services.wire import Content, Part

__all__ = ["Conversation", "SentRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """A user-role turn on its way to the model, and where history goes back to if it fails."""

    length: int
    token_count: int
    answers_tools: bool


@dataclass(frozen=True, slots=True)
class _PromptStart:
    """Where history stood when a prompt id was first used since the last rollback."""

    prompt_id: str
    length: int
    token_count: int


class Conversation:
    """One chat's turns, its request view, its recording, and the client's counters."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._ids: list[str] = []
        self.view = RequestView()
        """Curated, coalesced request contents; brought up to date by every change below."""
        self._known = KnownHistory()
        self.declarations = ToolDeclarations(services.tools, services.state)
        """What its requests declare. A child's requests declare its toolset instead."""
        self.generation = 0
        """Counts how often history was replaced by another one, instead of growing or shrinking at
        its end."""
        self.recording: ChatRecording = services.new_recording()
        self.loops = services.new_loop_detector(self.shown_history)
        """Outlives chats: a reset does not make it forget."""
        self.calls = PromptCalls(services.hooks)
        """Which prompts hooks were told of; outlives chats too."""
        self._prompt_start: _PromptStart | None = None
        self.sending = asyncio.Lock()
        """Held while a request and its answer are under way: there is one at a time."""
        self.last_prompt_token_count = 0

    def start(
        self, turns: Sequence[HistoryTurn] | None = None, resumed: ResumedSession | None = None
    ) -> None:
        """Begin a chat.

        Args:
            turns: what it begins with; the environment's context alone when absent.
            resumed: the recording to go on with; a new one when absent.
        """
        services = self._services
        self.recording = services.new_recording()
        self.recording.initialize(resumed=resumed)
        services.spoken.history = self.shown_history
        if services.hooks is not None:
            services.hooks.transcript = lambda: self.recording.path
        self._prompt_start = None
        self.become(turns or [self.environment()])
        services.compression.chat_started()
        self.declarations.restart()
        self.publish_tokens()

    def environment(self) -> HistoryTurn:
        """The turn that every chat begins with."""
        return ENVIRONMENT_CONTEXT_ID, self._services.prompts.session_context()

    def become(self, turns: Sequence[HistoryTurn]) -> None:
        """Have another history. Where the prompt began stays the number of turns that it was."""
        stable = self._known.stable(turns)
        self._ids = [turn_id for turn_id, _ in stable]
        self.match_configured_model()
        self.view.replace([content for _, content in stable])
        self.generation += 1
        self.last_prompt_token_count = self._known.tokens(self.view.raw)
        self._sync_recording()

    def replace_history(self, contents: Sequence[Content]) -> None:
        """Have another history, each content of which is recorded as a turn of its own."""
        self.become(self.recording.record_history(contents))

    def mask(self) -> MaskingResult | None:
        """Mask the tool outputs that are long and old enough; `None` where there are none."""
        self.match_configured_model()
        masking = self._services.masking
        if not masking.due(self.view.raw, coalesced=self.view.strips_thoughts):
            return None
        result = masking.mask(self.shown_history(), live=self.view.raw)
        if not result.masked_count:
            return None
        self.replace_history(result.history)
        return result

    def add_history(self, content: Content) -> None:
        """Put a turn at the end of the history without sending it; it is recorded."""
        turn_id, content = self.recording.record_content(content)
        self._push(turn_id, content)

    def publish_tokens(self) -> None:
        """Let the rest of the session know how long the last prompt was."""
        self._services.state.last_prompt_tokens = self.last_prompt_token_count

    def shown_history(self) -> list[Content]:
        """The model-facing history, oldest first, as upstream's `getHistory` shows it."""
        self.match_configured_model()
        return self.view.whole()

    def curated_history(self) -> list[Content]:
        """The turns that are fit to be sent; coalesced and without thoughts, as the model wants."""
        self.match_configured_model()
        if not self._strips_thoughts():
            return curated_history(self.view.raw)
        return self.view.curated()

    def history(self) -> list[HistoryTurn]:
        """Every turn with its durable id."""
        return list(zip(self._ids, self.view.raw, strict=True))

    def match_configured_model(self) -> None:
        """Let the view follow a change of the configured model's family."""
        self.view.set_strip_thoughts(self._strips_thoughts())

    def send(
        self, content: Content, *, prompt_id: str, model: str, display_content: str | None
    ) -> SentRequest:
        """Take a user-role turn into history and recording, as the request about to be made.

        Raises:
            EmptyMessageError: the turn has no parts.
        """
        parts: list[Part] = content.get("parts") or []
        if not parts:
            raise EmptyMessageError
        length, token_count = len(self._ids), self.last_prompt_token_count
        start = self._prompt_start
        if start is None or start.prompt_id != prompt_id:
            self._prompt_start = _PromptStart(prompt_id, length, token_count)
        answers_tools = has_function_response(content)
        if answers_tools:
            self._take_tool_response(content)
        else:
            self._close_unanswered_response()
            self._take_message(content, model, display_content)
        return SentRequest(length=length, token_count=token_count, answers_tools=answers_tools)

    def answer(self, turn: AssembledTurn, model: str) -> None:
        """Take the model's turn into recording and history."""
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
        self._push(turn_id, {"role": "model", "parts": turn.parts})

    def record_tool_calls(self, model: str, calls: Sequence[CompletedToolCall]) -> None:
        """Write a batch's outcome into the recording."""
        self.recording.record_tool_calls(model, calls)

    def fail(self, request: SentRequest, *, aborted: bool, error: BaseException | None) -> None:
        """Go back: after an abort to the prompt's start, after a failure to before this request.

        A failed tool response stays: the model has yet to see it.
        """
        start = self._prompt_start
        called_off = aborted or (error is not None and is_cancellation(error))
        if called_off and start is not None:
            self._prompt_start = None
            self._go_back(start.length, start.token_count)
        elif not request.answers_tools:
            self._go_back(request.length, request.token_count)

    def _strips_thoughts(self) -> bool:
        configured = self._services.state.model
        return is_gemini2_model(configured) or supports_modern_features(configured)

    def _close_unanswered_response(self) -> None:
        raw = self.view.raw
        if raw and raw[-1].get("role") == "user" and has_function_response(raw[-1]):
            self._push(
                self._services.ids.uuid("message"),
                {"role": "model", "parts": [{"text": INTERRUPTED_RESPONSE_PLACEHOLDER}]},
            )

    def _take_message(self, content: Content, model: str, display_content: str | None) -> None:
        parts: list[Part] = content["parts"]
        shown: list[Part] | None = None
        if display_content is not None:
            shown = [{"text": display_content}]
            if part_list_to_string(shown) == part_list_to_string(parts):
                shown = None
        turn_id = self.recording.record_message(
            type="user", content=parts, display_content=shown, model=model
        )
        self._push(turn_id, content)

    def _take_tool_response(self, content: Content) -> None:
        """Binary data inside a response becomes a user turn of its own, behind a thought."""
        parts: list[Part] = content["parts"]
        turn_id = self.recording.record_synthetic_message("user", parts)
        cleaned, injected = split_binary_injections(parts)
        self._push(turn_id, {**content, "parts": cleaned} if injected else content)
        if not injected:
            return
        received = [binary_received()]
        received_id = self.recording.record_synthetic_message("gemini", received)
        self._push(received_id, {"role": "model", "parts": received})
        binary_id = self.recording.record_synthetic_message("info", injected)
        self._push(binary_id, {"role": "user", "parts": injected})

    def _push(self, turn_id: str, content: Content) -> None:
        self._ids.append(turn_id)
        self.view.append(content)

    def _go_back(self, length: int, token_count: int) -> None:
        if length <= len(self._ids):
            del self._ids[length:]
            self.view.truncate(length)
        self.last_prompt_token_count = token_count
        self._sync_recording()

    def _sync_recording(self) -> None:
        self.recording.update_messages_from_history(self.history())
