"""What the request processors have in common."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions.session import Session

from runtimes.adk.notes import Note, Stopped
from runtimes.adk.run import Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.model.sdk_contents import WireContent

__all__ = ["EngineProcessor", "leave", "note_event", "stop"]


@dataclass(eq=False)
class EngineProcessor(BaseLlmRequestProcessor):
    """A request processor that looks at the run under way and at what it is part of."""

    _services: Services
    _sessions: GcliSessionService
    _link: RunLink

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the event of the step, if it has one."""
        event = await self._step(invocation_context, self._link.run)
        if event is not None:
            yield event

    async def _step(self, context: InvocationContext, run: Run) -> Event | None:
        """Do what comes before one model request. The event may end the run."""
        raise NotImplementedError


def note_event(context: InvocationContext, note: Note, *, partial: bool = False) -> Event:
    """An event of the agent that carries a note alone. Partial events are never stored."""
    return Event(
        invocation_id=context.invocation_id,
        author=context.agent.name if context.agent else "",
        branch=context.branch,
        content=WireContent.bare(note),
        partial=partial or None,
    )


def stop(context: InvocationContext, sessions: GcliSessionService, stopped: Stopped) -> Event:
    """End the run before the model is asked."""
    leave(context, sessions)
    return note_event(context, stopped)


def leave(context: InvocationContext, sessions: GcliSessionService) -> None:
    """End the invocation before the model is asked; the send's handler decides what comes next.

    The turn that was to be sent is forgotten: it never was part of the history.
    """
    session: Session = context.session
    sessions.discard_pending(session)
    context.end_invocation = True
