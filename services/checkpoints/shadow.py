"""`ShadowRepository`: snapshots of the workspace, in a git repository of their own.

The repository is in the user's home and has the workspace as its work tree, so the user's own
repository is never touched. Git reads none of the user's settings and starts no other program.

Source: core `services/gitService.ts`, `utils/gitUtils.ts`.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from typing import Final

from services.clock import Clock
from services.confinement import Refused
from services.environment import Environment
from services.exhaustion import notice
from services.hooks.process import Ending, run_hook_process
from services.private_files import make_private_folder, write_private
from services.workspace import Workspace

__all__ = ["CheckpointingUnavailable", "GitFailed", "ShadowRepository"]

_LIMIT_MS: Final = 120_000
_NAME: Final = "Gemini CLI"
_EMAIL: Final = "gemini-cli@google.com"
_BYTE_FOR_BYTE: Final = "* -text -ident -filter -working-tree-encoding\n"
"""No attribute of the workspace changes contents on their way into or out of the repository."""
_OVERRIDES: Final = {
    "commit.gpgsign": "false",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "credential.helper": "",
    "diff.external": "",
}


class CheckpointingUnavailable(ValueError):
    """Checkpoints are switched on and git does not work here. The message is for the user."""


class GitFailed(Exception):
    """A git command failed; the message is git's."""


class ShadowRepository:
    """The snapshots of one workspace. Commands run one at a time. Call `open` first."""

    def __init__(self, workspace: Workspace, environment: Environment, clock: Clock) -> None:
        self.folder = workspace.history
        """The folder that contains the repository."""
        self._root = workspace.root
        self._environment = environment
        self._clock = clock
        self._one = asyncio.Lock()

    async def open(self) -> None:
        """Make the repository, if there is none.

        Raises:
            CheckpointingUnavailable: git is missing or does not work.
            Refused: the session is confined.
        """
        try:
            async with self._one:
                make_private_folder(self.folder)
                await self._git("--version")
        except Refused:
            raise
        except (GitFailed, OSError) as error:
            notice(error)
            raise CheckpointingUnavailable(
                "Checkpointing is enabled, but Git is not installed. Please install Git or disable "
                "checkpointing to continue."
            ) from error
        try:
            async with self._one:
                await self._make()
        except (GitFailed, OSError) as error:
            notice(error)
            raise CheckpointingUnavailable(
                f"Failed to initialize checkpointing: {error}. Please check that Git is working "
                "properly or disable checkpointing."
            ) from error

    async def snapshot(self, message: str) -> str:
        """Commit the workspace if it has changed; return the commit.

        Raises:
            GitFailed: it cannot be committed.
        """
        async with self._one:
            await self._git("add", ".")
            if await self._git("status", "--porcelain"):
                await self._git("commit", "--no-verify", "--quiet", "--message", message)
            return await self._git("rev-parse", "HEAD")

    async def current(self) -> str:
        """The last commit.

        Raises:
            GitFailed: there is none.
        """
        async with self._one:
            return await self._git("rev-parse", "HEAD")

    async def restore(self, commit: str) -> None:
        """Make the workspace what it was at `commit`; files that came later are deleted.

        Ignored files stay, as no snapshot contains them.

        Raises:
            GitFailed: there is no such commit, or a file cannot be written.
        """
        async with self._one:
            tree = await self._git("ls-tree", "--name-only", "--end-of-options", commit)
            if tree or await self._git("ls-files"):
                await self._git("restore", f"--source={commit}", ".")
            await self._git("clean", "-f", "-d")

    async def _make(self) -> None:
        if not (self.folder / ".git" / "HEAD").is_file():
            await self._git("init", "--quiet", "--initial-branch=main", str(self.folder), bare=True)
            await self._git("commit", "--quiet", "--allow-empty", "--message", "Initial commit")
        make_private_folder(self.folder / ".git" / "info")
        write_private(self.folder / ".git" / "info" / "attributes", _BYTE_FOR_BYTE.encode())

    async def _git(self, *words: str, bare: bool = False) -> str:
        """The output of a git command. `bare`: without a repository."""
        command = shlex.join(("git", *words))
        folder = self.folder if bare or words == ("--version",) else self._root
        with self._clock.real_work():
            done = await run_hook_process(
                command,
                given=b"",
                folder=folder,
                environment=self._variables(in_repository=folder is self._root),
                limit_ms=_LIMIT_MS,
                signal=None,
            )
        if done.ending is not Ending.BY_ITSELF:
            raise GitFailed(f"{words[0]} took longer than {_LIMIT_MS // 1000} seconds")
        if done.exit_code != 0:
            raise GitFailed(done.stderr.strip() or done.stdout.strip() or f"{words[0]} failed")
        return done.stdout.strip()

    def _variables(self, *, in_repository: bool) -> dict[str, str]:
        inherited = self._environment.child_variables.items()
        variables = {key: value for key, value in inherited if not key.startswith("GIT_")}
        for number, (key, value) in enumerate(_OVERRIDES.items()):
            variables[f"GIT_CONFIG_KEY_{number}"] = key
            variables[f"GIT_CONFIG_VALUE_{number}"] = value
        variables |= {
            "GIT_CONFIG_COUNT": str(len(_OVERRIDES)),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": _NAME,
            "GIT_AUTHOR_EMAIL": _EMAIL,
            "GIT_COMMITTER_NAME": _NAME,
            "GIT_COMMITTER_EMAIL": _EMAIL,
        }
        if in_repository:
            variables["GIT_DIR"] = str(self.folder / ".git")
            variables["GIT_WORK_TREE"] = str(self._root)
        return variables
