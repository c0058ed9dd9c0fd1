"""`CompleteTaskAdkPlugin`: what completes a child's task."""

from __future__ import annotations

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.notes import note_of
from services.children.calls import CallsOutcome
from services.subagents.definition import COMPLETE_TASK
from services.subagents.recovery import TASK_COMPLETED

__all__ = ["CompleteTaskAdkPlugin"]


class CompleteTaskAdkPlugin(BasePlugin):
    """Ends the run of an agent with the event that completes its task, and keeps the result.

    The plugin marks the event in place: ADK's flow asks whether an event is the last one after it
    was yielded. The answer that completes the task is never sent.

    Events of the runtime carry the outcome of the calls. In other events the plugin reads the
    function response of `complete_task`: one without an `error` completes the task.
    """

    def __init__(self) -> None:
        super().__init__(name="complete_task")
        self.result: str | None = None
        """The result that was submitted; `None` while the task is not completed."""

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Look whether the event completes the task."""
        note = note_of(event)
        if isinstance(note, CallsOutcome):
            if note.completed:
                self.task_completed(note.submitted_output, event)
            return
        for answer in event.get_function_responses():
            response = answer.response or {}
            if answer.name == COMPLETE_TASK and not response.get("error"):
                submitted = response.get("result")
                self.task_completed(submitted if isinstance(submitted, str) else None, event)

    def task_completed(self, submitted: str | None, event: Event) -> None:
        """Keep the result, and let `event` be the last one."""
        self.result = TASK_COMPLETED if submitted is None else submitted
        event.actions.skip_summarization = True
