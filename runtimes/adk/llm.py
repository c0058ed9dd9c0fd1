"""`GcliAgentModel`: ADK's model, in front of the product's `ContentGenerator`.

Retrying is this layer's business and invisible to the Runner: connecting is retried by the shared
backoff, a stream that breaks off or turns out invalid is asked for again as a whole. ADK gets one
partial response per chunk, and one consolidated response when the answer is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from runtimes.adk.conversation import Conversation, SentRequest
from runtimes.adk.notes import Answer, Chunk, RequestContents, WireContent, wire_of
from runtimes.adk.run import ModelCallFailed, Run, RunLink
from runtimes.adk.tools import Toolbox
from services.abort import AbortError
from services.bundle import Services
from services.history.transforms import (
    apply_retry_nudge,
    coalesce,
    ensure_signatures,
    strip_call_id_prefixes,
)
from services.model.classification import is_retryable_error, retry_error_type
from services.model.configs import ModelConfigKey
from services.model.errors import InvalidStreamError
from services.model.generator import ChunkStream, LlmRole, ModelRequest
from services.model.names import is_gemini2_model, resolve_model, supports_modern_features
from services.model.parts import function_calls
from services.model.retry import no_fallback, retry_with_backoff
from services.model.selection import apply_model_selection
from services.model.stream import AssembledTurn, CallIds, StreamAssembler, retry_nudge
from services.scheduler.calls import ToolCallRequest
from services.state import RetryAttempt
from services.wire import Content, JsonObject

__all__ = ["GcliAgentModel", "Instruction", "ModelParts"]

_STREAM_ATTEMPTS: Final = 4
_STREAM_DELAY_MS: Final = 1000


class Instruction:
    """The system instruction, and what was last said of it.

    The flow asks when it begins a request, the model layer when it sends one: the approval mode,
    and with it the instruction, may have changed in between.
    """

    def __init__(self, provider: Callable[[], str]) -> None:
        self._provider = provider
        self.said = ""

    def __call__(self) -> str:
        """The instruction as it is now."""
        self.said = self._provider()
        return self.said


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """What the model layer works with."""

    services: Services
    conversation: Conversation
    pending: Callable[[], types.Content | None]
    """The user-role turn that waits to be sent."""
    link: RunLink
    tools: Toolbox
    instruction: Instruction


class GcliAgentModel(BaseLlm):
    """The one model of the ADK agent; which model answers, the request says."""

    _parts: ModelParts = PrivateAttr()

    @classmethod
    def over(cls, parts: ModelParts) -> GcliAgentModel:
        """Make the model. Its name is only what ADK calls it before a request is routed."""
        model = cls(model="gcli")
        model._parts = parts
        return model

    @property
    def capabilities(self) -> LlmCapabilities:
        """Nothing that ADK would act on."""
        return LlmCapabilities()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send the pending turn; yield partial responses, then exactly one consolidated one.

        Unless the answer is complete when this ends, for whatever reason, history goes back to
        where the rules of `Conversation.fail` say.

        Raises:
            ModelCallFailed: the model could not be asked, broke off, or answered nothing usable.
        """
        conversation = self._parts.conversation
        async with (
            conversation.sending,
            aclosing(self._answer(conversation, llm_request)) as responses,
        ):
            async for response in responses:
                yield response

    async def _answer(
        self, conversation: Conversation, request: LlmRequest
    ) -> AsyncGenerator[LlmResponse, None]:
        parts, run = self._parts, self._parts.link.run
        sent: SentRequest | None = None
        caught: BaseException | None = None
        answered = False
        try:
            call = _Call(parts, run, request)
            sent = call.send_pending()
            async with aclosing(call.attempts(sent)) as responses:
                async for response in responses:
                    answered = not response.partial
                    yield response
        except asyncio.CancelledError as error:
            caught = error
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Something that was awaited got cancelled, not this run; ADK must not mistake it.
            raise ModelCallFailed(AbortError()) from None
        except Exception as error:
            caught = error
            raise ModelCallFailed(error) from error
        finally:
            if sent is not None and not answered:
                conversation.fail(sent, aborted=run.signal.aborted, error=caught)


