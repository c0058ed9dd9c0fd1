"""`ChatSuccession`: the chats of one conversation: each replaces the one before.

A chat begins with the environment's context, or with the history of a compression or a recording. A
resumed or rewound history, with its ids, depends on the recording alone.

Source: core `core/client.ts` (`startChat`, `resetChat`, `resumeChat`, `tryCompressChat`) and
`utils/sessionUtils.ts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from services.abort import AbortSignal
from services.bundle import Services
from services.chat.chat import Chat
from services.chat_recording import ChatRecording
from services.compression.rebuild import rebuilt_turns
from services.compression.service import CompressionInfo, CompressionStatus
from services.hooks.prompt_hooks import PromptHooks
from services.ide.context import EditorNotes
from services.model.parts import part_list_to_string
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.conversion import convert_session_to_client_history
from services.recording.loading import load_conversation_record
from services.recording.records import HistoryTurn, ResumedSession
from services.routing.router import RoutingContext
from services.tools.declaring import ToolDeclarations
from services.wire import Content, JsonObject, Part

__all__ = ["ChatSuccession", "SuccessiveChat"]


class ChatSuccession(ABC):
    """The chats of one conversation; one is current. `start` also begins the first."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.declarations = ToolDeclarations(services.tools, services.state)
        """The tool declarations of the conversation's requests."""
        self.loops = services.new_loop_detector(lambda: self.current.shown_history())
        """Shared by all chats: a reset does not clear it."""
        self.hooks = PromptHooks(services.hooks)
        """The prompts that hooks have got; shared by all chats."""
        self._editor = EditorNotes(services.ide.context)

    @property
    @abstractmethod
    def current(self) -> Chat:
        """The current chat; `start` may replace it during every wait."""

    @abstractmethod
    def _open(self, recording: ChatRecording, turns: Sequence[HistoryTurn]) -> None:
        """Make a chat with `turns` the current one; see `Chat.begin`."""

    @property
    def model_for_limits(self) -> str:
        """The model for the size of the context window: the prompt's, else the session's."""
        state = self._services.state
        return state.sequence_model or self._services.models.concrete(
            state.active_model, custom_tools=False
        )

    def begin_sequence(self, prompt_id: str, parts: list[Part]) -> None:
        """Begin a request; a new prompt id begins a new sequence of requests."""
        state = self._services.state
        self._services.availability.reset_turn()
        previous = state.last_prompt_id
        if previous != prompt_id:
            self.loops.reset(prompt_id, part_list_to_string(parts, verbose=True))
            self.hooks.forget(previous)
            state.last_prompt_id = prompt_id
            state.sequence_model = None

    async def wanted_model(self, parts: list[Part], signal: AbortSignal, prompt_id: str) -> str:
        """The model for a request: its sequence's, else the router's choice."""
        state = self._services.state
        if state.sequence_model:
            return state.sequence_model
        decision = await self._services.router.route(
            RoutingContext(
                history=self.current.curated_history(),
                request=parts,
                signal=signal,
                requested_model=state.model,
                prompt_id=prompt_id,
            )
        )
        return decision.model

    def note_editor(self) -> None:
        """Add what is new in the user's editor to the history, in IDE mode.

        While calls wait for their responses, nothing may stand between them: the next request
        brings it.
        """
        if not self._services.ide.enabled:
            return
        history = self.current.shown_history()
        last = history[-1] if history else {}
        if last.get("role") == "model" and any("functionCall" in part for part in last["parts"]):
            return
        if not history:
            self._editor.restart()
        note = self._editor.next_note()
        if note is not None:
            self.current.add_history({"role": "user", "parts": [{"text": note}]})

    def publish_tokens(self) -> None:
        """Set the session's number of tokens to that of the current chat's last request."""
        self._services.state.last_prompt_tokens = self.current.last_prompt_token_count

    def environment(self) -> HistoryTurn:
        """The first turn of every chat."""
        return ENVIRONMENT_CONTEXT_ID, self._services.prompts.session_context()

    def start(
        self, turns: Sequence[HistoryTurn] | None = None, resumed: ResumedSession | None = None
    ) -> None:
        """Begin another chat.

        Args:
            turns: The history; by default the environment's context alone.
            resumed: The recording to continue; by default a new one.

        Raises:
            OSError: The recording's file cannot be created.
        """
        services = self._services
        recording = services.new_recording()
        recording.initialize(resumed=resumed)
        self.declarations.restart()
        self._editor.restart()
        services.prompts.chat_started()
        self._open(recording, turns or [self.environment()])
        services.compression.chat_started()
        services.conversation_context.history = self.current.shown_history
        if services.hooks is not None:
            services.hooks.transcript = lambda: recording.path
        self.publish_tokens()

    def reset(self) -> None:
        """Start again with the environment's context alone, in a new recording."""
        self.start()

    async def compress(
        self, prompt_id: str, signal: AbortSignal, *, force: bool = False
    ) -> CompressionInfo:
        """Summarise the history if it is long enough, or with `force`.

        A summarised history is a new chat with the same recording.

        Raises:
            ModelError: the model gave no summary.
            AbortError: the signal was aborted.
        """
        services, chat = self._services, self.current
        result = await services.compression.compress(
            chat, prompt_id, model=self.model_for_limits, signal=signal, force=force
        )
        if result.new_history is None:
            return result.info
        if result.info.status is CompressionStatus.COMPRESSED:
            context = services.prompts.session_context()
            turns = rebuilt_turns(context, result.new_history, services.ids)
            self.start(turns, self._own_recording())
        else:
            self.current.replace_history(result.new_history)
        self.publish_tokens()
        return result.info

    def resume(self, file: Path | None) -> None:
        """Continue from a chat recording, by default from the current one.

        Raises:
            ValueError: `file` is no chat recording.
        """
        path = file or self.current.recording.path
        record = load_conversation_record(path, self._services.clock) if path else None
        if path is None or record is None:
            raise ValueError(f"{path} is not a chat recording")
        turns = self._turns_of(record.messages)
        if not turns or turns[0][0] != ENVIRONMENT_CONTEXT_ID:
            turns.insert(0, self.environment())
        self.start(turns, ResumedSession(record, path))

    def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's messages, from 0."""
        left = self.current.recording.rewind_to(self.message_id(to))
        if left is not None:
            self.current.become(self._turns_of(left))
            self._editor.restart()
            self.publish_tokens()

    def load_history(self, contents: Sequence[Content]) -> None:
        """Go on from another history; each content is recorded as a new turn.

        Turns that are equal to those of the current history stay the same objects, so that a
        reader knows them again.
        """
        known = zip_longest(contents, self.current.shown_history()[: len(contents)])
        self.current.replace_history([old if old == new else new for new, old in known])
        self._editor.restart()
        self.publish_tokens()

    def message_id(self, message: str | int) -> str:
        """The id of a recorded message: itself, or the one that has this number, from 0.

        The number is that among the user's messages; if there is none, the id is empty.
        """
        if isinstance(message, str):
            return message
        recorded = self.current.recording.messages
        own = [each for each in recorded if each.get("type") == "user"]
        return str(own[message].get("id")) if 0 <= message < len(own) else ""

    def _turns_of(self, messages: Iterable[JsonObject]) -> list[HistoryTurn]:
        """The history of a recording's messages."""
        return convert_session_to_client_history(messages)

    def _own_recording(self) -> ResumedSession | None:
        path = self.current.recording.path
        record = load_conversation_record(path, self._services.clock) if path else None
        return ResumedSession(record, path) if path and record else None


class SuccessiveChat(Chat, ChatSuccession):
    """One conversation with one object for all its chats."""

    def __init__(self, services: Services) -> None:
        Chat.__init__(self, services)
        ChatSuccession.__init__(self, services)

    @property
    def current(self) -> Chat:
        """This object."""
        return self

    def _open(self, recording: ChatRecording, turns: Sequence[HistoryTurn]) -> None:
        self.begin(recording, turns)
