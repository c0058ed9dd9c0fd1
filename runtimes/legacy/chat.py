"""`GeminiChat`: the model-facing conversation. Sends, retries, and keeps history and recording.

Source: core `core/geminiChat.ts`. History is not copied and scrubbed whole at every request, as
upstream does; `RequestView` keeps the request's contents ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from services.abort import AbortError, AbortSignal
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.history.binary import binary_received, split_binary_injections
from services.history.transforms import (
    INTERRUPTED_RESPONSE_PLACEHOLDER,
    apply_retry_nudge,
    curated_history,
    has_function_response,
)
from services.history.view import RequestView
from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    HookVerdict,
    ModelCallHooks,
    after_model,
)
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.model.classification import is_retryable_error, retry_error_type
from services.model.configs import ModelConfigKey
from services.model.errors import EmptyMessageError, InvalidStreamError, is_cancellation
from services.model.generator import ChunkStream, LlmRole, ModelRequest
from services.model.names import is_gemini2_model, supports_modern_features
from services.model.parts import part_list_to_string
from services.model.retry import retry_with_backoff
from services.model.stream import StreamAssembler, retry_nudge
from services.recording.known_history import KnownHistory
from services.recording.records import HistoryTurn
from services.state import RetryAttempt
from services.wire import Content, JsonObject, Part

__all__ = ["ChatBlocked", "ChatItem", "ChatRetry", "ChatStopped", "GeminiChat"]

_MID_STREAM_ATTEMPTS: Final = 4
_MID_STREAM_DELAY_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class ChatRetry:
    """Stands in the stream where a failed attempt is given up for another one."""


@dataclass(frozen=True, slots=True)
class ChatStopped:
    """A hook has ended the stream."""

    reason: str


@dataclass(frozen=True, slots=True)
class ChatBlocked:
    """A hook has refused the answer; what follows stands in its place."""

    reason: str


ChatItem = JsonObject | ChatRetry | ChatStopped | ChatBlocked
"""What a send yields: the answer's chunks, and what happened to them."""


@dataclass(slots=True)
class _PromptStart:
    """Where history stood when the current prompt id began; an abort goes back to it."""

    prompt_id: str | None = None
    length: int | None = None
    token_count: int = 0

    def forget(self) -> None:
        self.prompt_id, self.length = None, None


