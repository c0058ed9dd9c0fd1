"""`GeminiChat`: sends a chat, with attempts until an answer is complete.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from runtimes.legacy import events as server
from services.abort import AbortSignal, cancellation_or_abort
from services.bundle import Services
from services.chat import Attempt, Chat, RequestParts, retry_kind
from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    ModelCallHooks,
)
from services.hooks.translation import HookModelRequest
from services.model.configs import ModelConfigKey
from services.model.errors import InvalidStreamError
from services.model.generator import ChunkStream
from services.model.stream import StreamAssembler, retry_nudge
from services.state import RetryAttempt
from services.wire import JsonObject, Part

__all__ = ["ChatItem", "GeminiChat"]

ChatItem = JsonObject | server.Retry | server.AgentExecutionStopped | server.AgentExecutionBlocked
"""An item of a send: a chunk of the answer, or an event about the answer."""

_MID_STREAM_ATTEMPTS: Final = 4
_MID_STREAM_DELAY_MS: Final = 1000


class GeminiChat(Chat):
    """One chat. Sends are serialised: a send waits until the stream before it has been closed."""

    def __init__(self, services: Services, request_parts: RequestParts) -> None:
        super().__init__(services)
        self._request_parts = request_parts
        self._hooks = None if services.hooks is None else ModelCallHooks(services.hooks)

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

        Chunks of failed attempts are not withdrawn; a `Retry` stands between attempts. On
        success the answer is in history when the stream ends. Closing the stream early, an error
        or an abort rolls history back (see `Chat.fail`).

        Raises:
            InvalidStreamError: the answer stayed invalid after all attempts.
            ApiError, NetworkError: the request failed, or the stream broke off, after all retries.
            AbortError: the signal was aborted.
            EmptyMessageError: there are no parts.
        """
        async with self.sending:
            # A key without a model fails here, before anything is recorded.
            self._services.models.resolve(key)
            content = {"role": "user", "parts": parts}
            sent = self.take_request(content, prompt_id=prompt_id, display_content=display_content)
            succeeded = False
            caught: BaseException | None = None
            try:
                async with aclosing(
                    self._attempts(key, prompt_id, signal, sent.answers_tools)
                ) as attempts:
                    async for item in attempts:
                        yield item
                # Settings may allow no attempt at all; then the turn ends like this, too.
                succeeded = self._services.settings.max_attempts > 0
            except AgentExecutionStopped as verdict:
                yield server.AgentExecutionStopped(verdict.reason)
                succeeded = True
            except AgentExecutionBlocked as verdict:
                yield server.AgentExecutionBlocked(verdict.reason)
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
                    self.fail(sent, aborted=signal.aborted, error=caught)

    async def _attempts(
        self, key: ModelConfigKey, prompt_id: str, signal: AbortSignal, answers_tools: bool
    ) -> AsyncGenerator[ChatItem, None]:
        """Up to four attempts at a whole stream; `Attempt` itself retries connecting."""
        settings = self._services.settings
        last_invalid: InvalidStreamError | None = None
        attempt = 0
        while attempt < settings.max_attempts:
            if attempt > 0:
                yield server.Retry()
            call = Attempt(
                self._services,
                self,
                self._request_parts,
                key=replace(key, is_retry=True) if attempt > 0 else key,
                prompt_id=prompt_id,
                signal=signal,
                nudge=retry_nudge(last_invalid) if attempt else None,
                hooks=self._hooks,
            )
            asked, stream = await call.connect()
            try:
                async with (
                    aclosing(stream),
                    aclosing(self._read(stream, asked, answers_tools)) as chunks,
                ):
                    async for chunk in chunks:
                        yield chunk
                return
            except Exception as error:
                kind = retry_kind(error, settings, aborted=signal.aborted)
                last = attempt >= min(settings.max_attempts, _MID_STREAM_ATTEMPTS) - 1
                if kind is None or last:
                    raise
                last_invalid = error if isinstance(error, InvalidStreamError) else last_invalid
            attempt += 1
            await self._wait(attempt, key, kind)

    async def _wait(self, attempt: int, key: ModelConfigKey, kind: str) -> None:
        """Announce another attempt, and wait for it. The first has the number 1."""
        delay_ms = _MID_STREAM_DELAY_MS * 2 ** (attempt - 1)
        self._services.events.emit(
            RetryAttempt(
                attempt=attempt,
                max_attempts=min(self._services.settings.max_attempts, _MID_STREAM_ATTEMPTS),
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
            yield chunk if self._hooks is None else await self._hooks.after_chunk(asked, chunk)
        self.answer(assembler.finish(), asked.model)
