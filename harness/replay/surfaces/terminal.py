"""The terminal as a surface: a user who types, presses keys and sees settled screens.

The user acts when the run is idle (`harness.replay.pace`): no key arrives while the screen still
changes. The terminal is interactive, so calls are confirmed in it that a headless session refuses.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Final

from harness.replay.client import Played, Stage, Surface
from harness.replay.observation import Screen
from harness.replay.questions import Recorded
from harness.replay.screens import steady
from harness.replay.surfaces.terminal_limits import refusal
from harness.replay.surfaces.terminal_user import TerminalUser
from services.interaction.interaction import Interaction
from services.settings import settings_from_parameters
from services.state import CoreEvents
from surfaces.terminal.playing import (
    LiveSession,
    PlayedTerminal,
    Prepared,
    live_session,
    open_played_terminal,
    prepared_for,
)

__all__ = ["SURFACE"]


@asynccontextmanager
async def _played(stage: Stage) -> AsyncIterator[Played]:
    session = _Session(stage)
    clock = stage.envelope.clock
    async with AsyncExitStack() as stack:
        held = stack.enter_context(ExitStack())
        # Textual waits for timers of its own when it starts and ends.
        with clock.real_work():
            opening = open_played_terminal(_prepared(stage), session.opened)
            terminal = await stack.enter_async_context(opening)
        stack.callback(lambda: held.enter_context(clock.real_work()))
        stack.enter_context(stage.pace.kept_by(_Eye(terminal, stage).settle))
        stack.push_async_callback(session.closed, terminal)
        user = TerminalUser(stage, terminal)
        async with user.answering():  # Opening a session may ask the user, too.
            opened, group = await session.running()
            user.enter(opened, group)
            yield Played(client=user, group=group, runtime=opened.runtime)


def _prepared(stage: Stage) -> Prepared:
    session, envelope = stage.cassette.session, stage.envelope
    return prepared_for(
        workspace=envelope.workspace,
        environment=envelope.environment,
        clock=envelope.clock,
        ids=envelope.ids,
        session_id=stage.session_id,
        settings=settings_from_parameters(session.settings, interactive=True),
        model=session.model,
        approval_mode=session.approval_mode,
    )


class _Eye:
    """Sees the settled screens of a terminal, each that differs from the one before."""

    def __init__(self, terminal: PlayedTerminal, stage: Stage) -> None:
        self._terminal = terminal
        self._screens = stage.screens
        name = stage.envelope.folder.name
        # The name of the run's folder is random. A path is masked later, where it is a whole one.
        self._folder = re.compile(rf"(?<![\w/]){re.escape(name)}(?![\w/])")
        self._shown = "~" * len(name)

    def settle(self) -> bool:
        if self._terminal.settle():
            return True
        seen = self._terminal.screen()
        lines = tuple(self._folder.sub(self._shown, line) for line in seen.lines)
        if not self._screens or steady(self._screens[-1].lines) != steady(lines):
            self._screens.append(Screen(lines=lines, picture=seen.svg))
        return False


class _Session:
    """The session that the terminal opens and holds, in a task of its own."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._ready: asyncio.Future[tuple[LiveSession, asyncio.TaskGroup]] = asyncio.Future()
        self._over = asyncio.Event()

    @asynccontextmanager
    async def opened(
        self,
        prepared: Prepared,
        interaction: Interaction,
        events: CoreEvents,
        warn: Callable[[str], None],
    ) -> AsyncIterator[LiveSession]:
        stage = self._stage
        off = stage.events.subscribe(events.emit)
        try:
            async with (
                stage.open_services(Recorded(interaction, stage.witness)) as services,
                asyncio.TaskGroup() as group,
                stage.open_runtime(services) as runtime,
            ):
                session = live_session(
                    prepared,
                    services,
                    runtime,
                    lambda agent: agent.subscribe(stage.witness.on_event),
                )
                self._ready.set_result((session, group))
                yield session
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise
        finally:
            off()
            self._over.set()

    async def running(self) -> tuple[LiveSession, asyncio.TaskGroup]:
        """Wait until the session is open."""
        return await self._ready

    async def closed(self, terminal: PlayedTerminal) -> None:
        """Leave the terminal, and wait until its session is closed."""
        terminal.leave()
        await self._over.wait()


SURFACE: Final = Surface(name="terminal", playing=_played, refusal=refusal)
