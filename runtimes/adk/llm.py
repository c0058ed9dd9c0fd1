"""`GcliAgentModel`: ADK's model, in front of the product's `ContentGenerator`.

This layer retries, and the Runner does not see it: the shared backoff retries the connection, and
`ModelCall` asks for a stream that breaks off or is invalid again as a whole. ADK gets one partial
response per delta, and one consolidated response when the answer is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from runtimes.adk.model_call import ModelCall, ModelParts
from runtimes.adk.notes import Answer, note_of
from runtimes.adk.request_edits import UNROUTED
from runtimes.adk.responses import called_off, chunk_of
from services.abort import AbortError, cancellation_or_abort
from services.chat import SentRequest
from services.model.errors import is_cancellation
from services.model.sdk_contents import WireContent, WirePart, dumped_part
from services.model.stream import AssembledTurn, CallIds
from services.wire import Part

__all__ = ["GcliAgentModel"]


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
        parts = self._parts
        run, expect = parts.link.run, parts.conversation.expect
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
                        expect(_answer_in(response))
                        yield response
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
        return self._expected(_noting(response, shown, Answer(turn, run.step.base.model)))

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
        answer.replace_calls(
            self._parts.requested(dumped_part(part)["functionCall"])
            for part in shown
            if part.function_call is not None
        )
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
        self._parts.conversation.expect(_answer_in(response))
        return response


def _answer_in(response: LlmResponse) -> Answer | None:
    note = note_of(response)
    return note if isinstance(note, Answer) else None


def _noting(response: LlmResponse, shown: list[types.Part], note: Answer) -> LlmResponse:
    content = WireContent.noting(response.content, shown, note)
    return response.model_copy(update={"content": content})
