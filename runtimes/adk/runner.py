"""`GcliRunner`: ADK's Runner, whose own scans see the current invocation only.

ADK looks through `session.events` at each invocation and step: for the agent that continues, for
an open task, for a call that waits. In this product an invocation never continues one that is
settled, so those scans would find nothing there, and would make every settled event. Each override
is a name of google-adk's that a contract test in `tests/runtimes/adk/test_runner.py` watches.
"""

from __future__ import annotations

from typing import Any

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.genai import types

from runtimes.adk.session_events import live_events
from runtimes.adk.sessions import GcliSessionService

__all__ = ["GcliInvocation", "GcliRunner"]


class GcliInvocation(InvocationContext):
    """An invocation without events of its own to go on from: none is ever entered again."""

    def _get_events(self, **which: bool) -> list[Event]:
        # Those of the invocation are asked for to go on with one that was interrupted.
        return [] if which.get("current_invocation") else super()._get_events(**which)


class GcliRunner(Runner):
    """Runs one `LlmAgent` on ADK's lock-step path, which it takes for any other kind of root."""

    def __init__(self, agent: LlmAgent, app: App, sessions: GcliSessionService) -> None:
        """`agent` runs; `app` has a `GeminiCliAgent` around it as its root."""
        super().__init__(app=app, session_service=sessions, artifact_service=sessions.artifacts)
        self._agent = agent

    def _create_invocation_context(self, **kwargs: Any) -> InvocationContext:
        """Make a context that names the agent that runs, not its shell."""
        return GcliInvocation(**{**kwargs, "agent": self._agent})

    def _find_agent_to_run(self, session: Session, root_agent: BaseAgent) -> BaseAgent:
        """The one agent there is."""
        return self._agent

    def _restore_branch_from_history(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: one agent has no branches."""

    def _find_user_message_for_invocation(
        self, events: list[Event], invocation_id: str
    ) -> types.Content | None:
        """Look among live events: an invocation that is settled is never entered again."""
        return super()._find_user_message_for_invocation(live_events(events), invocation_id)

    async def _build_and_append_user_event(
        self,
        ic: InvocationContext,
        *,
        session: Session | None = None,
        content: types.Content | None = None,
        state_delta: dict[str, Any] | None = None,
    ) -> Event:
        """Look for an open task among live events; the session service appends to the session."""
        current = ic.session.model_copy(update={"events": live_events(ic.session.events)})
        return await super()._build_and_append_user_event(
            ic, session=current, content=content, state_delta=state_delta
        )
