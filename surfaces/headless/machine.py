"""`Machine`: this machine, as a run sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from services.clock import Clock, SystemClock
from services.environment import Environment
from services.ids import IdSource, RandomIds
from services.workspace import Workspace
from surfaces.headless.streams import Streams

__all__ = ["Machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The seams of the product."""

    clock: Clock
    ids: IdSource
    environment: Environment
    workspace: Workspace

    @classmethod
    def here(cls) -> Machine:
        """With the current folder as the workspace."""
        return cls.at(Path.cwd())

    @classmethod
    def at(cls, folder: Path) -> Machine:
        """With `folder` as the workspace. `GEMINI_CLI_HOME` replaces the home."""
        environment = Environment.of_this_machine()
        home = environment.variables.get("GEMINI_CLI_HOME")
        return cls(
            clock=SystemClock(),
            ids=RandomIds(),
            environment=environment,
            workspace=Workspace.at(folder, Path(home) if home else Path.home()),
        )

    def colours(self, streams: Streams) -> bool:
        """Whether messages may be in colour: on a terminal, unless `NO_COLOR` is set."""
        return streams.reports_on_a_terminal and not self.environment.variables.get("NO_COLOR")
