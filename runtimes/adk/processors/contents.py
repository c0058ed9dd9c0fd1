"""The request's contents, kept up to date turn by turn instead of rebuilt from all events.

Takes the place of ADK's own `contents` processor, whose work grows with the history.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.processors.base import EngineProcessor
from runtimes.adk.run import Run
from services.model.sdk_contents import TypedHistory

__all__ = ["ContentsProcessor"]


@dataclass(eq=False)
class ContentsProcessor(EngineProcessor):
    """Puts the curated history and, last, the pending user-role turn into the request.

    The history proper is what stands before the pending turn; what measures or masks it leaves that
    one alone.
    """

    name = "contents"
    _history: TypedHistory = field(default_factory=TypedHistory)
    _made_of: tuple[int, bool] | None = None

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        conversation = self._conversation
        view = conversation.view
        made_of = conversation.generation, view.strips_thoughts
        replaced, self._made_of = made_of != self._made_of, made_of
        history = self._history.follow(*view.curated_parts(), replaced=replaced)
        run.step.base.write_contents(request, history, self._sessions.pending(context.session))
