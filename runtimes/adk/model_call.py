"""`ModelCall`: one whole answer of the model, with the attempts that it takes and their hooks.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Blocked, Retrying, Stopped
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.responses import announcing, called_off, consolidated, partial
from runtimes.adk.run import Run, RunLink
from runtimes.adk.tools import Toolbox
from services.bundle import Services
from services.chat import Attempt, RequestParts, SentRequest, retry_kind, tool_call_request
from services.hooks.model_call import AgentExecutionStopped, HookVerdict
from services.hooks.translation import HookModelRequest
from services.model.errors import InvalidStreamError
from services.model.generator import ChunkStream, LlmRole
from services.model.parts import function_calls
from services.model.sdk_contents import wire_of
from services.model.stream import AskedCall, CallIds, StreamAssembler, retry_nudge
from services.state import RetryAttempt
from services.wire import JsonObject

__all__ = ["ModelCall", "ModelParts"]

_STREAM_ATTEMPTS: Final = 4
_STREAM_DELAY_MS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """What the model layer works with."""

    services: Services
    conversation: Conversation
    pending: Callable[[], types.Content | None]
    """The user-role turn that waits to be sent."""
    link: RunLink
    tools: Toolbox
    instruction: Callable[[], str]
    """The system instruction as it is now."""
    hooks: HookBridgePlugin | None = None
    """The user's hooks around model calls, where there are any."""
    steering: SteeringAdkPlugin | None = None
    """What is injected while the agent works."""
    child_call: Callable[[JsonObject], AskedCall] | None = None
    """In a child: what its batch runs for a function call. A child's calls keep the ids that they
    came with, an answer that a hook stopped does not end the run, and retries are announced."""

    def send(self) -> SentRequest:
        """Take the pending turn into history.

        Raises:
            RuntimeError: there is none.
        """
        content, run = self.pending(), self.link.run
        if content is None:
            raise RuntimeError("there is nothing to send")
        shown, message = run.display_content, wire_of(content)
        if self.steering is not None:
            self.steering.request_sent(message.get("parts") or [])
        return self.conversation.take_request(
            message,
            prompt_id=run.prompt_id,
            display_content=None if shown is None else [{"text": shown}],
        )

    def requested(self, call: JsonObject) -> AskedCall:
        """What the batch of calls runs for a function call."""
        if self.child_call is not None:
            return self.child_call(call)
        prompt_id = self.link.run.prompt_id
        return tool_call_request(self.services.tools, prompt_id, call)


class ModelCall:
    """One model call of the flow: a whole answer, however many attempts it takes."""

    def __init__(self, parts: ModelParts, run: Run, request: LlmRequest) -> None:
        assert run.step.key is not None, "the request was not routed"
        self._parts = parts
        self._services = parts.services
        self._run = run
        self._key = run.step.key
        self._call_ids = CallIds(parts.services.clock)
        self._hooks = parts.hooks
        self._edits = run.step.base.edits(request)

    def responses(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """The answer, or what hooks make of it; their verdicts are no failures."""
        return self._attempts(sent) if self._hooks is None else self._allowed(sent)

    async def _allowed(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        try:
            async with aclosing(self._attempts(sent)) as responses:
                async for response in responses:
                    yield response
        except HookVerdict as verdict:
            for response in self._refused(verdict):
                yield response

    async def _attempts(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """Ask until an answer is complete. What failed attempts yielded is not withdrawn."""
        services, run = self._services, self._run
        answer, cancel = run.step.answer, run.step.stream.signal
        most = min(services.settings.max_attempts, _STREAM_ATTEMPTS)
        invalid: InvalidStreamError | None = None
        for attempt in range(most):
            if attempt and self._parts.child_call is not None:
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
            except Exception as error:
                kind = retry_kind(error, services.settings, aborted=run.signal.aborted)
                if kind is None or attempt == most - 1:
                    raise
                invalid = error if isinstance(error, InvalidStreamError) else invalid
                await self._wait(attempt, most, kind)
                continue
            answer.finish()
            yield consolidated(turn, asked.model, answer.calls, hides_calls=not answer.asked)
            return
        # Settings may allow no attempt at all: the turn ends without an answer, and is no failure.
        answer.finish()

    def _refused(self, verdict: HookVerdict) -> Iterator[LlmResponse]:
        """What takes the place of an answer that a hook does not allow; history gets none."""
        step, stops = self._run.step, isinstance(verdict, AgentExecutionStopped)
        stopped = Stopped(reason="completed", data={"message": verdict.reason})
        yield announcing(stopped if stops else Blocked(verdict.reason))
        if stops and self._parts.child_call is None:
            # The reader has closed the stream at this: history goes back, as upstream's does.
            return
        if verdict.response is not None:
            for response in self._partials(verdict.response):
                yield response
                if step.stream.signal.aborted:
                    return
        step.answer.finish()
        yield called_off(verdict.code, step.answer.calls)

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
        if self._parts.child_call is None:
            for call in function_calls(chunk):
                self._call_ids.assign(call)
        for delta in self._run.step.answer.deltas(chunk, self._parts.requested):
            yield partial(delta, chunk)

    async def _connect(
        self, is_retry: bool, nudge: str | None
    ) -> tuple[HookModelRequest, ChunkStream]:
        """What this attempt asked the model when it began to answer, and its answer."""
        parts = self._parts
        attempt = Attempt(
            self._services,
            parts.conversation,
            RequestParts(
                role=LlmRole.MAIN if parts.child_call is None else LlmRole.SUBAGENT,
                system_instruction=parts.instruction,
                tools=parts.tools.taken,
            ),
            key=replace(self._key, is_retry=True) if is_retry else self._key,
            prompt_id=self._run.prompt_id,
            signal=self._run.signal,
            nudge=nudge,
            hooks=self._hooks,
            edits=self._edits,
        )
        return await attempt.connect()
