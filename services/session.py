"""`Session`: what every part of a session may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from services.clock import Clock
from services.environment import Environment
from services.ids import IdSource, RandomSource
from services.interaction.interaction import Interaction
from services.model.generator import ContentGenerator
from services.settings import Settings
from services.state import CoreEvents, SessionState
from services.workspace import Workspace

__all__ = ["Session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The settings, the state and the seams of one session."""

    settings: Settings
    state: SessionState
    events: CoreEvents
    clock: Clock
    ids: IdSource
    rng: RandomSource
    environment: Environment
    workspace: Workspace
    content_generator: ContentGenerator
    interaction: Interaction = field(default_factory=Interaction)
    """Asks the user; without a surface every answer is the default."""

    def plans(self) -> Path:
        """Where plan mode may write."""
        return self.workspace.plans(self.state.first_session_id)

    def tasks(self) -> Path:
        """Where the task tracker has its files."""
        return self.workspace.tasks(self.state.first_session_id)
