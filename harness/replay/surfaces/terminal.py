"""The terminal as a surface: a user who types, presses keys and sees settled screens.

The user acts when the run is idle (`harness.replay.pace`): no key arrives while the screen still
changes. The terminal is interactive, so calls are confirmed in it that a headless session refuses.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from typing import Final

from harness.replay.client import Played, Stage, Surface
from harness.replay.observation import Screen
from harness.replay.screens import steady
from harness.replay.surfaces.held_session import HeldSession, prepared
from harness.replay.surfaces.terminal_limits import refusal
from harness.replay.surfaces.terminal_user import TerminalUser
from surfaces.terminal.playing import PlayedTerminal, open_played_terminal

__all__ = ["SURFACE"]


@asynccontextmanager
async def _played(stage: Stage) -> AsyncIterator[Played]:
    session = HeldSession(stage)
    clock = stage.envelope.clock
    async with AsyncExitStack() as stack:
        held = stack.enter_context(ExitStack())
        # Textual waits for timers of its own when it starts and ends.
        with clock.real_work():
            opening = open_played_terminal(prepared(stage), session.opened)
            terminal = await stack.enter_async_context(opening)
        stack.callback(lambda: held.enter_context(clock.real_work()))
        stack.enter_context(stage.pace.kept_by(_Eye(terminal, stage).settle))
        stack.push_async_callback(session.closed)
        stack.callback(terminal.leave)
        user = TerminalUser(stage, terminal)
        async with user.answering():  # Opening a session may ask the user, too.
            opened, group = await session.running()
            user.enter(opened, group)
            yield Played(client=user, group=group, runtime=opened.runtime)


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
            picture = partial(self._drawn, seen.svg)
            self._screens.append(Screen(lines=lines, picture=picture))
        return False

    def _drawn(self, draw: Callable[[], str]) -> str:
        return self._folder.sub(self._shown, draw())


SURFACE: Final = Surface(name="terminal", playing=_played, refusal=refusal)
