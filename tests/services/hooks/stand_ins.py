"""Stand-ins: hooks, a session that keeps its notices, and a pipe that shows when hooks ended."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.environment import Environment
from services.hooks.events import HookNotice
from services.hooks.system import HookSystem, open_hooks
from services.hooks.translation import HookModelRequest
from services.settings import settings_from_parameters
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace
from tests.services.sessions import session_at

REQUEST = HookModelRequest(
    model="gemini-2.5-flash",
    config={"temperature": 1, "tools": [{"functionDeclarations": []}]},
    contents=[{"role": "user", "parts": [{"text": "hé"}]}],
)
CHUNK = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "index": 0}]}


def says(output: Any, *, name: str = "hook", then: str = "") -> dict[str, Any]:
    """A hook that writes its input to the file `given` and prints `output`."""
    text = output if isinstance(output, str) else json.dumps(output)
    command = f"cat > given; printf %s '{text}'{then}"
    return {"type": "command", "command": command, "name": name}


def defined(*hooks: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [{"hooks": list(hooks), **fields}]


class Session:
    """One session's `hooks`, their notices and the warnings for the user."""

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
        """The input of a hook that wrote it to a file."""
        return (self.root / name).read_text(encoding="utf-8")


OpenSession = Callable[..., Session]


class Lifeline:
    """A named pipe that a hook and all its children hold open: it ends when they do.

    Make it in the hook's folder before the hook starts, and start the hook with `HELD`.
    """

    HELD = "exec 9>line; echo $$ >&9; "

    def __init__(self, folder: Path) -> None:
        os.mkfifo(folder / "line")
        # Opening does not wait for a writer, and reading finds no end before a writer was there.
        self._pipe = os.fdopen(os.open(folder / "line", os.O_RDONLY | os.O_NONBLOCK), "rb")
        self._reader = asyncio.StreamReader()

    async def up(self) -> int:
        """Return the hook's process id once it runs."""
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), self._pipe
        )
        return int(await self._reader.readline())

    async def gone(self) -> None:
        """Return when the last process has closed the pipe.

        Raises:
            TimeoutError: a process keeps it open.
        """
        async with asyncio.timeout(60):
            assert await self._reader.read() == b""
