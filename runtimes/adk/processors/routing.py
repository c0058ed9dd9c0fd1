"""`GcliRoutingProcessor`, `ToolsProcessor`: which model gets the request, and which tools.

The product's own router and model selection decide, ADK's routed model plays no part. The choice
sticks to the sequence of requests under one prompt id (see `SessionState.sequence_model`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows.tools._agent_tools import process_agent_tools
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import ModelChosen
from runtimes.adk.processors.base import EngineProcessor, note_event
from runtimes.adk.request_edits import TypedConfig
from runtimes.adk.run import Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import Toolbox
from services.bundle import Services
from services.model.configs import ModelConfigKey
from services.routing.router import RoutingContext

__all__ = ["GcliRoutingProcessor", "ToolsProcessor"]


class GcliRoutingProcessor(EngineProcessor):
    """Settles the model, announces a new one, and rewrites the request for it.

    `Step.key` keeps what was routed to: the model layer resolves it again for every attempt.
    """

    name = "gcli_routing"

    def __init__(
        self,
        services: Services,
        conversation: Conversation,
        sessions: GcliSessionService,
        link: RunLink,
    ) -> None:
        super().__init__(services, conversation, sessions, link)
        self._config = TypedConfig()

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the choice when there was none for this sequence yet."""
        services, state, run = self._services, self._services.state, self._link.run
        run.ask_model()
        sticky = state.sequence_model
        wanted = sticky or await self._route(invocation_context, run)
        key = ModelConfigKey(model=wanted, is_chat_model=True)
        selection = services.availability.select(key, consume_attempt=False)
        if sticky is None and not run.signal.aborted:
            yield note_event(invocation_context, ModelChosen(selection.model), partial=True)
        state.sequence_model = selection.model
        run.step.key = key
        config = self._config.of(selection.config)
        run.step.base.write_routed(llm_request, selection.model, config)

    async def _route(self, context: InvocationContext, run: Run) -> str:
        decision = await self._services.router.route(
            RoutingContext(
                history=self._conversation.curated_history(),
                request=self._sessions.pending_parts(context.session),
                signal=run.signal,
                requested_model=self._services.state.model,
                prompt_id=run.prompt_id,
            )
        )
        return decision.model


@dataclass(eq=False)
class ToolsProcessor(EngineProcessor):
    """Fills the request's tools and its table of them, for the model that it was routed to.

    Takes the place of ADK's `agent_tools`, which would declare every tool anew at each step.
    """

    _tools: Toolbox
    _begin: Callable[[InvocationContext, LlmRequest], None] | None = None
    """Gets the context and the request of every step."""
    name = "agent_tools"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        base = run.step.base
        base.write_tools(request, self._tools.declared(base.model or ""))
        # Declares the agent's own tools; where there are none, ADK need not look for each chunk.
        await process_agent_tools(context, request)
        if self._begin is not None:
            self._begin(context, request)
