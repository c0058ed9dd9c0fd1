"""`RuntimeFlow`: ADK's single-agent flow with the product's processors, tools and no telemetry.

The lists of processors are ADK's public ones. Each private method that is overridden has a contract
test, and the dependency is pinned to the minor version that it was written for.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.notes import Answer, Delta
from services.model.errors import is_cancellation
from services.model.sdk_contents import WireContent

__all__ = ["PROCESSOR_ORDER", "Batch", "RuntimeFlow", "asked_for"]

PROCESSOR_ORDER: Final = (
    "limits",
    "basic",
    "instructions",
    "compression",
    "tool_output_masking",
    "context_overflow",
    "editor_context",
    "contents",
    "loop_check",
    "gcli_routing",
    "agent_tools",
)
"""Every request processor, in the order they run. `basic` and `instructions` are ADK's own.

ADK's others are left out: they serve features that the product does without (sub-agents by
transfer, ADK's own authorisation, confirmation, compaction, planning and code execution), and
`identity` would write into the system instruction.
"""

Batch = Callable[[InvocationContext, Event, LlmRequest], AsyncGenerator[Event, None]]
"""Runs the calls of one answer, which are in the event; the request has the tools by name.

It yields the one event that answers them all, or none: then the invocation is over.
"""


class RuntimeFlow(SingleFlow):
    """The flow of the hosted agent."""

    def __init__(self, processors: Sequence[BaseLlmRequestProcessor], tools: Batch) -> None:
        super().__init__()
        self._tools = tools
        ours = {each.name: each for each in processors}
        if unknown := ours.keys() - PROCESSOR_ORDER:
            raise ValueError(f"no place for the request processors {sorted(unknown)}")
        adks = (*self.request_processors, *self.tool_request_processors)
        known = {each.name: each for each in adks} | ours
        self.request_processors = [known[name] for name in PROCESSOR_ORDER if name in known]
        self.tool_request_processors, self.response_processors = [], []

    def _run_and_handle_error(
        self,
        response_generator: AsyncGenerator[LlmResponse, None],
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
        call_llm_span: Any = None,
    ) -> AsyncGenerator[LlmResponse, None]:
        """Error handling without telemetry, which would convert the whole request every time.

        ADK's own handling gets the model's error where callbacks ask for it. Its telemetry raises
        another error in place of one about a request that cannot be sent.
        """
        if not asked_for(invocation_context, "on_model_error_callback"):
            return response_generator
        handle = super()._run_and_handle_error
        given = (invocation_context, llm_request, model_response_event, call_llm_span)

        async def handled() -> AsyncGenerator[LlmResponse, None]:
            try:
                async with aclosing(response_generator) as responses:
                    async for response in responses:
                        yield response
                return
            except Exception as error:
                if is_cancellation(error):
                    raise
                failing = _failing(error)
            async with aclosing(handle(failing, *given)) as responses:
                async for response in responses:
                    yield await _model_of(invocation_context).replaced(response)

        return handled()

    async def _handle_before_model_callback(
        self,
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
    ) -> LlmResponse | None:
        """Make a callback context only where a plugin or the agent asks for it."""
        if not asked_for(invocation_context, "before_model_callback"):
            return None
        response = await super()._handle_before_model_callback(
            invocation_context, llm_request, model_response_event
        )
        return response and await _model_of(invocation_context).replaced(response)

    async def _handle_after_model_callback(
        self,
        invocation_context: InvocationContext,
        llm_response: LlmResponse,
        model_response_event: Event,
    ) -> LlmResponse | None:
        """Likewise, for every delta; a changed answer is what history gets."""
        if not asked_for(invocation_context, "after_model_callback"):
            return None
        content = llm_response.content
        if isinstance(content, WireContent) and not isinstance(content.note, (Delta, Answer)):
            return None
        before = copy.deepcopy(content)
        response = await super()._handle_after_model_callback(
            invocation_context, llm_response, model_response_event
        )
        now = response or llm_response
        if now.content is content and content == before:
            return response
        return _model_of(invocation_context).changed(now, llm_response)

    async def _postprocess_handle_function_calls_async(
        self,
        invocation_context: InvocationContext,
        function_call_event: Event,
        llm_request: LlmRequest,
    ) -> AsyncGenerator[Event, None]:
        """One hand-off of the whole turn to the scheduler, instead of ADK's task per call."""
        batch = self._tools(invocation_context, function_call_event, llm_request)
        async with aclosing(batch) as events:
            async for event in events:
                yield event


def _model_of(context: InvocationContext) -> GcliAgentModel:
    model = getattr(context.agent, "model", None)
    assert isinstance(model, GcliAgentModel), "the agent of this flow has another model"
    return model


def asked_for(context: InvocationContext, callback: str) -> bool:
    """Whether a plugin or the agent has a callback of its own by this name."""
    if getattr(context.agent, callback, None):
        return True
    default = getattr(BasePlugin, callback)
    return any(
        getattr(getattr(plugin, callback), "__func__", None) is not default
        for plugin in context.plugin_manager.plugins
    )


async def _failing(error: Exception) -> AsyncGenerator[LlmResponse, None]:
    raise error
    yield
