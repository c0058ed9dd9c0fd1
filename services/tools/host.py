"""`ToolHost`: the seams of the built-in tools, one for each session.

Tools reach the outside world only through this value, so that a run depends on its cassette alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.environment import Environment
from services.ids import ProcessIds
from services.settings import Settings
from services.skills.manager import SkillManager
from services.state import ApprovalMode, SessionState
from services.steering import InjectionService
from services.tools.background import BackgroundHistory
from services.tools.edit_correction import EditCorrector
from services.tools.ignore import FileDiscovery
from services.tools.project_memory import ProjectMemory
from services.tools.text_files import TextFiles
from services.tools.web_access import WebAccess
from services.tracker import Tracker
from services.workspace import Workspace

__all__ = ["BackgroundCommand", "ToolHost"]

_LAST_WAIT_S: Final = 2.0
"""For a killed command whose pipe a process outside its group holds open."""


@dataclass(frozen=True, slots=True)
class BackgroundCommand:
    """A shell command that runs on after its call; `pid` is that of its process group."""

    pid: int
    closed: asyncio.Future[None]
    kill: Callable[[], None]
    notes: Path
    """The file for the wrapper's list of jobs; its folder is removed when the command ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHost:
    """The workspace, the clock and the other values of the session for its tools."""

    workspace: Workspace
    clock: Clock
    settings: Settings
    state: SessionState
    environment: Environment
    process_ids: ProcessIds
    modified_build_files: list[Path] = field(default_factory=list)
    """The build files that this session has edited, for the question about a build command."""
    background: list[BackgroundCommand] = field(default_factory=list)
    """The running background commands. The owner of the session calls `close`."""
    background_history: BackgroundHistory = field(default_factory=BackgroundHistory)
    """The background commands of this session, running or not."""
    skills: SkillManager = field(default_factory=SkillManager)
    memory: ProjectMemory | None = None
    """The `GEMINI.md` files for the paths that tools use; `None` for no files."""
    corrector: EditCorrector | None = None
    """Corrects failed edits; `None` for no corrections."""
    steering: InjectionService | None = None
    """Receives the ends of background commands, if they are reported."""
    tracker: Tracker | None = None
    """The session's tasks, if it has the task tracker."""
    text_files: TextFiles = field(default_factory=TextFiles)
    """Where the tools that edit files read and write them."""
    web: WebAccess | None = None
    """The web tools' access to a model and the network, if there is any."""

    @property
    def plans(self) -> Path:
        """The folder for plans."""
        return self.workspace.plans(self.state.first_session_id)

    def ignored(self) -> FileDiscovery:
        """The ignore files of the workspace, as far as the settings respect them."""
        return FileDiscovery(
            self.workspace.root,
            respect_git=self.settings.respect_git_ignore,
            respect_gemini=self.settings.respect_gemini_ignore,
        )

    @property
    def plan_mode(self) -> bool:
        """Whether the session may write plans only."""
        return self.state.approval_mode is ApprovalMode.PLAN

    def note_build_file(self, path: Path) -> None:
        """Record that the build file `path` was edited."""
        if path not in self.modified_build_files:
            self.modified_build_files.append(path)

    async def close(self) -> None:
        """Kill every background command and wait for its end. Safe to call twice."""
        running, self.background[:] = list(self.background), []
        for command in running:
            command.kill()
        if running:
            with self.clock.real_work():
                await asyncio.wait([command.closed for command in running], timeout=_LAST_WAIT_S)
