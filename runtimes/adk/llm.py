"""`GcliAgentModel`: ADK's model, in front of the product's `ContentGenerator`.

Retrying is this layer's business and invisible to the Runner: connecting is retried by the shared
backoff, a stream that breaks off or turns out invalid is asked for again as a whole. ADK gets one
partial response per chunk, and one consolidated response when the answer is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from runtimes.adk.callback_answers import changed_answer, replaced_answer
from runtimes.adk.conversation import Conversation, SentRequest
from runtimes.adk.model_call import ModelCall, send_pending
from runtimes.adk.model_parts import ModelParts
from runtimes.adk.request_edits import UNROUTED
from runtimes.adk.responses import called_off
from runtimes.adk.run import ModelCallFailed
from services.abort import AbortError
from services.model.errors import is_cancellation

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

    @property
    def capabilities(self) -> LlmCapabilities:
        """Nothing that ADK would act on."""
        return LlmCapabilities()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send the pending turn; yield partial responses, then exactly one consolidated one.

        Unless the answer is complete when this ends, for whatever reason, history goes back to
        where the rules of `Conversation.fail` say. A stream that was called off while it was told
        (`Step.stream`) ends with a response that says why, and has no content.

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
        reason = self._parts.link.run.step.stream.signal.reason
        if reason is not None:
            yield called_off(reason)

    async def replaced(
        self, response: LlmResponse, failure: Exception | None = None
    ) -> LlmResponse:
        """Make a callback's response the model's: history gets the pending turn and the response.

        Args:
            response: What a `before_model` or an `on_model_error` callback returned.
            failure: What the callback replaces; `None` where the model was not asked.

        Raises:
            AbortError: the run was aborted meanwhile; history stays as it is.
        """
        parts, run = self._parts, self._parts.link.run
        async with parts.conversation.sending:
            run.signal.raise_if_aborted()
            if not (isinstance(failure, ModelCallFailed) and failure.keeps_turn):
                send_pending(parts, run)
        return replaced_answer(response, parts, run)

    def changed(self, response: LlmResponse, original: LlmResponse) -> LlmResponse:
        """What an `after_model` callback made of `original`, as history and clients get it."""
        return changed_answer(response, original, self._parts, self._parts.link.run)

    async def _answer(
        self, conversation: Conversation, request: LlmRequest
    ) -> AsyncGenerator[LlmResponse, None]:
        parts, run = self._parts, self._parts.link.run
        sent: SentRequest | None = None
        caught: BaseException | None = None
        answered = False
        try:
            call = ModelCall(parts, run, request)
            sent = send_pending(parts, run)
            async with aclosing(call.responses(sent)) as responses:
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
            kept = sent is not None and sent.answers_tools and not is_cancellation(error)
            raise ModelCallFailed(error, keeps_turn=kept) from error
        finally:
            if sent is not None and not answered:
                conversation.fail(sent, aborted=run.signal.aborted, error=caught)
