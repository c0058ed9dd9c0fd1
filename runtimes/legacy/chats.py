"""`Chats`: the one chat of a conversation after another.

Every chat begins with the environment's context, or with a history that goes on from somewhere:
a compression, a recording.

Source: core `core/client.ts` `startChat`, `resetChat`, `resumeChat`, `tryCompressChat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.voice import ChatVoice
from services.abort import AbortSignal
from services.bundle import Services
from services.compression.rebuild import rebuilt_turns
from services.compression.service import CompressionInfo, CompressionStatus
from services.model.generator import LlmRole
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.conversion import (
    convert_session_to_client_history,
    ensure_stable_tool_ids,
)
from services.recording.loading import load_conversation_record
from services.recording.records import HistoryTurn, ResumedSession
from services.tools.declaring import ToolDeclarations

__all__ = ["Chats"]


class Chats:
    """The chats of one conversation, of which one is the current; the first begins at once."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._declarations = ToolDeclarations(services.tools, services.state)
        self._current = self._start()

    @property
    def current(self) -> GeminiChat:
        """The chat of now. Ask anew behind every wait: a reset or a compression replaces it."""
        return self._current

    @property
    def model_for_limits(self) -> str:
        """The model whose context window counts: the prompt's, else what the session is set to."""
        state = self._services.state
        return state.sequence_model or self._services.models.concrete(
            state.active_model, custom_tools=False
        )

    def begin_turn(self, model: str) -> None:
        """Settle which tools a turn of this model declares. Source: core `setTools`."""
        self._declarations.current(model)

    def publish_tokens(self) -> None:
        """Tell the session how many tokens the current chat's last request had."""
        self._services.state.last_prompt_tokens = self._current.last_prompt_token_count

    def reset(self) -> None:
        """Start anew with nothing but the environment's context."""
        self._current = self._start()

    async def compress(
        self, prompt_id: str, signal: AbortSignal, *, force: bool = False
    ) -> CompressionInfo:
        """Summarise the history if it is long enough, or because `force` says so."""
        services = self._services
        result = await services.compression.compress(
            self._current, prompt_id, model=self.model_for_limits, signal=signal, force=force
        )
        status = result.info.status
        if result.new_history is None:
            return result.info
        if status is CompressionStatus.COMPRESSED:
            turns = rebuilt_turns(
                services.prompts.session_context(), result.new_history, services.ids
            )
            self._current = self._start(turns, self._own_recording())
        elif status is CompressionStatus.CONTENT_TRUNCATED:
            self._current.replace_history(result.new_history)
        self.publish_tokens()
        return result.info

    def resume(self, file: Path | None) -> None:
        """Go on from a chat recording; from this conversation's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        path = file or self._current.recording.path
        conversation = load_conversation_record(path, self._services.clock) if path else None
        if path is None or conversation is None:
            raise ValueError(f"{path} is not a chat recording")
        turns = convert_session_to_client_history(conversation.messages)
        if not turns or turns[0][0] != ENVIRONMENT_CONTEXT_ID:
            turns.insert(0, self._environment())
        self._current = self._start(turns, ResumedSession(conversation, path))

    def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        recording = self._current.recording
        if isinstance(to, int):
            own = [m for m in recording.messages if m.get("type") == "user"]
            to = str(own[to].get("id")) if 0 <= to < len(own) else ""
        left = recording.rewind_to(to)
        if left is not None:
            self._current.set_turns(convert_session_to_client_history(left))
            self.publish_tokens()

    def _start(
        self, turns: Sequence[HistoryTurn] | None = None, resumed: ResumedSession | None = None
    ) -> GeminiChat:
        services = self._services
        recording = services.new_recording()
        recording.initialize(resumed=resumed)
        history = ensure_stable_tool_ids(turns or [self._environment()])
        self._declarations.restart()
        voice = ChatVoice(
            role=LlmRole.MAIN,
            system_instruction=services.prompts.system_instruction,
            tools=self._declarations.taken,
        )
        chat = GeminiChat(services, recording, history, voice)
        chat.bootstrap()
        services.compression.chat_started()
        services.spoken.history = chat.shown_history
        if services.hooks is not None:
            services.hooks.transcript = lambda: recording.path
        services.state.last_prompt_tokens = chat.last_prompt_token_count
        return chat

    def _environment(self) -> HistoryTurn:
        return (ENVIRONMENT_CONTEXT_ID, self._services.prompts.session_context())

    def _own_recording(self) -> ResumedSession | None:
        path = self._current.recording.path
        if path is None:
            return None
        conversation = load_conversation_record(path, self._services.clock)
        return None if conversation is None else ResumedSession(conversation, path)
