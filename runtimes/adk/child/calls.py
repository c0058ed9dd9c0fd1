"""How a child's calls are run: by `ChildCalls`, whose answer is the next message."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.run import RunLink
from runtimes.adk.tool_round import ToolRound
from services.children.calls import ChildCalls
from services.model.sdk_contents import WireContent
from services.subagents.definition import TerminateMode

__all__ = ["ChildBatch"]


class ChildBatch:
    """Runs the calls of each turn of a child's."""

    def __init__(self, termination: ChildTermination, link: RunLink) -> None:
        child, self._plugins = termination.child, termination.plugins
        self._termination = termination
        self._link = link
        self._services = child.services
        self._calls = ChildCalls(
            child,
            waiting=self._plugins.max_time.waiting,
            record=termination.chat.record_tool_calls,
        )

    async def execute(
        self, context: InvocationContext, call_event: Event, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the event that answers the calls; nothing once the run is aborted."""
        run, task = self._link.run, self._termination
        if run.signal.aborted:
            task.stop()
            context.end_invocation = True
            return
        if run.step.key is None:
            raise RuntimeError("the request was not routed")
        batch = ToolRound(self._services, context, llm_request.tools_dict)
        outcome = await self._calls.run(
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
            parts = self._plugins.steering.before_answers(parts)
        actions = batch.actions(EventActions())
        # A child's task ends with `complete_task` alone; its plugin sets this then.
        actions.skip_summarization = None
        yield Event(
            invocation_id=context.invocation_id,
            author=context.agent.name if context.agent else "",
            branch=context.branch,
            content=WireContent.of({"role": "user", "parts": parts}, outcome),
            actions=actions,
        )
