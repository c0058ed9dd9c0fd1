"""`SteeringAdkPlugin`: puts what is injected while an agent works before the results of tools."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.plugins.driven import DrivenPlugin
from services.model.sdk_contents import WireContent, wire_of
from services.steering import MainInbox
from services.subagents.steering_inbox import SteeringInbox
from services.wire import Part

__all__ = ["SteeringAdkPlugin"]


class _Inbox(Protocol):
    def before_answers(self, answers: list[Part]) -> list[Part]: ...

    def request_sent(self, parts: list[Part]) -> None: ...


class SteeringAdkPlugin(DrivenPlugin):
    """Takes from the inbox of one agent: the main loop's, or a subagent's.

    The runtime calls the methods when the results of tools are complete, before the processors read
    the message, and when the history takes it. ADK's callbacks put the parts before those of the
    request's last content, which the session does not keep.
    """

    def __init__(self, inbox: MainInbox | SteeringInbox, *, driven: bool = False) -> None:
        """Make the plugin of the agent that `inbox` belongs to."""
        super().__init__("steering", driven=driven)
        self._inbox: _Inbox = inbox
        self._child = inbox if isinstance(inbox, SteeringInbox) else None

    def collecting(self) -> AbstractContextManager[None]:
        """Collect for a subagent until the context ends; the main loop's inbox always does."""
        return nullcontext() if self._child is None else self._child.collecting()

    def before_answers(self, answers: list[Part]) -> list[Part]:
        """Return the parts of the next message: what waits, then the answers of tools."""
        return self._inbox.before_answers(answers)

    def request_sent(self, parts: list[Part]) -> None:
        """Take notice that the history has the message with these parts."""
        self._inbox.request_sent(parts)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Collect while the invocation runs."""
        await self._running.aclose()
        self._running.enter_context(self.collecting())

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Put what waits into the request's last content."""
        if llm_request.contents:
            last = wire_of(llm_request.contents[-1])
            parts = self.before_answers(last.get("parts") or [])
            llm_request.contents[-1] = WireContent.of({**last, "parts": parts})
            self.request_sent(parts)
