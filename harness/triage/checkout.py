"""Read the user's repository, and check out revisions in a worktree in a temporary folder.

The user's tree, index, stash and refs stay unchanged. Hooks, filters and monitors are off, so that
no program runs that the repository or its configuration names. Git's note of the worktree is
removed with the worktree.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.canonical import printable
from harness.errors import UsageError

__all__ = ["Checkout", "Worktree", "clean_environment"]

_QUIET: Final = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.commitGraph", "false"),
    ("log.showSignature", "false"),
    ("advice.detachedHead", "false"),
    ("submodule.recurse", "false"),
)
"""Settings of every call: the repository runs no program, and no cache replaces commits."""
_ASKED_PLAINLY: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # No replaced or grafted commits.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    # A partial clone would fetch missing objects with programs of its configuration.
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
_NO_FILTER: Final = (("smudge", ""), ("process", ""), ("clean", ""), ("required", "false"))
_TIMEOUT_S: Final = 120


def clean_environment() -> dict[str, str]:
    """The environment without variables of git and Python's paths, for child processes.

    `PATH` keeps its absolute entries only: relative ones would name folders of the checkout.
    """
    strange = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") and name not in strange
    }
    if "PATH" in kept:
        places = [each for each in kept["PATH"].split(os.pathsep) if os.path.isabs(each)]  # noqa: PTH117
        kept["PATH"] = os.pathsep.join(places)
    return kept


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository with a working tree, which is only read."""

    root: Path
    """Its top folder."""

    @classmethod
    def at(cls, folder: Path) -> Checkout:
        """The repository that `folder` is in.

        Raises:
            UsageError: it is in none, git is not installed, or would wait for a file.
        """
        if not folder.is_dir():
            raise UsageError(f"there is no folder {str(folder)!r}", "name a checkout")
        _refuse_pipes(folder.resolve())
        top = cls(folder).git("rev-parse", "--show-toplevel", mend="run this in a checkout")
        return cls(Path(top))

    def git(
        self,
        *words: str,
        mend: str = "",
        options: Sequence[tuple[str, str]] = _QUIET,
        stdin: str = "",
    ) -> str:
        """The output of a git command, without its final newline.

        Raises:
            UsageError: git is missing, does not answer, or fails; with its own message.
        """
        said = self._asked(words, mend, options, stdin)
        return said.decode("utf-8", "surrogateescape").rstrip("\n")

    def blob(self, named: str) -> bytes:
        """The content of a file in git, named by its hash or as `REV:path`.

        Raises:
            UsageError: as for `git`.
        """
        return self._asked(("cat-file", "blob", named), "", _QUIET, "")

    def _asked(
        self, words: Sequence[str], mend: str, options: Sequence[tuple[str, str]], stdin: str
    ) -> bytes:
        configured = [word for key, value in options for word in ("-c", f"{key}={value}")]
        try:
            done = subprocess.run(
                ["git", "--no-pager", *configured, *words],
                cwd=self.root,
                env={**clean_environment(), **_ASKED_PLAINLY},
                input=stdin.encode("utf-8", "surrogateescape"),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise UsageError("there is no git on PATH", "install it") from error
        except OSError as error:
            raise UsageError(f"git cannot be started: {error.strerror}", "install it") from error
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"git {words[0]} did not answer in {_TIMEOUT_S} s") from error
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
            first = printable((said.splitlines() or ["no reason given"])[0])
            owned = f"if it is yours: git config --global --add safe.directory {self.root}"
            advice = owned if "dubious ownership" in first else mend
            raise UsageError(f"git {words[0]} refuses: {first}", advice)
        return done.stdout

    def commit(self, revision: str, option: str) -> str:
        """The full hash of the commit that `revision` names.

        Raises:
            UsageError: it names none.
        """
        try:
            return self.git(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except UsageError as error:
            problem = f"{option} {printable(revision)}: there is no such revision in {self.root}"
            raise UsageError(problem, "see `git log --oneline`") from error

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `older` is `newer` or one of its ancestors."""
        return self.git("merge-base", "--", older, newer) == older

    def described(self, commit: str) -> str:
        """A commit on one printable line: short hash, day and subject."""
        return printable(self.git("show", "-s", "--format=%h %cs %s", commit, "--"))

    def subjects(self, older: str, newer: str, most: int) -> tuple[str, ...]:
        """Short hash and subject of the commits after `older` up to `newer`, newest first."""
        said = self.git("log", f"--max-count={most}", "--format=%h %s", f"{older}..{newer}", "--")
        return tuple(map(printable, said.splitlines()))

    def touched(self, older: str, newer: str) -> tuple[str, ...]:
        """The files that differ between two commits, as git names them."""
        said = self.git("diff", "--name-only", "--no-renames", "--no-ext-diff", older, newer, "--")
        return tuple(said.splitlines())

    def between(self, newer: str, older: Sequence[str]) -> list[str]:
        """The commits of `newer` that no `older` one has, those first that halve them best."""
        apart = [f"^{commit}" for commit in older]
        said = self.git("rev-list", "--bisect-all", newer, *apart, "--")
        return [line.partition(" ")[0] for line in said.splitlines()]

    def count(self, older: str, newer: str) -> int:
        """The number of commits of `newer` that `older` has not."""
        return int(self.git("rev-list", "--count", f"{older}..{newer}", "--"))

    @contextmanager
    def worktree(self) -> Iterator[Worktree]:
        """An empty worktree of this repository in a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="parity-bisect-") as folder:
            place = Path(folder).resolve() / "tree"
            options = (*_QUIET, *self._filters_off())
            self.git("worktree", "add", "--detach", "--no-checkout", str(place), "HEAD")
            try:
                yield Worktree(place, options)
            finally:
                self._leave(place)

    def _leave(self, place: Path) -> None:
        """Remove it, even if the user presses Ctrl-C a second time."""
        with _without_sigint():
            try:
                self.git("worktree", "remove", "--force", "--force", "--", str(place))
            except UsageError:
                # Git's note of the worktree goes with its next prune.
                shutil.rmtree(place, ignore_errors=True)

    def _filters_off(self) -> list[tuple[str, str]]:
        """Settings that switch all content filters of the configuration off."""
        try:
            said = self.git("config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.")
        except UsageError:  # exit 1: there is none
            return []
        names = {key.split(".", 1)[1].rpartition(".")[0] for key in said.split("\0") if key}
        return [
            (f"filter.{name}.{key}", value) for name in sorted(names) for key, value in _NO_FILTER
        ]


def _refuse_pipes(folder: Path) -> None:
    """Check that no FIFO blocks git, which opens files `HEAD` on its way up to the repository.

    Raises:
        UsageError: one of these files is a FIFO.
    """
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return
        head = place / "HEAD"
        if head.is_fifo():
            raise UsageError(f"{head} is not a regular file: git would wait for it", "remove it")


@contextmanager
def _without_sigint() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(slots=True)
class Worktree:
    """A worktree in which one revision after the other is checked out."""

    root: Path
    options: tuple[tuple[str, str], ...]
    at: str = ""
    """The commit that is checked out."""

    def become(self, commit: str) -> None:
        """Check out `commit`.

        Raises:
            UsageError: git cannot.
        """
        here = Checkout(self.root)
        words = ("checkout", "--quiet", "--force", "--detach", commit, "--")
        stale = here.touched(self.at, commit) if self.at else ()
        here.git(*words, options=self.options)
        for file in stale:
            # Python compares only seconds and sizes to find out if compiled code is up to date.
            source = self.root / file
            for compiled in source.parent.glob(f"__pycache__/{source.stem}.*.pyc"):
                compiled.unlink(missing_ok=True)
        self.at = commit
