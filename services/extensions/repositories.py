"""Extensions in git repositories: cloning one, and asking whether there is a newer version.

Source: `packages/cli` `config/extensions/github.ts` (`cloneFromGit`, `checkForExtensionUpdate`).
The published command line first looks for a release of a repository at GitHub; here the repository
itself is always cloned.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.environment import Environment
from services.extensions.manifest import ExtensionError
from services.extensions.origins import Origin
from services.hooks.process import Ending, run_hook_process

__all__ = ["Repositories"]

_LIMIT_MS: Final = 600_000
_SHORT: Final = {
    "github:": "https://github.com/",
    "gitlab:": "https://gitlab.com/",
}
_SAFE: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
}
"""A question of git would wait for ever, and `ext::` runs any program."""


class Repositories:
    """Runs git for extensions.

    Args:
        environment: has the variables that git inherits.
        clock: stands still while git runs.
    """

    def __init__(self, environment: Environment, clock: Clock) -> None:
        self._environment = environment
        self._clock = clock

    async def clone(self, origin: Origin, folder: Path) -> None:
        """Clone the repository into the empty `folder`, at the origin's `ref`.

        Raises:
            ExtensionError: git is missing, or fails.
        """
        try:
            address = _address(origin.source)
            await self._git(folder, "clone", "--quiet", "--depth", "1", "--", address, ".")
            await self._git(folder, "fetch", "--quiet", "--", "origin", origin.ref or "HEAD")
            await self._git(folder, "checkout", "--quiet", "FETCH_HEAD")
        except ExtensionError as error:
            raise ExtensionError(
                f"Failed to clone Git repository from {origin.source} {error}"
            ) from error

    async def has_newer(self, folder: Path, origin: Origin) -> bool:
        """Whether the repository has another commit than the clone in `folder`.

        Raises:
            ExtensionError: git fails, or the repository has no such `ref`.
        """
        ref = origin.ref or "HEAD"
        listed = await self._git(folder, "ls-remote", "--", _address(origin.source), ref)
        if not listed:
            raise ExtensionError(f"Git ref {ref} not found.")
        return listed.split("\t")[0] != await self._git(folder, "rev-parse", "HEAD")

    async def _git(self, folder: Path, *words: str) -> str:
        inherited = self._environment.child_variables.items()
        variables = {key: value for key, value in inherited if not key.startswith("GIT_")}
        with self._clock.real_work():
            try:
                done = await run_hook_process(
                    shlex.join(("git", *words)),
                    given=b"",
                    folder=folder,
                    environment={**variables, **_SAFE},
                    limit_ms=_LIMIT_MS,
                    signal=None,
                )
            except (OSError, ValueError) as error:
                raise ExtensionError(f"git cannot be started: {error}") from error
        if done.ending is not Ending.BY_ITSELF:
            raise ExtensionError(f"git {words[0]} took longer than {_LIMIT_MS // 1000} seconds")
        if done.exit_code != 0:
            raise ExtensionError(done.stderr.strip() or f"git {words[0]} failed")
        return done.stdout.strip()


def _address(source: str) -> str:
    """The address that git understands."""
    for prefix, address in _SHORT.items():
        if source.startswith(prefix):
            return f"{address}{source.removeprefix(prefix)}"
    return source