class _Call:
    """One model call of the flow: a whole answer, however many attempts it takes."""

    def __init__(self, parts: ModelParts, run: Run, request: LlmRequest) -> None:
        self._parts = parts
        self._services = parts.services
        self._run = run
        if run.step.key is None:
            raise RuntimeError("the request was not routed")
        self._key: ModelConfigKey = run.step.key
        self._call_ids = CallIds(parts.services.clock)
        instruction = request.config.system_instruction
        self._instruction: str | None = None
        """What somebody else than the flow wrote into the request."""
        if isinstance(instruction, str) and instruction != parts.instruction.said:
            self._instruction = instruction
        contents = request.contents
        self._edited: list[Content] | None = None
        if not (isinstance(contents, RequestContents) and contents.untouched()):
            self._edited = [wire_of(content) for content in contents]

    def send_pending(self) -> SentRequest:
        """Take the pending turn into history; the first one of a send is shown as it was given."""
        content = self._parts.pending()
        if content is None:
            raise RuntimeError("there is nothing to send")
        run = self._run
        shown, run.display_content = run.display_content, None
        return self._parts.conversation.send(
            wire_of(content), prompt_id=run.prompt_id, model=self._key.model, display_content=shown
        )

    async def attempts(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """Ask until an answer is complete. What failed attempts yielded is not withdrawn."""
        services, run = self._services, self._run
        most = max(1, min(services.settings.max_attempts, _STREAM_ATTEMPTS))
        invalid: InvalidStreamError | None = None
        for attempt in range(most):
            model, stream = await self._connect(attempt > 0, retry_nudge(invalid))
            assembler = StreamAssembler(after_function_response=sent.answers_tools)
            try:
                async with aclosing(stream):
                    async for chunk in stream:
                        assembler.feed(chunk)
                        yield self._partial(chunk)
                turn = assembler.finish()
            except AbortError:
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
            yield _consolidated(turn, model, run.step.requests)
            return

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

    def _partial(self, chunk: JsonObject) -> LlmResponse:
        for call in function_calls(chunk):
            self._call_ids.assign(call)
        candidate = (chunk.get("candidates") or [{}])[0]
        content = candidate.get("content") or {"role": "model"}
        return LlmResponse(content=WireContent.of(content, Chunk(chunk)), partial=True)

    async def _connect(self, is_retry: bool, nudge: str | None) -> tuple[str, ChunkStream]:
        """Ask until the model begins to answer; returns which model does."""
        services, run = self._services, self._run
        key = replace(self._key, is_retry=True) if is_retry else self._key
        selection = apply_model_selection(key, models=services.models, state=services.state)
        model, config = selection.model, selection.config
        active_at_start = services.state.active_model
        limit = selection.max_attempts or services.settings.max_attempts

        async def ask() -> ChunkStream:
            nonlocal model, config
            active = services.state.active_model
            wanted = resolve_model(
                active if active != active_at_start else model,
                services.models.access.without_custom_tools(),
            )
            if wanted != model:
                model = wanted
                config = services.models.resolve(replace(key, model=wanted)).config
            request = ModelRequest(
                model=model,
                contents=self._contents(model, nudge),
                role=LlmRole.MAIN,
                prompt_id=run.prompt_id,
                signal=run.signal,
                config={**config, **self._instruction_and_tools(model)},
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
            on_persistent_429=no_fallback,
            on_retry=on_retry,
        )
        return model, stream

    def _instruction_and_tools(self, model: str) -> JsonObject:
        """As they are now, for the model that is asked now; both may have changed on the way."""
        instruction = self._instruction
        return {
            "systemInstruction": self._parts.instruction() if instruction is None else instruction,
            "tools": self._parts.tools.declared(model).wire,
        }

    def _contents(self, model: str, nudge: str | None) -> list[Content]:
        """The contents as this model gets them; what somebody put into the request comes first."""
        signed = supports_modern_features(model) or is_gemini2_model(model)
        if self._edited is None:
            self._parts.conversation.match_configured_model()
            contents = self._parts.conversation.view.contents(signed=signed)
        else:
            edited = coalesce(self._edited)
            contents = strip_call_id_prefixes(ensure_signatures(edited) if signed else edited)
        return apply_retry_nudge(contents, nudge) if nudge else contents


def _consolidated(
    turn: AssembledTurn, model: str, requests: Sequence[ToolCallRequest]
) -> LlmResponse:
    """The whole answer. ADK's view of it has calls wherever any attempt asked for some.

    Clients have been told of them, so they are run; ADK looks for calls in the last response only.
    """
    content = WireContent.of({"role": "model", "parts": turn.parts}, Answer(turn, model))
    if requests and not any(part.get("functionCall") for part in turn.parts):
        content.parts = [*(content.parts or ()), *map(_requested, requests)]
    return LlmResponse(
        content=content,
        finish_reason=types.FinishReason.__members__.get(turn.finish_reason or ""),
        usage_metadata=_usage(turn.usage),
        model_version=model,
    )


def _requested(request: ToolCallRequest) -> types.Part:
    call = types.FunctionCall(id=request.call_id, name=request.name, args=request.args)
    return types.Part(function_call=call)


def _usage(usage: JsonObject | None) -> types.GenerateContentResponseUsageMetadata | None:
    if usage is None:
        return None
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=usage.get("promptTokenCount"),
        candidates_token_count=usage.get("candidatesTokenCount"),
        cached_content_token_count=usage.get("cachedContentTokenCount"),
        thoughts_token_count=usage.get("thoughtsTokenCount"),
        total_token_count=usage.get("totalTokenCount"),
    )
