"""What the request processors of an agent have in common."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Note, Stopped
from runtimes.adk.run import Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.model.sdk_contents import WireContent

__all__ = ["EngineProcessor", "agent_event", "note_event"]


@dataclass(eq=False)
class EngineProcessor(BaseLlmRequestProcessor):
    """A request processor of one agent; `_step` is what it does before each model request."""

    _services: Services
    _conversation: Conversation
    _sessions: GcliSessionService
    _link: RunLink

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the event of the step, if it has one."""
        event = await self._step(invocation_context, self._link.run, llm_request)
        if event is not None:
            yield event

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        """Do what comes before one model request. The event may end the run."""
        raise NotImplementedError

    def _leave(self, context: InvocationContext) -> None:
        """End the invocation before the model is asked; the send's handler decides what follows.

        The turn that was to be sent is forgotten: it never was part of the history.
        """
        self._sessions.discard_pending(context.session)
        context.end_invocation = True

    def _stop(self, context: InvocationContext, stopped: Stopped) -> Event:
        """End the run before the model is asked."""
        self._leave(context)
        return note_event(context, stopped)


def agent_event(
    context: InvocationContext,
    content: types.Content,
    *,
    partial: bool | None = None,
    actions: EventActions | None = None,
) -> Event:
    """An event of the agent. Partial events are never stored."""
    return Event(
        invocation_id=context.invocation_id,
        author=context.agent.name if context.agent else "",
        branch=context.branch,
        content=content,
        partial=partial,
        actions=actions or EventActions(),
    )


def note_event(context: InvocationContext, note: Note, *, partial: bool | None = None) -> Event:
    """An event of the agent that carries a note alone."""
    return agent_event(context, WireContent.bare(note), partial=partial)
