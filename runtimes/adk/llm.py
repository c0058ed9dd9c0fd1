"""`GcliAgentModel`: ADK's model, in front of the product's `ContentGenerator`.

Retrying is this layer's business and invisible to the Runner: connecting is retried by the shared
backoff, a stream that breaks off or turns out invalid is asked for again as a whole. ADK gets one
partial response per chunk, and one consolidated response when the answer is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from google.adk.models import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from runtimes.adk.conversation import Conversation, SentRequest
from runtimes.adk.model_call import ModelCall
from runtimes.adk.model_parts import ModelParts
from runtimes.adk.responses import called_off
from runtimes.adk.run import ModelCallFailed
from services.abort import AbortError, cancellation_or_abort

__all__ = ["GcliAgentModel"]


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

    async def _answer(
        self, conversation: Conversation, request: LlmRequest
    ) -> AsyncGenerator[LlmResponse, None]:
        parts, run = self._parts, self._parts.link.run
        sent: SentRequest | None = None
        caught: BaseException | None = None
        answered = False
        try:
            call = ModelCall(parts, run, request)
            sent = call.send_pending()
            async with aclosing(call.responses(sent)) as responses:
                async for response in responses:
                    answered = not response.partial
                    yield response
        except asyncio.CancelledError as error:
            caught = cancellation_or_abort(error)
            if isinstance(caught, AbortError):
                raise ModelCallFailed(caught) from None
            raise
        except Exception as error:
            caught = error
            raise ModelCallFailed(error) from error
        finally:
            if sent is not None and not answered:
                conversation.fail(sent, aborted=run.signal.aborted, error=caught)
