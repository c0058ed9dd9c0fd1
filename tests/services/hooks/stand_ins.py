"""Stand-ins: a session whose notices are taken down, and a line that tells who is alive."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.environment import Environment
from services.hooks.events import HookNotice
from services.hooks.system import HookSystem, open_hooks
from services.settings import settings_from_parameters
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace
from tests.services.sessions import session_at


class Session:
    """One session's `hooks`, and what was told of them."""

    def __init__(self, folder: Path, parameters: dict[str, Any]) -> None:
        self.root = folder / "work"
        self.home = folder / "home"
        self.root.mkdir(exist_ok=True)
        self.notices: list[HookNotice] = []
        self.warnings: list[str] = []
        self.clock = VirtualClock(VIRTUAL_EPOCH_MS)
        events = CoreEvents()
        events.subscribe(
            lambda event: (
                self.warnings.append(event.message) if isinstance(event, UserFeedback) else None
            )
        )
        hooks = open_hooks(
            session_at(
                Workspace(root=self.root, home=self.home),
                settings_from_parameters(parameters),
                session_id="session-1",
                events=events,
                clock=self.clock,
                environment=Environment.for_replay(
                    home=str(self.home), path=os.environ.get("PATH")
                ),
            ),
            notify=self.notices.append,
        )
        assert hooks is not None
        self.hooks: HookSystem = hooks

    def given(self, name: str = "given") -> str:
        """What a hook that wrote its input down was given."""
        return (self.root / name).read_text(encoding="utf-8")


OpenSession = Callable[..., Session]


class Lifeline:
    """A named pipe that a hook and all its children hold open: it ends when they do.

    Make it in the hook's folder before the hook starts, and start the hook with `HELD`.
    """

    HELD = "exec 9>line; echo $$ >&9; "

    def __init__(self, folder: Path) -> None:
        os.mkfifo(folder / "line")
        # Does not wait for a writer, and tells of no end before there has been one.
        self._pipe = os.fdopen(os.open(folder / "line", os.O_RDONLY | os.O_NONBLOCK), "rb")
        self._reader = asyncio.StreamReader()

    async def up(self) -> int:
        """Return the hook's process id once it runs."""
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), self._pipe
        )
        return int(await self._reader.readline())

    async def gone(self) -> None:
        """Return when nobody holds the pipe any more.

        Raises:
            TimeoutError: somebody is not going to let go of it.
        """
        async with asyncio.timeout(60):
            assert await self._reader.read() == b""
