"""Saves a checkpoint before an edit, and restores one."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from services.checkpoints import CheckpointFiles, Checkpoints, GitFailed, ShadowRepository
from services.clock import SystemClock
from services.environment import Environment
from services.scheduler.calls import ToolCallRequest
from services.wire import Content
from services.workspace import Workspace

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")

HISTORY: list[Content] = [{"role": "user", "parts": [{"text": "hello"}]}]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.txt").write_text("one")
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


Opened = Callable[[], Awaitable[Checkpoints]]


@pytest.fixture
def opened(workspace: Workspace) -> Opened:
    async def make() -> Checkpoints:
        clock = SystemClock()
        environment = Environment.for_replay(home=str(workspace.home))
        repository = ShadowRepository(workspace, environment, clock)
        files = CheckpointFiles(workspace.checkpoints)
        checkpoints = Checkpoints(repository, files, lambda: HISTORY, clock)
        await checkpoints.open()
        return checkpoints

    return make


def request(**args: Any) -> ToolCallRequest:
    return ToolCallRequest(call_id="c", name="write_file", args=args, prompt_id="prompt")


class Loaded(list[Any]):
    """The histories that a restore loaded."""


async def test_workspace_and_conversation_come_back(workspace: Workspace, opened: Opened) -> None:
    checkpoints, loaded = await opened(), Loaded()
    checkpoints.shown = lambda: [{"type": "user", "id": 1}]
    name = await checkpoints.save(request(file_path="a.txt", content="two"))
    assert name is not None
    assert name.endswith("-a.txt-write_file")
    (workspace.root / "a.txt").write_text("two")
    for chosen in (name, f"{name}.json", 0):
        restored = await checkpoints.restore(chosen, loaded.append)
        assert [(each.severity, each.message) for each in restored.messages] == [
            ("info", "Restored project to the state before the tool call.")
        ]
        assert restored.tool_call == {
            "name": "write_file",
            "args": {"file_path": "a.txt", "content": "two"},
        }
        assert restored.shown == [{"type": "user", "id": 1}]
    assert loaded == [HISTORY] * 3
    assert (workspace.root / "a.txt").read_text() == "one"
    assert checkpoints.files.read(name).prompt_id == "prompt"


@pytest.mark.parametrize("chosen", ["x", "../x", "../ws", 1, -1, ""])
async def test_a_name_that_is_not_listed_restores_nothing(
    workspace: Workspace, opened: Opened, chosen: str | int
) -> None:
    checkpoints, loaded = await opened(), Loaded()
    await checkpoints.save(request(file_path="a.txt"))
    (workspace.checkpoints.parent / "x.json").write_text("{}")
    restored = await checkpoints.restore(chosen, loaded.append)
    assert [each.message for each in restored.messages] == [f"File not found: {chosen}.json"]
    assert (restored.tool_call, restored.shown, loaded) == (None, None, [])


async def test_a_file_that_is_no_checkpoint_is_named(workspace: Workspace, opened: Opened) -> None:
    checkpoints, loaded = await opened(), Loaded()
    workspace.checkpoints.mkdir(parents=True)
    (workspace.checkpoints / "x.json").write_text('{"toolCall": {"name": "t"}}')
    (workspace.checkpoints / "y.json").mkdir()
    bad = await checkpoints.restore("x", loaded.append)
    unreadable = await checkpoints.restore("y", loaded.append)
    assert bad.messages[0].message == "Checkpoint file is invalid: `toolCall.args` is not an object"
    assert "Could not read restorable tool calls." in unreadable.messages[0].message
    assert loaded == []


async def test_a_commit_that_is_gone_is_reported_after_the_conversation_is_restored(
    workspace: Workspace, opened: Opened
) -> None:
    checkpoints, loaded = await opened(), Loaded()
    name = await checkpoints.save(request(file_path="a.txt"))
    assert name is not None
    file = workspace.checkpoints / f"{name}.json"
    commit = checkpoints.files.read(name).commit
    assert commit is not None
    file.write_text(file.read_text().replace(commit, "0" * 40))
    restored = await checkpoints.restore(name, loaded.append)
    assert f"The commit hash '{'0' * 40}' associated" in restored.messages[0].message
    assert restored.messages[0].severity == "error"
    assert (restored.shown, loaded) == ([], [HISTORY])


async def test_another_failure_of_git_is_reported_as_it_is(
    workspace: Workspace, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise GitFailed("no luck")

    checkpoints, loaded = await opened(), Loaded()
    name = await checkpoints.save(request(file_path="a.txt"))
    monkeypatch.setattr(ShadowRepository, "restore", fail)
    restored = await checkpoints.restore(name or "", loaded.append)
    assert [each.message for each in restored.messages] == [
        "Could not read restorable tool calls. This is the error: no luck"
    ]
    assert (restored.tool_call, restored.shown, loaded) == (None, [], [HISTORY])


async def test_a_call_without_a_file_has_no_checkpoint(opened: Opened) -> None:
    checkpoints = await opened()
    assert await checkpoints.save(request(content="x")) is None
    assert checkpoints.files.names() == []


async def test_without_a_new_snapshot_the_last_commit_counts(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any) -> str:
        raise GitFailed("no luck")

    checkpoints = await opened()
    first = await checkpoints.save(request(file_path="a.txt"))
    monkeypatch.setattr(ShadowRepository, "snapshot", fail)
    second = await checkpoints.save(request(file_path="b.txt"))
    assert first is not None
    assert second is not None
    assert checkpoints.files.read(second).commit == checkpoints.files.read(first).commit
    monkeypatch.setattr(ShadowRepository, "current", fail)
    with caplog.at_level(logging.WARNING):
        assert await checkpoints.save(request(file_path="c.txt")) is None
    assert "no checkpoint before write_file: no luck" in caplog.text


async def test_a_checkpoint_that_cannot_be_written_is_logged(
    workspace: Workspace, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoints = await opened()
    workspace.checkpoints.parent.mkdir(parents=True)
    workspace.checkpoints.write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert await checkpoints.save(request(file_path="a.txt")) is None
    assert "cannot be written" in caplog.text
