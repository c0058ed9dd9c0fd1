"""`/bug` writes a session of the terminal as a cassette, and the cassette plays it again."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest

from harness.cassette.format import Cassette, Hint, Send, SetApprovalMode
from harness.cassette.load import load_cassette
from harness.live import seed
from harness.live.session_recorder import session_recorder
from harness.parity.compare import compare_observations
from harness.replay.runner import run_cassette
from tests.surfaces.terminal.conftest import Open, Terminal, calls, says
from tests.surfaces.terminal.test_process import started

pexpect = pytest.importorskip("pexpect")

RECORDER = partial(session_recorder, runtime=None)


def written(folders: Path) -> Cassette:
    """The only cassette that `/bug` has written."""
    (file,) = (folders / "home").glob(".gemini/tmp/*/cassettes/*.yaml")
    return load_cassette(file, file.parents[1])


async def report(screen: Terminal) -> None:
    await screen.say("/bug it broke")
    await screen.shows("Read it before you attach it to an issue.")


async def test_a_session_is_written_and_plays_again(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "gold-and-silver-7")
    (folders / "ws/a.txt").write_text("alpha\n")
    script = (
        calls("write_file", file_path="new.txt", content="one\n"),
        says("made it"),
        says("second answer"),
    )
    async with terminal(*script, witness=RECORDER) as screen:
        await screen.say("make it")
        await screen.shows("Apply this change?")
        await screen.pilot.press("1")
        await screen.shows("✦ made it")
        await screen.pilot.press("shift+tab")
        await screen.shows("auto-accept edits")
        await screen.say("my word is gold-and-silver-7")
        await screen.shows("✦ second answer")
        await report(screen)

    cassette = written(folders)
    assert cassette.note == "it broke"
    assert cassette.session.interactive
    assert dict(cassette.files) == {"a.txt": "alpha\n"}
    assert [type(each) for each in cassette.script] == [Send, SetApprovalMode, Send]
    assert [str(each.outcome) for each in cassette.answers.confirmations] == ["proceed_once"]
    assert "gold-and-silver" not in cassette.path.read_text()
    one = await asyncio.to_thread(run_cassette, cassette, "legacy")
    other = await asyncio.to_thread(run_cassette, cassette, "adk")
    assert compare_observations(one, other).divergences == ()
    assert not one.unused_steps
    assert "new.txt" in str(one.workspace_changes)


async def test_a_hint_and_an_interruption_are_in_the_cassette(
    terminal: Open, folders: Path
) -> None:
    settings = folders / "home/.gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"experimental": {"modelSteering": true}}')
    os.mkfifo(folders / "ws/pipe")
    script = (
        calls("run_shell_command", command="cat pipe", description="waits"),
        says("went on"),
    )
    async with terminal(*script, approval_mode="yolo", witness=RECORDER) as screen:
        await screen.say("wait")
        await screen.shows("cat pipe")
        await screen.say("be quick")
        await screen.shows("Steering Hint: be quick")
        await screen.pilot.press("escape")
        await screen.shows("Request cancelled.")
        (folders / "ws/pipe").unlink()
        await report(screen)

    cassette = written(folders)
    hint, abort = cassette.during
    assert isinstance(hint.do, Hint)
    assert hint.do.text == "be quick"
    assert type(abort.do).__name__ == "Abort"


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_what_a_cassette_cannot_say_is_a_remark(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed, "MAX_FILES", 0)
    (folders / "ws/a.txt").write_text("alpha\n")
    async with terminal(says("an answer"), witness=RECORDER) as screen:
        await screen.opened()
        await screen.say("/bug nothing was asked")
        await screen.shows("Please write an issue")
        assert not list((folders / "home").glob(".gemini/tmp/*/cassettes/*.yaml"))
        await screen.say("/memory reload")
        await screen.say("hello")
        await screen.shows("✦ an answer")
        await report(screen)

    cassette = written(folders)
    assert cassette.files == {}
    said = cassette.path.read_text()
    assert "# left out: /memory, for which cassettes have no action\n" in said
    assert "# left out: the files of the folder" in said


def test_the_command_records_a_session_of_the_terminal(folders: Path) -> None:
    child = started(
        folders, "legacy", [says("an answer")], "--out", str(folders / "t/one.yaml"), name="record"
    )
    try:
        child.expect("Type your message")
        child.send("hello\r")
        child.expect("an answer")
        child.send("/quit\r")
        child.expect("recorded 1 answers and 0 files")
        child.expect(pexpect.EOF)
    finally:
        child.close()

    assert child.exitstatus == 0
    assert [type(each) for each in load_cassette(folders / "t/one.yaml", folders).script] == [Send]
