"""`GeminiChat`: the model-facing conversation. Sends, retries, and keeps history and recording.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from runtimes.legacy.chat_stream import ChatBlocked, ChatItem, ChatRetry, ChatStopped
from runtimes.legacy.history import AgentChatHistory, HistoryMark
from runtimes.legacy.model_call import ModelCall
from runtimes.legacy.voice import ChatVoice
from services.abort import AbortError, AbortSignal, cancellation_or_abort
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.history.binary import binary_received, split_binary_injections
from services.history.transforms import (
    INTERRUPTED_RESPONSE_PLACEHOLDER,
    has_function_response,
)
from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    HookVerdict,
    after_model,
)
from services.hooks.translation import HookModelRequest
from services.model.classification import is_retryable_error, retry_error_type
from services.model.configs import ModelConfigKey
from services.model.errors import EmptyMessageError, InvalidStreamError, is_cancellation
from services.model.generator import ChunkStream
from services.model.parts import part_list_to_string
from services.model.stream import StreamAssembler, retry_nudge
from services.recording.records import HistoryTurn
from services.state import RetryAttempt
from services.wire import Content, JsonObject, Part

__all__ = ["GeminiChat"]

_MID_STREAM_ATTEMPTS: Final = 4
_MID_STREAM_DELAY_MS: Final = 1000


class GeminiChat:
    """One chat. Sends are serialised: a send waits until the stream before it has been closed."""

    def __init__(
        self,
        services: Services,
        recording: ChatRecording,
        history: Sequence[HistoryTurn],
        voice: ChatVoice,
    ) -> None:
        self._services = services
        self._recording = recording
        self._voice = voice
        self._history = AgentChatHistory(services.state, history)
        self._sending = asyncio.Lock()

    @property
    def recording(self) -> ChatRecording:
        """The recorder of this chat."""
        return self._recording

    @property
    def last_prompt_token_count(self) -> int:
        """How many tokens the last request had; an estimate until the model has counted."""
        return self._history.token_count

    def shown_history(self) -> list[Content]:
        """The whole history, oldest first: invalid turns included, thoughts left out."""
        return self._history.shown()

    def curated_history(self) -> list[Content]:
        """The turns that are fit to be sent; coalesced and without thoughts, as the model wants."""
        return self._history.curated()

    def bootstrap(self) -> None:
        """Write the initial history to the recording, so that even bootstrapped turns are kept."""
        self._sync_recording()

    def add_history(self, content: Content) -> None:
        """Put a turn at the end of the history without sending it; it is recorded."""
        turn_id, content = self._recording.record_content(content)
        self._history.push(turn_id, content)

    def set_turns(self, turns: Sequence[HistoryTurn]) -> None:
        """Become another history, whose turns are in the recording already."""
        self._become(turns)

    def replace_history(self, contents: Sequence[Content]) -> None:
        """Become another history; every content of it is recorded as a turn of its own."""
        self._become(self._recording.record_history(contents))

    def mask_tool_outputs(self) -> None:
        """Mask what the masking service finds to be long and old enough."""
        masking, history = self._services.masking, self._history
        coalesced = history.strips_thoughts
        if masking.due(history.raw, coalesced=coalesced):
            result = masking.mask(history.shown(), live=history.raw)
            if result.masked_count:
                self.replace_history(result.history)

    def _become(self, turns: Sequence[HistoryTurn]) -> None:
        self._history.become(turns)
        self._sync_recording()

    async def send(
        self,
        key: ModelConfigKey,
        parts: list[Part],
        prompt_id: str,
        signal: AbortSignal,
        *,
        display_content: list[Part] | None = None,
    ) -> AsyncGenerator[ChatItem, None]:
        """Send `parts` as the user's next turn and yield the answer's chunks.

        Chunks of failed attempts are not withdrawn; a `ChatRetry` stands between attempts. On
        success the answer is in history when the stream ends. Closing the stream early, an error
        or an abort rolls history back (see `_roll_back`).

        Raises:
            InvalidStreamError: the answer stayed invalid after all attempts.
            ApiError, NetworkError: the model could not be asked, or broke off for good.
            AbortError: the signal was aborted.
            EmptyMessageError: there are no parts.
        """
        if not parts:
            raise EmptyMessageError
        async with self._sending:
            before = self._history.begin_send(prompt_id)
            answers_tools = has_function_response({"parts": parts})
            self._take_in(key, parts, answers_tools, display_content)
            succeeded = False
            caught: BaseException | None = None
            try:
                async with aclosing(
                    self._attempts(key, prompt_id, signal, answers_tools)
                ) as attempts:
                    async for item in attempts:
                        yield item
                succeeded = True
            except AgentExecutionStopped as verdict:
                yield ChatStopped(verdict.reason)
                succeeded = True
            except AgentExecutionBlocked as verdict:
                yield ChatBlocked(verdict.reason)
                if verdict.response is not None:
                    yield verdict.response
                succeeded = True
            except asyncio.CancelledError as error:
                caught = cancellation_or_abort(error)
                raise caught from None
            except BaseException as error:
                caught = error
                raise
            finally:
                if not succeeded:
                    self._roll_back(signal, caught, answers_tools, before)

    def _take_in(
        self,
        key: ModelConfigKey,
        parts: list[Part],
        answers_tools: bool,
        display_content: list[Part] | None,
    ) -> None:
        raw = self._history.raw
        unanswered = bool(raw) and raw[-1].get("role") == "user" and has_function_response(raw[-1])
        if unanswered and not answers_tools:
            placeholder = {"role": "model", "parts": [{"text": INTERRUPTED_RESPONSE_PLACEHOLDER}]}
            self._history.push(self._services.ids.uuid("message"), placeholder)
        # A key that means no model has to fail here: nothing of such a send is recorded.
        self._services.models.resolve(key)
        if answers_tools:
            self._take_in_tool_response(parts)
            return
        shown = display_content
        if shown is not None and part_list_to_string(shown) == part_list_to_string(parts):
            shown = None
        message_id = self._recording.record_message(
            type="user", content=parts, display_content=shown
        )
        self._history.push(message_id, {"role": "user", "parts": parts})

    def _take_in_tool_response(self, parts: list[Part]) -> None:
        """Binary data that a response carried becomes a user turn of its own, behind a thought."""
        # The recording keeps the response as the tool gave it; upstream clears the key afterwards.
        cleaned, injected = split_binary_injections(parts)
        message_id = self._recording.record_synthetic_message("user", parts)
        self._history.push(message_id, {"role": "user", "parts": cleaned})
        if not injected:
            return
        received = [binary_received()]
        received_id = self._recording.record_synthetic_message("gemini", received)
        self._history.push(received_id, {"role": "model", "parts": received})
        binary_id = self._recording.record_synthetic_message("info", injected)
        self._history.push(binary_id, {"role": "user", "parts": injected})

    async def _attempts(
        self, key: ModelConfigKey, prompt_id: str, signal: AbortSignal, answers_tools: bool
    ) -> AsyncGenerator[ChatItem, None]:
        """Up to four attempts at a whole stream; connecting is retried by `ModelCall` itself."""
        settings = self._services.settings
        last_invalid: InvalidStreamError | None = None
        attempt = 0
        while True:
            if attempt > 0:
                yield ChatRetry()
            call = ModelCall(
                self._services,
                self._history,
                self._voice,
                key=replace(key, is_retry=True) if attempt > 0 else key,
                prompt_id=prompt_id,
                signal=signal,
                nudge=retry_nudge(last_invalid) if attempt else None,
            )
            asked, stream = await call.connect()
            try:
                async with aclosing(stream):
                    async for chunk in self._read(stream, asked, answers_tools):
                        yield chunk
                return
            except InvalidStreamError as error:
                last_invalid = error
                kind = error.type
                failure: Exception = error
            except (AbortError, HookVerdict):
                raise
            except Exception as error:
                retryable = is_retryable_error(error, settings.retry_fetch_errors)
                if signal.aborted or not retryable:
                    raise
                kind = retry_error_type(error)
                failure = error
            if attempt >= min(settings.max_attempts, _MID_STREAM_ATTEMPTS) - 1:
                raise failure
            delay_ms = _MID_STREAM_DELAY_MS * 2**attempt
            attempt += 1
            self._services.events.emit(
                RetryAttempt(
                    attempt=attempt,
                    max_attempts=min(settings.max_attempts, _MID_STREAM_ATTEMPTS),
                    delay_ms=delay_ms,
                    error=kind,
                    model=self._services.models.resolve(key).model,
                )
            )
            await self._services.clock.sleep(delay_ms)

    async def _read(
        self, stream: ChunkStream, asked: HookModelRequest, answers_tools: bool
    ) -> AsyncGenerator[JsonObject, None]:
        assembler = StreamAssembler(
            after_function_response=answers_tools,
            context_management=self._services.settings.context_management,
        )
        async for chunk in stream:
            assembler.feed(chunk)
            yield await after_model(self._services.hooks, asked, chunk)
        turn = assembler.finish()
        for thought in turn.thoughts:
            self._recording.record_thought(thought.subject, thought.description)
        if turn.usage is not None:
            self._recording.record_tokens(turn.usage)
            if turn.usage.get("promptTokenCount") is not None:
                self._history.token_count = turn.usage["promptTokenCount"]
        if turn.recorded_as_message:
            message_id = self._recording.record_message(
                type="gemini", content=turn.response_text, model=asked.model
            )
        else:
            message_id = self._recording.record_synthetic_message("gemini", turn.parts)
        self._history.push(message_id, {"role": "model", "parts": turn.parts})

    def _roll_back(
        self,
        signal: AbortSignal,
        caught: BaseException | None,
        answers_tools: bool,
        before: HistoryMark,
    ) -> None:
        """An abort goes back to the prompt's start, a failure to before this send.

        A failed tool response stays: the model has yet to see it.
        """
        if signal.aborted or (caught is not None and is_cancellation(caught)):
            self._history.go_back_to_prompt()
        elif not answers_tools:
            self._history.go_back(before)
        else:
            return
        self._sync_recording()

    def _sync_recording(self) -> None:
        self._recording.update_messages_from_history(self._history.turns())
