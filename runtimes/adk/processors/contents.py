"""The request's contents, kept up to date turn by turn instead of rebuilt from all events.

Takes the place of ADK's own `contents` processor, whose work grows with the history.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from services.model.sdk_contents import TypedHistory

__all__ = ["ContentsProcessor"]


class ContentsProcessor(BaseLlmRequestProcessor):
    """Puts the curated history and, last, the pending user-role turn into the request.

    The history proper is what stands before the pending turn; what measures or masks it leaves that
    one alone.
    """

    name = "contents"

    def __init__(self, sessions: GcliSessionService, link: RunLink) -> None:
        self._sessions = sessions
        self._link = link
        self._history = TypedHistory()
        self._made_of: tuple[int, bool] | None = None

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        session = invocation_context.session
        conversation = self._sessions.archive(session)
        conversation.match_configured_model()
        view = conversation.view
        made_of = conversation.generation, view.strips_thoughts
        replaced, self._made_of = made_of != self._made_of, made_of
        history = self._history.follow(view.curated(), replaced=replaced)
        pending = self._sessions.pending(session)
        self._link.run.step.base.write_contents(llm_request, history, pending)
        return
        yield
