"""The interface of an observer of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_protocol.content import ContentPart
from agent_protocol.events import AgentEvent
from services.bundle import Services
from services.interaction.interaction import Handlers
from services.model.generator import ContentGenerator
from services.state import ApprovalMode
from services.workspace import Workspace
from surfaces.headless.model import ModelSource
from surfaces.headless.planning import Plan

__all__ = ["RunFacts", "RunWitness", "SessionWitness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The facts that are fixed before a run begins. `resumed` is the recording it continues."""

    plan: Plan
    source: ModelSource
    workspace: Workspace
    resumed: Path | None = None


class RunWitness(Protocol):
    """Observes one run; its methods are called in this order."""

    def begins(self, facts: RunFacts) -> None:
        """The run begins. May raise a `FatalError`, which ends the run."""
        ...

    def model(self, generator: ContentGenerator) -> ContentGenerator:
        """Return the model to ask in place of the run's model."""
        ...

    def sends(self, prompt: str, content: tuple[ContentPart, ...]) -> None:
        """The prompt, and what the agent gets for it."""
        ...

    def saw(self, event: AgentEvent) -> None:
        """The agent emitted an event."""
        ...


class SessionWitness(RunWitness, Protocol):
    """Observes an interactive session, whose user does more than to send one prompt."""

    def asks(self, handlers: Handlers) -> Handlers:
        """Return the handlers of questions to use in place of `handlers`."""
        ...

    def opened(self, services: Services) -> Callable[[], None]:
        """The session is open; the result is called at its end."""
        ...

    def hints(self, text: str) -> None:
        """The user steers the agent."""
        ...

    def sets_mode(self, mode: ApprovalMode, *, leaves_plan: bool) -> None:
        """The user changes the approval mode; `leaves_plan`: from plan mode, at the prompt."""
        ...

    def commands(self, text: str) -> None:
        """The user runs a slash command."""
        ...

    async def keep(self, folder: Path, note: str) -> Path | None:
        """Write what was observed so far into `folder`; return where, `None` for nothing.

        Raises:
            CommandError: it cannot be written.
        """
        ...
