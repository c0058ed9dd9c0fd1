"""`GcliAgentModel`: ADK's model, in front of the product's `ContentGenerator`.

This layer retries, and the Runner does not see it: the shared backoff retries the connection, and
`ModelCall` asks for a stream that breaks off or is invalid again as a whole. ADK gets one partial
response per delta, and one consolidated response when the answer is complete.

Source: core `core/geminiChat.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from runtimes.adk.conversation import Conversation, SentRequest
from runtimes.adk.notes import Answer, Blocked, Retrying, Stopped, note_of
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.request_edits import UNROUTED
from runtimes.adk.responses import announcing, called_off, chunk_of, consolidated, partial
from runtimes.adk.run import Run, RunLink
from runtimes.adk.tools import Toolbox
from services.abort import AbortError, cancellation_or_abort
from services.bundle import Services
from services.chat import Attempt, RequestParts, retry_kind, tool_call_request
from services.hooks.model_call import AgentExecutionStopped, HookVerdict
from services.hooks.translation import HookModelRequest
from services.model.errors import InvalidStreamError, is_cancellation
from services.model.generator import ChunkStream, LlmRole
from services.model.parts import function_calls
from services.model.sdk_contents import WireContent, WirePart, dumped_part, wire_of
from services.model.stream import AskedCall, AssembledTurn, CallIds, StreamAssembler, retry_nudge
from services.state import RetryAttempt
from services.wire import JsonObject, Part

__all__ = ["GcliAgentModel", "ModelCall", "ModelParts"]

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
        return self.conversation.send(
            wire_of(content), prompt_id=run.prompt_id, display_content=run.turn.display_content
        )

    def requested(self, call: JsonObject, response_id: str | None) -> AskedCall:
        """What the batch of calls runs for a function call in the chunk with this `responseId`."""
        if self.child_call is not None:
            return self.child_call(call)
        prompt_id = self.link.run.prompt_id
        return tool_call_request(self.services.tools, prompt_id, call, response_id)


class ModelCall:
    """One model call of the flow: a whole answer, however many attempts it takes."""

    def __init__(self, parts: ModelParts, run: Run, request: LlmRequest) -> None:
        if run.step.key is None:
            raise RuntimeError("the request was not routed")
        self._parts = parts
        self._services = parts.services
        self._run = run
        self._key = run.step.key
        self._call_ids = CallIds(parts.services.clock)
        self._hooks = parts.hooks
        self._edits = run.step.base.edits(request)

    async def responses(self, sent: SentRequest) -> AsyncGenerator[LlmResponse, None]:
        """The answer, or what hooks make of it; their verdicts are no failures."""
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
        most = max(1, min(services.settings.max_attempts, _STREAM_ATTEMPTS))
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


class GcliAgentModel(BaseLlm):
    """The one model of the ADK agent; which model answers, the request says."""

    _parts: ModelParts = PrivateAttr()

    @classmethod
    def over(cls, parts: ModelParts) -> GcliAgentModel:
        """Make the model. Its name is only what ADK calls it before a request is routed."""
        model = cls(model=UNROUTED)
        model._parts = parts
        return model

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send the pending turn; yield partial responses, then exactly one consolidated one.

        Unless the answer is complete when this ends, for whatever reason, history goes back to
        where the rules of `Conversation.fail` say. A stream that was called off meanwhile
        (`Step.stream`) ends with a response that says why, and has no content.

        Raises:
            Exception: the model could not be asked, broke off, or answered nothing usable; it is
                `Step.failure` then.
        """
        parts, run = self._parts, self._parts.link.run
        sent: SentRequest | None = None
        caught: BaseException | None = None
        answered = False
        async with parts.conversation.sending:
            try:
                call = ModelCall(parts, run, llm_request)
                sent = parts.send()
                async with aclosing(call.responses(sent)) as responses:
                    async for response in responses:
                        answered = not response.partial
                        yield self._expected(response)
            except asyncio.CancelledError as error:
                caught = cancellation_or_abort(error)
                if not isinstance(caught, AbortError):
                    raise
                run.step.failure = caught
                raise caught from None
            except Exception as error:
                caught = run.step.failure = error
                answers_tools = sent is not None and sent.answers_tools
                run.step.keeps_turn = answers_tools and not is_cancellation(error)
                raise
            finally:
                if sent is not None and not answered:
                    parts.conversation.fail(sent, aborted=run.signal.aborted, error=caught)
        reason = run.step.stream.signal.reason
        if reason is not None:
            yield called_off(reason)

    async def replaced(self, response: LlmResponse) -> LlmResponse:
        """Make the response of a `before_model` or an `on_model_error` callback the model's.

        History gets the pending turn and the response, and the calls in it are run. A partial
        response, and one without content, is no answer: history gets none.

        Raises:
            AbortError: the run was aborted meanwhile; history stays as it is.
        """
        parts, run = self._parts, self._parts.link.run
        async with parts.conversation.sending:
            run.signal.raise_if_aborted()
            if not run.step.keeps_turn:
                parts.send()
        answer, content = run.step.answer, response.content
        answer.replace_calls(())
        if response.partial or content is None:
            return self._expected(response)
        shown, wires = self._with_call_ids(content)
        chunk = chunk_of(response, {"role": "model", "parts": wires})
        # Asking for a delta takes it in; clients get the response itself.
        tuple(answer.deltas(chunk, parts.requested))
        answer.finish()
        finish = chunk["candidates"][0].get("finishReason")
        turn = AssembledTurn.of(wires, chunk.get("usageMetadata"), finish)
        return self._expected(_noting(response, shown, Answer(turn, run.step.base.model or "")))

    def changed(self, response: LlmResponse, original: LlmResponse) -> LlmResponse:
        """A delta or an answer that an `after_model` callback made of `original`.

        Clients have got the answer's deltas; history gets the changed answer.
        """
        content, answer = response.content, self._parts.link.run.step.answer
        if response.partial:
            plain = None if content is None else content.model_copy()
            return response.model_copy(update={"content": plain})
        note = note_of(original)
        if content is None or not isinstance(note, Answer):
            answer.replace_calls(())
            return response
        shown, wires = self._with_call_ids(content)
        known = {call.call_id: call for call in answer.calls}
        calls = []
        for part in shown:
            if part.function_call is not None:
                wire = dumped_part(part)["functionCall"]
                asked, call = (wire.get("name"), wire.get("args") or {}), known.get(wire.get("id"))
                if call is None or (call.name, call.args) != asked:
                    call = self._parts.requested(wire, None)
                calls.append(call)
        answer.replace_calls(calls)
        return _noting(response, shown, note.rewritten(wires))

    def _with_call_ids(self, content: types.Content) -> tuple[list[types.Part], list[Part]]:
        """The parts as ADK sees them, and as history gets them; calls have their ids in both."""
        parts = self._parts
        ids = CallIds(parts.services.clock)
        known = {call.call_id for call in parts.link.run.step.answer.calls}
        shown: list[types.Part] = []
        wires: list[Part] = []
        for part in content.parts or ():
            wire, called = dumped_part(part), part.function_call
            if not (isinstance(part, WirePart) and part.is_aside):
                wires.append(wire)
            if called is not None and not called.id and parts.child_call is None:
                while ids.assign(call := wire["functionCall"]) in known:
                    del call["id"]
                named = called.model_copy(update={"id": call["id"]})
                part = part.model_copy(update={"function_call": named})
            shown.append(part)
        return shown, wires

    def _expected(self, response: LlmResponse) -> LlmResponse:
        """Have history take this answer with the next event, also where a plugin replaces that."""
        note = note_of(response)
        self._parts.conversation.expect(note if isinstance(note, Answer) else None)
        return response


def _noting(response: LlmResponse, shown: list[types.Part], note: Answer) -> LlmResponse:
    content = WireContent.noting(response.content, shown, note)
    return response.model_copy(update={"content": content})
