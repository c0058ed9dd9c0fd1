"""The interface of an observer of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_protocol.content import ContentPart
from agent_protocol.events import AgentEvent
from services.model.generator import ContentGenerator
from services.workspace import Workspace
from surfaces.headless.model import ModelSource
from surfaces.headless.planning import Plan

__all__ = ["RunFacts", "RunWitness"]


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
