"""`ModelCall`: one whole answer of the model, with the attempts that it takes and their hooks.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from runtimes.adk.model_parts import ModelParts
from runtimes.adk.notes import Blocked, Retrying, Stopped
from runtimes.adk.plugins.hook_bridge import BLOCKED, STOPPED
from runtimes.adk.responses import announcing, consolidated, partial, stand_in
from runtimes.adk.run import Run
from services.abort import AbortError
from services.chat import SentRequest
from services.history.transforms import (
    apply_retry_nudge,
    coalesce,
    ensure_signatures,
    strip_call_id_prefixes,
)
from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    HookVerdict,
)
from services.hooks.translation import HookModelRequest
from services.model.classification import is_retryable_error, retry_error_type
from services.model.configs import ModelConfigKey
from services.model.errors import InvalidStreamError
from services.model.generator import ChunkStream, ModelRequest
from services.model.names import is_gemini2_model, supports_modern_features
from services.model.parts import function_calls
from services.model.retry import retry_with_backoff
from services.model.sdk_contents import wire_of
from services.model.stream import CallIds, StreamAssembler, retry_nudge
from services.state import RetryAttempt
from services.wire import Content, JsonObject

__all__ = ["ModelCall", "send_pending"]

_STREAM_ATTEMPTS: Final = 4
_STREAM_DELAY_MS: Final = 1000


def send_pending(parts: ModelParts, run: Run) -> SentRequest:
    """Take the pending turn into history."""
    content, shown = parts.pending(), run.display_content
    if content is None:
        raise RuntimeError("there is nothing to send")
    return parts.conversation.take_request(
        wire_of(content),
        prompt_id=run.prompt_id,
        display_content=None if shown is None else [{"text": shown}],
    )


def _routed(run: Run) -> ModelConfigKey:
    if run.step.key is None:
        raise RuntimeError("the request was not routed")
    return run.step.key


class ModelCall:
    """One model call of the flow: a whole answer, however many attempts it takes."""

    def __init__(self, parts: ModelParts, run: Run, request: LlmRequest) -> None:
        self._parts = parts
        self._services = parts.services
        self._run = run
        self._key = _routed(run)
        self._call_ids = CallIds(parts.services.clock)
        self._hooks = parts.hooks
        self._requested = parts.asking.requested(self._services, run)
        self._edits = run.step.base.edits(request, parts.instruction.said)

    async def responses(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """The answer, or what hooks make of it; their verdicts are no failures."""
        try:
            async with aclosing(self._attempts(sent)) as responses:
                async for response in responses:
                    yield response
        except AgentExecutionStopped as verdict:
            # The reader closes the stream at this, and so history goes back, as upstream's does.
            yield announcing(Stopped(reason="completed", data={"message": verdict.reason}))
            if self._parts.asking.outlives_stops:
                self._run.step.answer.finish()
                yield stand_in(STOPPED, self._run.step.answer.calls)
        except AgentExecutionBlocked as verdict:
            for response in self._blocked(verdict):
                yield response

    async def _attempts(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """Ask until an answer is complete. What failed attempts yielded is not withdrawn."""
        services, run = self._services, self._run
        cancel = run.step.stream.signal
        most = max(1, min(services.settings.max_attempts, _STREAM_ATTEMPTS))
        invalid: InvalidStreamError | None = None
        for attempt in range(most):
            if attempt and self._parts.asking.announces_retries:
                yield announcing(Retrying())
            asked, stream = await self._connect(attempt > 0, retry_nudge(invalid))
            assembler = StreamAssembler(
                after_function_response=sent.answers_tools,
                context_management=services.settings.context_management,
            )
            try:
                async with aclosing(stream):
                    async for chunk in stream:
                        assembler.feed(chunk)
                        if self._hooks is not None:
                            chunk = await self._hooks.after_chunk(asked, chunk)
                        for response in self._partials(chunk):
                            yield response
                            if cancel.aborted:
                                return
                        self._parts.conversation.publish_tokens()
                turn = assembler.finish()
            except (AbortError, HookVerdict):
                raise
            except Exception as error:
                if isinstance(error, InvalidStreamError):
                    invalid = error
                    kind = error.type
                elif run.signal.aborted or not is_retryable_error(
                    error, services.settings.retry_fetch_errors
                ):
                    raise
                else:
                    kind = retry_error_type(error)
                if attempt == most - 1:
                    raise
                await self._wait(attempt, most, kind)
                continue
            run.step.answer.finish()
            yield consolidated(
                turn,
                asked.model,
                run.step.answer.calls,
                hides_calls=not run.step.answer.asked,
            )
            return

    def _blocked(self, verdict: AgentExecutionBlocked) -> Iterator[LlmResponse]:
        """What takes the place of an answer that a hook will not have; history gets none."""
        step = self._run.step
        yield announcing(Blocked(verdict.reason))
        if verdict.response is not None:
            for response in self._partials(verdict.response):
                yield response
                if step.stream.signal.aborted:
                    return
        step.answer.finish()
        yield stand_in(BLOCKED, step.answer.calls)

    async def _wait(self, attempt: int, most: int, kind: str) -> None:
        """Announce another attempt and wait for it; an abort does not cut this wait short."""
        delay_ms = _STREAM_DELAY_MS * 2**attempt
        self._services.events.emit(
            RetryAttempt(
                attempt=attempt + 1,
                max_attempts=most,
                delay_ms=delay_ms,
                error=kind,
                model=self._services.models.resolve(self._key).model,
            )
        )
        await self._services.clock.sleep(delay_ms)

    def _partials(self, chunk: JsonObject) -> Iterator[LlmResponse]:
        """One partial response per delta; each is made when the one before was taken."""
        if self._parts.asking.names_calls:
            for call in function_calls(chunk):
                self._call_ids.assign(call)
        for delta in self._run.step.answer.deltas(chunk, self._requested):
            yield partial(delta, chunk)

    async def _connect(
        self, is_retry: bool, nudge: str | None
    ) -> tuple[HookModelRequest, ChunkStream]:
        """Ask until the model begins to answer; returns what it was asked.

        Hooks see each attempt's request, and decide what is asked.
        """
        services, run = self._services, self._run
        key = replace(self._key, is_retry=True) if is_retry else self._key
        selection = services.availability.select(key)
        routed, config = selection.model, selection.config
        model = routed
        active_at_start = services.state.active_model
        limit = selection.max_attempts or services.settings.max_attempts

        asked: HookModelRequest

        async def ask() -> ChunkStream:
            nonlocal routed, model, config, asked
            active = services.state.active_model
            wanted = self._concrete(active if active != active_at_start else routed)
            if wanted != routed:
                routed = wanted
                config = services.models.resolve(replace(key, model=wanted)).config
            await services.tools.settled()
            model = self._concrete(self._edits.model) if self._edits.model else routed
            # Instruction and tools may have changed on the way.
            asked = HookModelRequest(
                model=model,
                config=self._edits.applied(
                    config, self._parts.instruction(), self._parts.tools.taken(routed)
                ),
                contents=self._contents(model, nudge),
            )
            if self._hooks is not None:
                asked = await self._hooks.before_attempt(
                    asked,
                    contents_for=lambda model: self._contents(model, nudge),
                    concrete=self._concrete,
                    nudge=nudge,
                )
                if asked.model != model:
                    routed = model = asked.model
            request = ModelRequest(
                model=model,
                contents=asked.contents,
                role=self._parts.asking.role,
                prompt_id=run.prompt_id,
                signal=run.signal,
                config=dict(asked.config),
            )
            return await services.content_generator.generate_content_stream(request)

        def on_retry(attempt: int, error: Exception, delay_ms: float) -> None:
            services.events.emit(
                RetryAttempt(
                    attempt=attempt,
                    max_attempts=limit,
                    delay_ms=delay_ms,
                    error=str(error),
                    model=model,
                )
            )

        stream = await retry_with_backoff(
            ask,
            clock=services.clock,
            rng=services.rng,
            signal=run.signal,
            max_attempts=limit,
            retry_fetch_errors=services.settings.retry_fetch_errors,
            variables=services.environment.variables,
            on_persistent_429=lambda auth, error: services.availability.fall_back(
                model, auth, error
            ),
            availability_context=lambda: services.availability.context(model),
            on_retry=on_retry,
        )
        return asked, stream

    def _concrete(self, name: str) -> str:
        return self._services.models.concrete(name, custom_tools=False)

    def _contents(self, model: str, nudge: str | None) -> list[Content]:
        """The contents as this model gets them; an edit of the request comes first."""
        signed = supports_modern_features(model) or is_gemini2_model(model)
        if self._edits.contents is None:
            self._parts.conversation.match_configured_model()
            contents = self._parts.conversation.view.contents(signed=signed)
        else:
            edited = coalesce(self._edits.contents)
            contents = strip_call_id_prefixes(ensure_signatures(edited) if signed else edited)
        return apply_retry_nudge(contents, nudge) if nudge else contents
