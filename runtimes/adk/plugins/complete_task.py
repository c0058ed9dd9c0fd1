"""`CompleteTaskAdkPlugin`: a child's task is over when `complete_task` has said so."""

from __future__ import annotations

from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.child.task import ChildTask
from runtimes.adk.notes import ChildToolsDone, note_of
from services.subagents.definition import TerminateMode
from services.subagents.recovery import TASK_COMPLETED

__all__ = ["CompleteTaskAdkPlugin"]

_NAME: Final = "complete_task"


class CompleteTaskAdkPlugin(BasePlugin):
    """The terminator: sees a batch that completed the task, and lets the flow go no further.

    The event is marked in place. The flow asks whether it is the last one after it was yielded, and
    what completed the task is never sent.
    """

    def __init__(self, task: ChildTask) -> None:
        super().__init__(name=_NAME)
        self._task = task

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Take the submitted result from the event that answers the calls."""
        note = note_of(event)
        if isinstance(note, ChildToolsDone) and note.outcome.completed:
            submitted = note.outcome.submitted_output
            self._task.result = TASK_COMPLETED if submitted is None else submitted
            self._task.end = TerminateMode.GOAL
            event.actions.skip_summarization = True
        return None
