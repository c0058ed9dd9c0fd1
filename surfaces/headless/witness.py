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
from surfaces.headless.options import Plan

__all__ = ["RunFacts", "RunWitness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is settled before a run does anything. `resumed` is the recording it goes on from."""

    plan: Plan
    source: ModelSource
    workspace: Workspace
    resumed: Path | None = None


class RunWitness(Protocol):
    """Observes one run; its methods are called in this order."""

    def begins(self, facts: RunFacts) -> None:
        """Nothing has happened yet. May raise a `FatalError`, which ends the run."""
        ...

    def model(self, generator: ContentGenerator) -> ContentGenerator:
        """The model of the run; what is returned is asked in its stead."""
        ...

    def sends(self, prompt: str, content: tuple[ContentPart, ...]) -> None:
        """The prompt, and what the agent gets for it."""
        ...

    def saw(self, event: AgentEvent) -> None:
        """The agent emitted an event."""
        ...
