"""`RuntimeFlow`: ADK's single-agent flow with the product's processors, tools and no telemetry.

The lists of processors are ADK's public ones. Each private method that is overridden has a contract
test, and the dependency is pinned to the minor version that it was written for.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import ToolsDone, WireContent
from runtimes.adk.run import End, Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.scheduler.calls import CompletedToolCall
from services.tools.contract import ToolErrorType

__all__ = ["PROCESSOR_ORDER", "Batch", "RuntimeFlow", "ToolBatch"]

PROCESSOR_ORDER: Final = (
    "limits",
    "basic",
    "instructions",
    "compression",
    "tool_output_masking",
    "contents",
    "context_overflow",
    "loop_check",
    "gcli_routing",
    "agent_tools",
)
"""Every request processor, in the order they run. `basic` and `instructions` are ADK's own.

ADK's others are left out: they serve features that the product does without (sub-agents by
transfer, ADK's own authorisation, confirmation, compaction, planning and code execution), and
`identity` would write into the system instruction.
"""


class Batch(Protocol):
    """How the calls of one answer are run."""

    def execute(self, context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Yield the one event that answers them all, or none: then the invocation is over."""
        ...


class ToolBatch:
    """Runs a turn's calls as one batch of the scheduler and tells of the outcome."""

    def __init__(self, services: Services, sessions: GcliSessionService, link: RunLink) -> None:
        self._services = services
        self._sessions = sessions
        self._link = link

    async def execute(self, context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Yield the batch's one response event; nothing once the run is aborted.

        The batch is every call that was asked for in this turn, those of attempts that failed and
        of answers that were cut off included: clients have been told of them.
        """
        run, session = self._link.run, context.session
        if not self._sessions.archive(session).calls.leave_for_tools(run):
            # Hooks have a say first, and perhaps another request; the batch waits for that.
            context.end_invocation = True
            return
        completed = None if run.signal.aborted else await self.run(run)
        if completed is None:
            context.end_invocation = True
            return
        yield _response_event(context, completed, last=run.end is not None)
        # Clients have been told by now: the Runner and the agent go in step.
        self.record(self._sessions.archive(session), completed)
        if run.end is not None:
            self._sessions.discard_pending(session)

    async def run(self, run: Run) -> Sequence[CompletedToolCall] | None:
        """Run the turn's calls and see what they mean for the run; `None` once it is aborted."""
        completed = await self._services.scheduler.schedule(run.turn.requests, run.signal)
        if run.signal.aborted:
            return None
        run.after_tools = bool(completed)
        run.end = _verdict(completed)
        return completed

    def record(self, conversation: Conversation, completed: Sequence[CompletedToolCall]) -> None:
        """Write the outcome into the recording, once clients have been told of it."""
        state = self._services.state
        conversation.record_tool_calls(state.sequence_model or state.model, completed)


def _verdict(completed: Sequence[CompletedToolCall]) -> End | None:
    """How the batch ends the stream, if it does."""
    types = [(call.response.error_type, call.response.error) for call in completed]
    if any(kind is ToolErrorType.STOP_EXECUTION and error is not None for kind, error in types):
        return End("completed")
    if any(kind is not None and kind.is_fatal for kind, _ in types):
        return End("failed")
    return None


def _response_event(
    context: InvocationContext, completed: Sequence[CompletedToolCall], *, last: bool
) -> Event:
    parts = [part for call in completed for part in call.response.response_parts]
    content = WireContent.of({"role": "user", "parts": parts}, ToolsDone(completed))
    return Event(
        invocation_id=context.invocation_id,
        author=context.agent.name if context.agent else "",
        branch=context.branch,
        content=content,
        actions=EventActions(skip_summarization=True) if last else EventActions(),
    )


class RuntimeFlow(SingleFlow):
    """The flow of the hosted agent."""

    def __init__(self, processors: Sequence[BaseLlmRequestProcessor], tools: Batch) -> None:
        super().__init__()
        self._tools = tools
        ours = {processor.name: processor for processor in processors}
        unknown = ours.keys() - set(PROCESSOR_ORDER)
        if unknown:
            raise ValueError(f"no place for the request processors {sorted(unknown)}")
        adks = (*self.request_processors, *self.tool_request_processors)
        known = {processor.name: processor for processor in adks} | ours
        self.request_processors = [known[name] for name in PROCESSOR_ORDER if name in known]
        self.tool_request_processors.clear()
        self.response_processors.clear()

    async def _run_and_handle_error(
        self,
        response_generator: AsyncGenerator[LlmResponse, None],
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
        call_llm_span: Any = None,
    ) -> AsyncGenerator[LlmResponse, None]:
        """Error handling without telemetry, which would convert the whole request every time."""
        try:
            async with aclosing(response_generator) as responses:
                async for response in responses:
                    yield response
        except Exception as error:
            callback_context = CallbackContext(
                invocation_context, event_actions=model_response_event.actions
            )
            replacement = await invocation_context.plugin_manager.run_on_model_error_callback(
                callback_context=callback_context, llm_request=llm_request, error=error
            )
            if replacement is None:
                raise
            yield replacement

    async def _handle_before_model_callback(
        self,
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
    ) -> LlmResponse | None:
        """Make a callback context only where there is a plugin that asks for it."""
        if not _asked_for(invocation_context, "before_model_callback"):
            return None
        return await super()._handle_before_model_callback(
            invocation_context, llm_request, model_response_event
        )

    async def _handle_after_model_callback(
        self,
        invocation_context: InvocationContext,
        llm_response: LlmResponse,
        model_response_event: Event,
    ) -> LlmResponse | None:
        """Likewise, for every chunk."""
        if not _asked_for(invocation_context, "after_model_callback"):
            return None
        return await super()._handle_after_model_callback(
            invocation_context, llm_response, model_response_event
        )

    async def _postprocess_handle_function_calls_async(
        self,
        invocation_context: InvocationContext,
        function_call_event: Event,
        llm_request: LlmRequest,
    ) -> AsyncGenerator[Event, None]:
        """One hand-off of the whole turn to the scheduler, instead of ADK's task per call."""
        async with aclosing(self._tools.execute(invocation_context)) as events:
            async for event in events:
                yield event


def _asked_for(context: InvocationContext, callback: str) -> bool:
    """Whether any plugin has a callback of its own by this name."""
    default = getattr(BasePlugin, callback)
    return any(
        getattr(type(plugin), callback) is not default for plugin in context.plugin_manager.plugins
    )