class GeminiChat:
    """One chat. Sends are serialised: a send waits until the stream before it has been closed."""

    def __init__(
        self,
        services: Services,
        recording: ChatRecording,
        history: Sequence[HistoryTurn],
        tools: Callable[[str], list[JsonObject]],
    ) -> None:
        self._services = services
        self._recording = recording
        self._tools = tools
        self._ids = [turn_id for turn_id, _ in history]
        self._view = RequestView(content for _, content in history)
        self._known = KnownHistory()
        self._start = _PromptStart()
        self._sending = asyncio.Lock()
        self.last_prompt_token_count = self._known.tokens(self._view.raw)

    @property
    def recording(self) -> ChatRecording:
        """The recorder of this chat."""
        return self._recording

    def shown_history(self) -> list[Content]:
        """The whole history, oldest first: invalid turns included, thoughts left out."""
        self._match_configured_model()
        return self._view.whole()

    def curated_history(self) -> list[Content]:
        """The turns that are fit to be sent; coalesced and without thoughts, as the model wants."""
        self._match_configured_model()
        if not self._view.strips_thoughts:
            return curated_history(self._view.raw)
        return self._view.curated()

    def bootstrap(self) -> None:
        """Write the initial history to the recording, so that even bootstrapped turns are kept."""
        self._sync_recording()

    def add_history(self, content: Content) -> None:
        """Put a turn at the end of the history without sending it; it is recorded."""
        turn_id, content = self._recording.record_content(content)
        self._push(turn_id, content)

    def set_turns(self, turns: Sequence[HistoryTurn]) -> None:
        """Become another history, whose turns are in the recording already."""
        self._become(turns)

    def replace_history(self, contents: Sequence[Content]) -> None:
        """Become another history; every content of it is recorded as a turn of its own."""
        self._become(self._recording.record_history(contents))

    def mask_tool_outputs(self) -> None:
        """Mask what the masking service finds to be long and old enough."""
        self._match_configured_model()
        masking = self._services.masking
        if masking.due(self._view.raw, coalesced=self._view.strips_thoughts):
            result = masking.mask(self.shown_history(), live=self._view.raw)
            if result.masked_count:
                self.replace_history(result.history)

    def _become(self, turns: Sequence[HistoryTurn]) -> None:
        stable = self._known.stable(turns)
        self._ids = [turn_id for turn_id, _ in stable]
        self._view.replace([content for _, content in stable])
        self.last_prompt_token_count = self._known.tokens(self._view.raw)
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
            length, token_count = len(self._ids), self.last_prompt_token_count
            self._mark_prompt_start(prompt_id, length, token_count)
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
            except BaseException as error:
                caught = error
                raise
            finally:
                if not succeeded:
                    self._roll_back(signal, caught, answers_tools, length, token_count)

    def _mark_prompt_start(self, prompt_id: str, length: int, token_count: int) -> None:
        start = self._start
        if start.prompt_id is not None and start.prompt_id != prompt_id:
            start.length = None
        start.prompt_id = prompt_id
        if start.length is None:
            start.length, start.token_count = length, token_count

    def _take_in(
        self,
        key: ModelConfigKey,
        parts: list[Part],
        answers_tools: bool,
        display_content: list[Part] | None,
    ) -> None:
        if answers_tools:
            self._take_in_tool_response(parts)
            return
        raw = self._view.raw
        if raw and raw[-1].get("role") == "user" and has_function_response(raw[-1]):
            placeholder = {"role": "model", "parts": [{"text": INTERRUPTED_RESPONSE_PLACEHOLDER}]}
            self._push(self._services.ids.uuid("message"), placeholder)
        shown = display_content
        if shown is not None and part_list_to_string(shown) == part_list_to_string(parts):
            shown = None
        message_id = self._recording.record_message(
            type="user", content=parts, display_content=shown
        )
        self._push(message_id, {"role": "user", "parts": parts})

    def _take_in_tool_response(self, parts: list[Part]) -> None:
        """Binary data that a response carried becomes a user turn of its own, behind a thought."""
        # The recording keeps the response as the tool gave it; upstream clears the key afterwards.
        cleaned, injected = split_binary_injections(parts)
        message_id = self._recording.record_synthetic_message("user", parts)
        self._push(message_id, {"role": "user", "parts": cleaned})
        if not injected:
            return
        received = [binary_received()]
        received_id = self._recording.record_synthetic_message("gemini", received)
        self._push(received_id, {"role": "model", "parts": received})
        binary_id = self._recording.record_synthetic_message("info", injected)
        self._push(binary_id, {"role": "user", "parts": injected})

    async def _attempts(
        self, key: ModelConfigKey, prompt_id: str, signal: AbortSignal, answers_tools: bool
    ) -> AsyncGenerator[ChatItem, None]:
        """Up to four attempts at a whole stream; connecting is retried by `_connect` itself."""
        settings = self._services.settings
        last_invalid: InvalidStreamError | None = None
        attempt = 0
        while True:
            if attempt > 0:
                yield ChatRetry()
            attempt_key = replace(key, is_retry=True) if attempt > 0 else key
            asked, stream = await self._connect(
                attempt_key, prompt_id, signal, retry_nudge(last_invalid) if attempt else None
            )
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

    async def _connect(
        self, key: ModelConfigKey, prompt_id: str, signal: AbortSignal, nudge: str | None
    ) -> tuple[HookModelRequest, ChunkStream]:
        """Ask the model, retrying until it begins to answer; returns what it was asked."""
        services = self._services
        selection = services.availability.select(key)
        model, config = selection.model, selection.config
        active_at_start = services.state.active_model
        attempts = selection.max_attempts or services.settings.max_attempts

        asked: HookModelRequest

        async def ask() -> ChunkStream:
            nonlocal model, config, asked
            wanted = model
            if services.state.active_model != active_at_start:
                wanted = services.state.active_model
            wanted = services.models.concrete(wanted, custom_tools=False)
            await services.tools.settled()
            if wanted != model:
                config = services.models.resolve(replace(key, model=wanted)).config
                model = wanted
            asked = HookModelRequest(
                model=model,
                config={
                    **config,
                    "systemInstruction": services.prompts.system_instruction(),
                    "tools": self._tools(model),
                },
                contents=self._request_contents(model, nudge),
            )
            if services.hooks is not None:
                asked = await self._call_hooks(services.hooks, nudge).before(asked)
                model = asked.model
            return await services.content_generator.generate_content_stream(
                ModelRequest(
                    model=asked.model,
                    contents=asked.contents,
                    role=LlmRole.MAIN,
                    prompt_id=prompt_id,
                    signal=signal,
                    config=dict(asked.config),
                )
            )

        def on_retry(attempt: int, error: Exception, delay_ms: float) -> None:
            services.events.emit(
                RetryAttempt(
                    attempt=attempt,
                    max_attempts=attempts,
                    delay_ms=delay_ms,
                    error=str(error),
                    model=model,
                )
            )

        stream = await retry_with_backoff(
            ask,
            clock=services.clock,
            rng=services.rng,
            signal=signal,
            max_attempts=attempts,
            retry_fetch_errors=services.settings.retry_fetch_errors,
            variables=services.environment.variables,
            on_persistent_429=lambda auth, error: services.availability.fall_back(
                model, auth, error
            ),
            availability_context=lambda: services.availability.context(model),
            on_retry=on_retry,
        )
        return asked, stream

    def _call_hooks(self, hooks: HookSystem, nudge: str | None) -> ModelCallHooks:
        models = self._services.models
        return ModelCallHooks(
            hooks,
            contents_for=lambda model: self._request_contents(model, nudge),
            concrete=lambda name: models.concrete(name, custom_tools=False),
            nudge=nudge,
        )

    def _request_contents(self, model: str, nudge: str | None) -> list[Content]:
        self._match_configured_model()
        signed = supports_modern_features(model) or is_gemini2_model(model)
        contents = self._view.contents(signed=signed)
        return apply_retry_nudge(contents, nudge) if nudge else contents

    async def _read(
        self, stream: ChunkStream, asked: HookModelRequest, answers_tools: bool
    ) -> AsyncGenerator[JsonObject, None]:
        assembler = StreamAssembler(after_function_response=answers_tools)
        async for chunk in stream:
            assembler.feed(chunk)
            yield await after_model(self._services.hooks, asked, chunk)
        turn = assembler.finish()
        for thought in turn.thoughts:
            self._recording.record_thought(thought.subject, thought.description)
        if turn.usage is not None:
            self._recording.record_tokens(turn.usage)
            if turn.usage.get("promptTokenCount") is not None:
                self.last_prompt_token_count = turn.usage["promptTokenCount"]
        if turn.recorded_as_message:
            message_id = self._recording.record_message(
                type="gemini", content=turn.response_text, model=asked.model
            )
        else:
            message_id = self._recording.record_synthetic_message("gemini", turn.parts)
        self._push(message_id, {"role": "model", "parts": turn.parts})

    def _match_configured_model(self) -> None:
        configured = self._services.state.model
        self._view.set_strip_thoughts(
            is_gemini2_model(configured) or supports_modern_features(configured)
        )

    def _push(self, turn_id: str, content: Content) -> None:
        self._ids.append(turn_id)
        self._view.append(content)

    def _roll_back(
        self,
        signal: AbortSignal,
        caught: BaseException | None,
        answers_tools: bool,
        length: int,
        token_count: int,
    ) -> None:
        """An abort goes back to the prompt's start, a failure to before this send.

        A failed tool response stays: the model has yet to see it.
        """
        start = self._start
        called_off = signal.aborted or (caught is not None and is_cancellation(caught))
        if called_off and start.length is not None:
            self._truncate(start.length)
            self.last_prompt_token_count = start.token_count
            start.forget()
        elif not answers_tools:
            self._truncate(length)
            self.last_prompt_token_count = token_count

    def _truncate(self, length: int) -> None:
        if length <= len(self._ids):
            del self._ids[length:]
            self._view.truncate(length)
        self._sync_recording()

    def _sync_recording(self) -> None:
        self._recording.update_messages_from_history(
            list(zip(self._ids, self._view.raw, strict=True))
        )
