"""What git says of the checkout: whether its files are what was committed, and what was once there.

The repository is asked, never changed; its hooks and its file monitor are left out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from harness.errors import HarnessError

__all__ = ["Checkout", "GitFailed", "checkout_of", "was_committed"]

_SEEN_THROUGH: Final = ("h", "s", "S", "m", "r", "c", "k")
"""Marks of `git ls-files -v` for files whose changes git was told not to look at."""
_TIMEOUT_S: Final = 60


class GitFailed(HarnessError):
    """git could not say what was asked."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree."""

    root: Path

    @property
    def revision(self) -> str:
        """The commit that is checked out.

        Raises:
            GitFailed: there is none yet.
        """
        return _git(self.root, "rev-parse", "--verify", "HEAD").strip()

    def dirt(self, but: Sequence[Path] = ()) -> list[str]:
        """What is not as it was committed, a phrase each; ignored files and those below `but` not.

        Raises:
            GitFailed: git cannot say.
        """
        left_out = [self._inside(place) for place in but]
        found: list[str] = []
        listed = _git(
            self.root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"
        )
        for entry in listed.split("\0"):
            state, name = entry[:2], entry[3:]
            if name and not _below(name, left_out):
                found.append(f"{name} is {'not tracked' if state == '??' else 'changed'}")
        for line in _git(self.root, "ls-files", "-v", "-z").split("\0"):
            mark, name = line[:1], line[2:]
            if mark in _SEEN_THROUGH and mark and not _below(name, left_out):
                found.append(f"{name} is marked so that git does not look for changes")
        return found

    def tracked(self) -> frozenset[str]:
        """Names of the files that git knows, with `/`, from the root."""
        return frozenset(_git(self.root, "ls-files", "-z").split("\0"))

    def _inside(self, place: Path) -> str:
        try:
            return place.resolve().relative_to(self.root).as_posix()
        except ValueError:
            return ""


def checkout_of(place: Path) -> Checkout | None:
    """The checkout that a file or folder lies in, if it is one of git's."""
    folder = place if place.is_dir() else place.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        root = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
    except GitFailed:
        return None
    return Checkout(Path(root).resolve())


def was_committed(folder: Path) -> tuple[frozenset[str], list[str]]:
    """Names of the files that were in that folder in any commit of the history, and remarks."""
    checkout = checkout_of(folder) if folder.is_dir() else None
    if checkout is None:
        return frozenset(), []
    inside = folder.resolve()
    try:
        names = _git(
            inside, "log", "--format=", "--name-only", "--no-renames", "-z", "-m", "HEAD", "--", "."
        )
        shallow = _git(inside, "rev-parse", "--is-shallow-repository").strip() == "true"
    except GitFailed:
        return frozenset(), ["git has no history here to look for records in"]
    prefix = inside.relative_to(checkout.root)
    found = {
        PurePosixPath(name).name
        for name in names.split("\0")
        if name and PurePosixPath(name).parent == PurePosixPath(prefix.as_posix())
    }
    told = "the history is cut off (a shallow clone): records taken away before it cannot be seen"
    return frozenset(found), [told] if shallow else []


def _below(name: str, folders: Sequence[str]) -> bool:
    return any(folder and (name == folder or name.startswith(f"{folder}/")) for folder in folders)


def _git(folder: Path, *words: str) -> str:
    """What git answers in that folder.

    Raises:
        GitFailed: it cannot be started, takes too long, or says no.
    """
    # A hook's variables would point at another repository than the one that `folder` is in.
    environment = {name: it for name, it in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", str(folder)]
    try:
        done = subprocess.run(
            [*command, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(f"git cannot be asked: {error}") from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise GitFailed(f"git {words[0]} in {folder}: {told[-1]}; make it a checkout that works")
    return done.stdout.decode("utf-8", "surrogateescape")
