"""Snapshots of the workspace, in a repository of their own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from services.checkpoints import CheckpointingUnavailable, GitFailed, ShadowRepository
from services.clock import SystemClock
from services.confinement import Confinement, Refused, confined
from services.environment import Environment
from services.workspace import Workspace

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


@pytest.fixture
def environment(workspace: Workspace) -> Environment:
    return Environment.for_replay(home=str(workspace.home))


Opened = Callable[[], Awaitable[ShadowRepository]]


@pytest.fixture
def opened(workspace: Workspace, environment: Environment) -> Opened:
    async def make() -> ShadowRepository:
        repository = ShadowRepository(workspace, environment, SystemClock())
        await repository.open()
        return repository

    return make


async def test_a_snapshot_brings_files_back(workspace: Workspace, opened: Opened) -> None:
    repository, root = await opened(), workspace.root
    (root / "a.txt").write_bytes(b"one\r\n\xff\n")
    (root / "gone.txt").write_text("gone")
    (root / ".gitattributes").write_text("* text eol=lf filter=x\n")
    commit = await repository.snapshot("first")
    (root / "a.txt").write_text("two")
    (root / "gone.txt").unlink()
    (root / "new").mkdir()
    (root / "new" / "b.txt").write_text("new")
    await repository.restore(commit)
    assert (root / "a.txt").read_bytes() == b"one\r\n\xff\n"
    assert (root / "gone.txt").read_text() == "gone"
    assert not (root / "new").exists()


async def test_an_unchanged_workspace_has_the_same_commit(
    workspace: Workspace, opened: Opened
) -> None:
    repository = await opened()
    (workspace.root / "a.txt").write_text("one")
    first = await repository.snapshot("first")
    assert await repository.snapshot("again") == first == await repository.current()
    (workspace.root / "a.txt").write_text("two")
    assert await repository.snapshot("second") != first


async def test_an_empty_workspace_is_restored_too(workspace: Workspace, opened: Opened) -> None:
    repository = await opened()
    commit = await repository.snapshot("nothing")
    (workspace.root / "new.txt").write_text("new")
    await repository.restore(commit)
    assert not (workspace.root / "new.txt").exists()


async def test_the_users_repository_is_not_touched(
    workspace: Workspace, environment: Environment, opened: Opened
) -> None:
    root = workspace.root

    def git(*words: str) -> str:
        return subprocess.run(
            ("git", "-c", "user.name=u", "-c", "user.email=u@x", *words),
            cwd=root,
            env=dict(environment.child_variables),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    (root / "a.txt").write_text("one")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "own")
    before = git("log", "--all", "--format=%H %s"), (root / ".git" / "index").read_bytes()
    repository = await opened()
    (root / "a.txt").write_text("two")
    commit = await repository.snapshot("ours")
    (root / "a.txt").write_text("three")
    await repository.restore(commit)
    assert (root / "a.txt").read_text() == "two"
    assert (git("log", "--all", "--format=%H %s"), (root / ".git" / "index").read_bytes()) == before
    assert repository.folder.is_relative_to(workspace.home)


async def test_the_users_settings_and_variables_do_not_count(
    workspace: Workspace, environment: Environment
) -> None:
    marker = workspace.home / "ran"
    hooks = workspace.home / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (hooks / "pre-commit").chmod(0o755)
    (workspace.home / ".gitconfig").write_text(f"[core]\n  hooksPath = {hooks}\n")
    variables = {
        **environment.child_variables,
        "GIT_DIR": str(workspace.root / ".git"),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor=touch {marker}'",
    }
    repository = ShadowRepository(
        workspace, replace(environment, child_variables=variables), SystemClock()
    )
    await repository.open()
    (workspace.root / "a.txt").write_text("one")
    await repository.snapshot("first")
    assert not marker.exists()
    assert not (workspace.root / ".git").exists()


async def test_a_second_session_goes_on_in_the_same_repository(
    workspace: Workspace, opened: Opened
) -> None:
    (workspace.root / "a.txt").write_text("one")
    commit = await (await opened()).snapshot("first")
    (workspace.root / "a.txt").write_text("two")
    await (await opened()).restore(commit)
    assert (workspace.root / "a.txt").read_text() == "one"


@pytest.mark.parametrize("commit", ["0" * 40, "--help", "nothing"])
async def test_a_commit_that_is_not_there_restores_nothing(
    workspace: Workspace, opened: Opened, commit: str
) -> None:
    repository = await opened()
    (workspace.root / "a.txt").write_text("one")
    with pytest.raises(GitFailed):
        await repository.restore(commit)
    assert (workspace.root / "a.txt").read_text() == "one"


async def test_without_git_the_session_does_not_open(
    workspace: Workspace, tmp_path: Path, environment: Environment
) -> None:
    (tmp_path / "bin").mkdir()
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "bin" / "bash").symlink_to(bash)
    variables = {**environment.child_variables, "PATH": str(tmp_path / "bin")}
    repository = ShadowRepository(
        workspace, replace(environment, child_variables=variables), SystemClock()
    )
    with pytest.raises(CheckpointingUnavailable, match="Git is not installed"):
        await repository.open()


async def test_a_broken_repository_is_named(workspace: Workspace, opened: Opened) -> None:
    (workspace.history / ".git").mkdir(parents=True)
    (workspace.history / ".git" / "HEAD").mkdir()
    with pytest.raises(CheckpointingUnavailable, match="Failed to initialize checkpointing: "):
        await opened()


async def test_a_confined_session_starts_no_git(opened: Opened) -> None:
    with confined(Confinement(on_refusal=lambda _: None)), pytest.raises(Refused):
        await opened()
