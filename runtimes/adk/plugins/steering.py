"""`SteeringAdkPlugin`: what a child is sent while it works, and where it goes in a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin

from services.model.sdk_contents import WireContent, wire_of
from services.steering import InjectionService
from services.subagents.steering_inbox import SteeringInbox, steering_inbox
from services.wire import Part

__all__ = ["SteeringAdkPlugin"]


class SteeringAdkPlugin(BasePlugin):
    """Owns the inbox of one agent, and puts its parts before the answers of tools.

    With `driven=True` the runtime calls `collecting` and `before_answers`; otherwise ADK's
    callbacks do, and the parts go before those of the request's last content.
    """

    def __init__(self, steering: InjectionService, *, driven: bool = False) -> None:
        super().__init__(name="steering")
        self.driven = driven
        self._steering = steering
        self._inbox = SteeringInbox()
        self._running = ExitStack()

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Fill the inbox until the context is left; what it holds by then stays."""
        with steering_inbox(self._steering) as self._inbox:
            yield

    def before_answers(self, answers: list[Part]) -> list[Part]:
        """Return the parts of the next message, and empty the inbox."""
        return [*self._inbox.taken(), *answers]

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Collect while the invocation runs."""
        if not self.driven:
            self._running.close()
            self._running.enter_context(self.collecting())

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Put what was sent into the request's last content."""
        if self.driven or not llm_request.contents:
            return
        last = wire_of(llm_request.contents[-1])
        parts = self.before_answers(last.get("parts") or [])
        llm_request.contents[-1] = WireContent.of({**last, "parts": parts})

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Collect no more."""
        self._running.close()

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Collect no more."""
        self._running.close()
