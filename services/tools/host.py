"""What tools may use: `ToolHost`, one per session.

Nothing a tool does reaches the world except through this value, which is how a run stays a
function of its cassette.
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
from services.tools.project_memory import ProjectMemory
from services.tools.web_access import WebAccess
from services.workspace import Workspace

__all__ = ["BackgroundCommand", "ToolHost"]

_LAST_WAIT_S: Final = 2.0
"""For a killed command whose pipe is held open by something that left its process group."""


@dataclass(frozen=True, slots=True)
class BackgroundCommand:
    """A shell command that went on after its call had returned; `pid` leads its process group."""

    pid: int
    closed: asyncio.Future[None]
    kill: Callable[[], None]
    notes: Path
    """The file its wrapper notes jobs in; its folder goes when the command has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHost:
    """The workspace, the clock and the few facts about the session that tools may know."""

    workspace: Workspace
    clock: Clock
    settings: Settings
    state: SessionState
    environment: Environment
    process_ids: ProcessIds
    modified_build_files: list[Path] = field(default_factory=list)
    """Build files edited in this session; a shell command that builds is then asked about."""
    background: list[BackgroundCommand] = field(default_factory=list)
    """Commands still running on their own. The owner of the session calls `close`."""
    background_history: BackgroundHistory = field(default_factory=BackgroundHistory)
    """What was sent to the background in this session, running or not."""
    skills: SkillManager = field(default_factory=SkillManager)
    memory: ProjectMemory | None = None
    """What `GEMINI.md` files say of the paths that tools come to; `None`: nothing."""
    corrector: EditCorrector | None = None
    """Who mends failed edits; `None` where edits stand or fall as they are."""
    steering: InjectionService | None = None
    """Receives the ends of background commands; `None`: they are not reported."""
    web: WebAccess | None = None
    """How web tools reach the model and the network; `None` where there is neither."""

    @property
    def plans(self) -> Path:
        """Where plan mode may write."""
        return self.workspace.plans(self.state.first_session_id)

    @property
    def plan_mode(self) -> bool:
        """True while the session may only write plans."""
        return self.state.approval_mode is ApprovalMode.PLAN

    def note_build_file(self, path: Path) -> None:
        """Remember that `path`, a build file, was edited."""
        if path not in self.modified_build_files:
            self.modified_build_files.append(path)

    async def close(self) -> None:
        """Kill every background command and wait until it is gone. Safe to call twice."""
        running, self.background[:] = list(self.background), []
        for command in running:
            command.kill()
        if running:
            with self.clock.real_work():
                await asyncio.wait([command.closed for command in running], timeout=_LAST_WAIT_S)
