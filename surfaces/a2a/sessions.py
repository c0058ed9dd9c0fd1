"""`Sessions`: opens the session of a task, in the task's folder, with its own environment.

Source: `packages/a2a-server` `config/config.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from services.interaction.interaction import Interaction
from services.state import ApprovalMode, CoreEvents
from services.wire import JsonObject
from surfaces.a2a.folders import Folders
from surfaces.headless.machine import Machine
from surfaces.headless.model import choose_model
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.sessions import (
    NoSessions,
    RecordedSession,
    SessionNotFound,
    find_session,
    moved_aside,
)
from surfaces.terminal.live import LiveSession, OpenSession, open_live_session
from surfaces.terminal.prepared import Prepared

__all__ = ["DEFAULT_MODEL", "Opening", "Sessions"]

DEFAULT_MODEL: Final = "gemini-3-pro-preview"
"""The published server's model; the command line's own default chooses one by the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a program that plays the client prepares and opens sessions."""

    prepare: Callable[[], Prepared]
    session: OpenSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The sessions of one server.

    Args:
        options: the command line.
        folders: where tasks may work.
        warn: gets messages that no client reads.
        opening: prepares and opens the sessions, if not this machine does.
    """

    options: HeadlessOptions
    folders: Folders
    warn: Callable[[str], None]
    opening: Opening | None = None

    @asynccontextmanager
    async def open(
        self, session_id: str, settings: JsonObject, *, resumes: bool
    ) -> AsyncIterator[LiveSession]:
        """Open a session; leaving ends it.

        Args:
            session_id: its id, which is that of its task.
            settings: the task's `agent-settings`.
            resumes: whether an earlier session of the task is gone on with.

        Raises:
            FatalError: it cannot be opened.
            AuthError: the user's way to sign in cannot be used.
            FolderRefused: the folder cannot be used.
        """
        prepared = self._prepared(session_id, settings, resumes=resumes)
        opened = open_live_session if self.opening is None else self.opening.session
        async with opened(prepared, Interaction(), CoreEvents(), self.warn) as live:
            yield live

    def _prepared(self, session_id: str, settings: JsonObject, *, resumes: bool) -> Prepared:
        if self.opening is not None:
            return self.opening.prepare()
        machine = Machine.at(self.folders.chosen(settings))
        plan = self._plan(machine, settings)
        source = choose_model(
            machine.environment.variables,
            fake=self.options.fake_responses,
            record=self.options.record_responses,
            selected=plan.selected_auth,
            enforced=plan.enforced_auth,
            provider=plan.provider,
            strict=self.options.strict_responses,
            home=machine.workspace.home,
        )
        return Prepared(
            options=self.options,
            machine=machine,
            plan=plan,
            source=source,
            session_id=session_id,
            resumed=_recorded(machine, session_id) if resumes else None,
        )

    def _plan(self, machine: Machine, settings: JsonObject) -> Plan:
        options = self.options
        if options.model is None:
            options = replace(options, model=DEFAULT_MODEL)
        workspace = machine.workspace
        plan = plan_run(
            options,
            root=workspace.root,
            home=workspace.home,
            variables=machine.environment.variables,
            interactive=True,
        )
        # The client asks for it, not the user who starts the server.
        allowed = plan.folder_trusted and not plan.settings.disable_yolo_mode
        if allowed and settings.get("autoExecute") is True:
            plan = replace(plan, approval_mode=ApprovalMode.YOLO)
        return plan


def _recorded(machine: Machine, session_id: str) -> RecordedSession | None:
    """The conversation of a task that an earlier server began."""
    try:
        found = find_session(machine.workspace.project_temp, session_id, machine.clock)
        return moved_aside(found, machine.clock)
    except (NoSessions, SessionNotFound):
        return None
