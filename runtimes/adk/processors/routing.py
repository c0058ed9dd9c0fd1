"""`GcliRoutingProcessor`: which model gets the request.

The product's own router and model selection decide, ADK's routed model plays no part. The choice
sticks to the sequence of requests under one prompt id (see `SessionState.sequence_model`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from runtimes.adk.notes import ModelChosen, typed
from runtimes.adk.processors.base import EngineProcessor, note_event
from runtimes.adk.run import Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.model.configs import ModelConfigKey
from services.routing.router import RoutingContext
from services.wire import JsonObject

__all__ = ["GcliRoutingProcessor"]

_KNOWN: Final = frozenset(
    field.alias or name for name, field in types.GenerateContentConfig.model_fields.items()
)


class GcliRoutingProcessor(EngineProcessor):
    """Settles the model, announces a new one, and rewrites the request for it.

    `Step.key` keeps what was routed to: the model layer resolves it again for every attempt.
    """

    name = "gcli_routing"

    def __init__(self, services: Services, sessions: GcliSessionService, link: RunLink) -> None:
        super().__init__(services, sessions, link)
        self._config: tuple[JsonObject, types.GenerateContentConfig] | None = None

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
        llm_request.model = selection.model
        instruction = llm_request.config.system_instruction
        llm_request.config = self._typed(selection.config)
        llm_request.config.system_instruction = instruction

    async def _route(self, context: InvocationContext, run: Run) -> str:
        conversation = self._sessions.archive(context.session)
        decision = await self._services.router.route(
            RoutingContext(
                history=conversation.curated_history(),
                request=self._sessions.pending_parts(context.session),
                signal=run.signal,
                requested_model=self._services.state.model,
                prompt_id=run.prompt_id,
            )
        )
        return decision.model

    def _typed(self, config: JsonObject) -> types.GenerateContentConfig:
        """ADK's view of a generation config; what its type does not know stays out of it.

        The model layer resolves the config again, for every attempt, and sends that.
        """
        if self._config is None or self._config[0] != config:
            known = {key: value for key, value in config.items() if key in _KNOWN}
            self._config = config, typed(types.GenerateContentConfig, known)
        return self._config[1].model_copy()
