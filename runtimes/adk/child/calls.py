"""How a child's calls are run: by `ChildCalls`, whose answer is the next message."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.notes import ChildToolsDone, WireContent
from runtimes.adk.run import RunLink
from runtimes.adk.tool_callbacks import ToolRound
from services.bundle import Services
from services.children.calls import ChildCalls
from services.subagents.definition import TerminateMode
from services.wire import Part

__all__ = ["ChildBatch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildBatch:
    """Runs the calls of each turn of a child's."""

    services: Services
    termination: ChildTermination
    link: RunLink
    calls: ChildCalls
    before_answers: Callable[[list[Part]], list[Part]]
    """Puts what the child was sent since its last turn before the answers."""

    async def execute(
        self, context: InvocationContext, call_event: Event, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the event that answers the calls; nothing once the run is aborted."""
        run, task = self.link.run, self.termination
        if run.signal.aborted:
            task.stop()
            context.end_invocation = True
            return
        if run.step.key is None:
            raise RuntimeError("the request was not routed")
        batch = ToolRound(self.services, context, llm_request.tools_dict)
        outcome = await self.calls.run(
            task.calls,
            run.prompt_id,
            run.signal,
            run.step.key.model,
            around=batch.run,
            added=batch.added,
        )
        if outcome.aborted:
            task.stop(TerminateMode.ABORTED)
            context.end_invocation = True
            return
        parts = list(outcome.parts)
        if task.recovering and not outcome.completed:
            task.go_on()
            context.end_invocation = True
            return
        if not outcome.completed:
            parts = self.before_answers(parts)
        actions = batch.actions(EventActions())
        # A child's task ends with `complete_task` alone; its plugin sets this then.
        actions.skip_summarization = None
        yield Event(
            invocation_id=context.invocation_id,
            author=context.agent.name if context.agent else "",
            branch=context.branch,
            content=WireContent.of({"role": "user", "parts": parts}, ChildToolsDone(outcome)),
            actions=actions,
        )
