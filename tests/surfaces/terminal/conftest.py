"""Terminals over recorded answers, driven by Textual's pilot."""

import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual")

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot

from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams
from surfaces.headless.witness import SessionWitness
from surfaces.terminal.app import TerminalApp
from surfaces.terminal.live import LiveSession
from surfaces.terminal.prepared import prepare
from surfaces.terminal.session_view import SessionView

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}


def answer(*parts: dict[str, Any]) -> str:
    """A line of a file of recorded answers."""
    candidate = {
        "content": {"role": "model", "parts": list(parts)},
        "index": 0,
        "finishReason": "STOP",
    }
    chunk = {"candidates": [candidate], "usageMetadata": USAGE}
    return json.dumps({"method": "generateContentStream", "response": [chunk]})


def says(text: str) -> str:
    return answer({"text": text})


def calls(name: str, **args: Any) -> str:
    return answer({"functionCall": {"name": name, "args": args, "id": "c1"}})


class Terminal:
    """A terminal from its user's side."""

    def __init__(self, pilot: Pilot[int]) -> None:
        self.pilot = pilot

    @property
    def app(self) -> TerminalApp:
        assert isinstance(self.pilot.app, TerminalApp)
        return self.pilot.app

    @property
    def view(self) -> SessionView:
        """The open session."""
        assert self.app.view is not None
        return self.app.view

    @property
    def session(self) -> LiveSession:
        assert self.view.session is not None
        return self.view.session

    @property
    def text(self) -> str:
        """The screen as text."""
        strips = self.pilot.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip).rstrip() for strip in strips)

    async def shows(self, words: str) -> str:
        """Wait until the screen shows `words`; return it."""
        for _ in range(400):
            if words in self.text:
                return self.text
            await self.pilot.pause(0.02)
        raise AssertionError(f"{words!r} is not on the screen:\n{self.text}")

    async def hides(self, words: str) -> str:
        """Wait until the screen does not show `words` any more; return it."""
        for _ in range(400):
            if words not in self.text:
                return self.text
            await self.pilot.pause(0.02)
        raise AssertionError(f"{words!r} is still on the screen:\n{self.text}")

    async def imported(self) -> None:
        """Wait until a session is opening behind the screen."""
        for _ in range(400):
            if self.app.view is not None or self.app.failure is not None:
                return
            await self.pilot.pause(0.02)
        raise AssertionError("the session is not opening")

    async def opened(self) -> None:
        """Wait until the session has loaded its commands."""
        for _ in range(400):
            if self.app.opened:
                return
            await self.pilot.pause(0.02)
        raise AssertionError("the session has not opened")

    @property
    def sent(self) -> str:
        """The model-facing history as JSON."""
        return json.dumps(self.session.runtime.transcript())

    async def type(self, text: str) -> None:
        """Press the keys of a text, faster than `Pilot.press`, which waits 40 ms after each."""
        driver = self.app._driver
        assert driver is not None
        for letter in text:
            key = Key(_character_to_key(letter), letter)
            key.set_sender(self.app)
            driver.send_message(key)
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        await self.type(text)
        await self.pilot.press("enter")


Open = Callable[..., AbstractAsyncContextManager[Terminal]]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that is the current folder, and a home beside it."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    for name in ("GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "no-such-key")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    return tmp_path


@pytest.fixture(params=["legacy", "adk"])
def terminal(folders: Path, request: pytest.FixtureRequest) -> Open:
    """Open a terminal whose model gives these answers, in either runtime."""

    numbers = count()

    @asynccontextmanager
    async def go(
        *answers: str,
        plain: Callable[[str], object] | None = None,
        size: tuple[int, int] = (120, 50),
        witness: Callable[[], SessionWitness] | None = None,
        **options: Any,
    ) -> AsyncIterator[Terminal]:
        file = folders / f"answers{next(numbers)}.jsonl"
        file.write_text("".join(f"{line}\n" for line in answers))
        options = {"fake_responses": file, **options}
        asked = HeadlessOptions(model="gemini-2.5-flash", runtime=request.param, **options)
        streams = Streams(io.StringIO(), io.StringIO())
        prepared = replace(prepare(asked, Machine.here(), streams), witness=witness)
        app = TerminalApp(prepared, plain=plain)
        async with app.run_test(size=size) as pilot:
            opened = Terminal(pilot)
            await opened.shows("Type your message")
            await opened.imported()
            yield opened
            await pilot.press("ctrl+q")
            await pilot.pause()

    return go
