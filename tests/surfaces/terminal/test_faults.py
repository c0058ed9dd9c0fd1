"""What goes wrong around a session: the network, the disk, hostile texts, a second terminal."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.http.standin import StandIn, open_standin
from services.model.event_stream import event_stream
from services.recording.session_file import SessionFile
from tests.surfaces.terminal.conftest import Open, Terminal, calls, says

ONE = [pytest.param("legacy", id="legacy")]
OneRuntime = pytest.mark.parametrize("terminal", ONE, indirect=True)
FAST = {"general": {"maxAttempts": 1, "retryFetchErrors": False}}


def chunk(text: str, *, last: bool = False) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}}
    if last:
        candidate["finishReason"] = "STOP"
    return {"candidates": [candidate]}


def settings(folders: Path, values: dict[str, Any]) -> Path:
    file = folders / "settings.json"
    file.write_text(
        json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **values})
    )
    return file


OpenLive = Callable[..., AbstractAsyncContextManager[tuple[Terminal, StandIn]]]


@pytest.fixture
def live(terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch) -> OpenLive:
    """A terminal whose model is a stand-in that answers over HTTP."""

    @asynccontextmanager
    async def go(*steps: dict[str, Any]) -> AsyncIterator[tuple[Terminal, StandIn]]:
        async with open_standin(steps) as standin:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", standin.base_url)
            async with terminal(
                fake_responses=None, settings_file=settings(folders, FAST)
            ) as screen:
                await screen.opened()
                yield screen, standin

    return go


def recorded(folders: Path) -> str:
    """What the recordings of the folder have, as one text."""
    files = (folders / "home").glob(".gemini/tmp/*/chats/session-*")
    return "\n".join(file.read_text() for file in files)


async def test_the_terminal_changes_its_size_while_an_answer_is_streamed(
    live: OpenLive, folders: Path
) -> None:
    text = "".join(f"word{number} " for number in range(400))
    steps: list[dict[str, Any]] = [
        {"stream": [chunk(text), chunk("never")], "hang_at": len(event_stream([chunk(text)]))},
        {"stream": [chunk("the second answer", last=True)]},
    ]
    async with live(*steps) as (screen, _):
        await screen.say("first")
        await screen.shows("word0")
        for size in ((40, 12), (200, 60), (1, 1), (2, 30), (90, 4), (120, 50)):
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
        await screen.shows("word390")
        await screen.pilot.press("escape")
        await screen.shows("Request cancelled.")
        await screen.say("second")
        await screen.shows("✦ the second answer")
    assert '"first"' in recorded(folders)
    assert "the second answer" in recorded(folders)


HALF = [chunk("half an answer"), chunk(" more")]
MIDDLE = len(event_stream(HALF[:1])) + 10


@pytest.mark.parametrize(
    "broken",
    [
        {"stream": HALF, "reset_at": MIDDLE},
        {"stream": HALF, "end_at": MIDDLE},
        {"error": {"status": 400, "message": "the request is no request"}},
    ],
    ids=["reset", "ended", "error"],
)
async def test_a_connection_that_dies_ends_the_request_and_not_the_session(
    live: OpenLive, folders: Path, broken: dict[str, Any]
) -> None:
    async with live(broken, {"stream": [chunk("alive again", last=True)]}) as (screen, standin):
        await screen.say("first")
        await screen.shows("✕")
        standin.steps[:] = [{"stream": [chunk("alive again", last=True)]}]
        await screen.say("second")
        await screen.shows("✦ alive again")
    assert "first" in recorded(folders)
    assert "alive again" in recorded(folders)


async def test_the_session_can_be_left_while_a_question_is_open(live: OpenLive) -> None:
    async with live({"error": {"status": 500, "message": "broken"}}) as (screen, _):
        await screen.say("first")
        await screen.shows("1. Keep trying")
        screen.app._end("SIGTERM")
        for _ in range(1000):
            if not screen.app.is_running:
                break
            await asyncio.sleep(0.01)
        assert not screen.app.is_running
    assert "Goodbye" in screen.app.farewell[0]


@OneRuntime
async def test_a_service_that_cannot_be_reached_is_named(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"http://127.0.0.1:{port}")
    async with terminal(fake_responses=None, settings_file=settings(folders, FAST)) as screen:
        await screen.opened()
        await screen.say("hello")
        await screen.shows("✕")
        await screen.shows("Type your message")
    assert "hello" in recorded(folders)


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x08\x9b31m\u202egnp.exe\x00end"


@OneRuntime
async def test_control_sequences_of_tools_and_file_names_are_inert(
    terminal: Open, folders: Path
) -> None:
    name = "evil\x1b[31m\x07\u202ename.txt"
    (folders / "ws" / name).write_text("x")
    (folders / "ws" / "out").write_text(HOSTILE)
    script = [
        calls("run_shell_command", command="cat out; ls", description=f"does {HOSTILE}"),
        calls("write_file", file_path=f"new{name}", content=HOSTILE),
        says(f"answer {HOSTILE} [name](http://a.b/\x1b)"),
    ]
    async with terminal(*script, approval_mode="yolo") as screen:
        await screen.opened()
        await screen.say("go")
        await screen.shows("✦ answer")
        await screen.type("@evil")
        await screen.shows("evil")
        strips = screen.app.screen._compositor.render_strips()
        drawn = "".join(segment.text for strip in strips for segment in strip)
        links = [segment.style.link for strip in strips for segment in strip if segment.style]
    assert "red" in drawn
    for control in "\x1b\x07\x08\x9b\x00\u202e":
        assert control not in drawn
    assert not any(links)


@OneRuntime
async def test_a_full_disk_ends_the_recording_with_a_sentence_and_not_the_session(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with terminal(says("one"), says("two")) as screen:
        await screen.opened()
        await screen.say("first")
        await screen.shows("✦ one")

        def full(self: SessionFile, portions: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(SessionFile, "_append", full)
        await screen.say("second")
        text = await screen.shows("✦ two")
    assert "disk" in text
    assert "one" in recorded(folders)


async def test_two_terminals_in_one_folder_keep_their_sessions_apart(
    terminal: Open, folders: Path
) -> None:
    async with terminal(says("one")) as first, terminal(says("two")) as second:
        await asyncio.gather(first.opened(), second.opened())
        await first.say("from the first")
        await second.say("from the second")
        await first.shows("✦ one")
        await second.shows("✦ two")
        ids = {each.session.services.state.session_id for each in (first, second)}
    assert len(ids) == 2
    files = list((folders / "home").glob(".gemini/tmp/*/chats/session-*"))
    texts = [file.read_text() for file in files]
    assert len(files) == 2
    assert sorted("from the first" in text for text in texts) == [False, True]
    assert sorted("from the second" in text for text in texts) == [False, True]
