"""The plugins of a child's task: what it is sent while it works, and what completes it."""

from __future__ import annotations

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.notes import note_of
from runtimes.adk.plugins.driven import DrivenPlugin
from services.children.calls import CallsOutcome
from services.model.sdk_contents import WireContent, wire_of
from services.steering import InjectionService
from services.subagents.definition import COMPLETE_TASK
from services.subagents.recovery import TASK_COMPLETED
from services.subagents.steering_inbox import SteeringInbox

__all__ = ["CompleteTaskAdkPlugin", "SteeringAdkPlugin"]


class SteeringAdkPlugin(SteeringInbox, DrivenPlugin):
    """Is the inbox of one agent, and puts its parts before the answers of tools.

    ADK's callbacks put them before the parts of the request's last content.
    """

    def __init__(self, steering: InjectionService, *, driven: bool = False) -> None:
        SteeringInbox.__init__(self, steering)
        DrivenPlugin.__init__(self, "steering", driven=driven)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Collect while the invocation runs."""
        await self._running.aclose()
        self._running.enter_context(self.collecting())

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Put what was sent into the request's last content."""
        if llm_request.contents:
            last = wire_of(llm_request.contents[-1])
            parts = self.before_answers(last.get("parts") or [])
            llm_request.contents[-1] = WireContent.of({**last, "parts": parts})


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
