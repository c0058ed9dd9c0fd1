"""The history of a folder of records in git, which shows whether records were removed.

A signature cannot show that a later record is missing. So the folder must lie in the repository of
the gates, and git must be able to answer.

Git runs in the top folder of that repository, with commands whose output no configuration changes.
The content of the folder of records (a `.git`, a link) does not choose the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from harness.canonical import sha256_hex
from harness.errors import UsageError
from harness.signoff.problems import RecordRefused
from harness.signoff.records import Record, is_record_name, record_of
from harness.signoff.statement import Revocation
from harness.signoff.strict_json import MAX_BYTES
from harness.triage.checkout import Checkout

__all__ = ["Anchor", "History", "history_of"]

_REVOCATIONS: Final = ":(top,glob)**/[0-9][0-9][0-9][0-9]-revocation.json"
_EVERYWHERE: Final = ("--all", "--reflog")
_UNKNOWN: Final = "git cannot say whether records were taken away"
_TREE: Final = "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The history of a folder. Records may be trusted only if `problems` and `unknown` are empty.

    Without arguments, it is the history of a folder in which nothing was ever committed.
    """

    place: PurePosixPath = field(default_factory=PurePosixPath)
    """The folder of records, from the top folder of the repository."""
    records: frozenset[str] = frozenset()
    """Names of the records that the folder had in some commit of this history."""
    revocations: tuple[Record, ...] = ()
    """All revocations of all branches, tags and reflogs, in any folder; each with its path from
    the top folder. Their signatures are not checked."""
    problems: tuple[str, ...] = ()
    """Problems of the folder's place or of the gates, a phrase each."""
    unknown: tuple[str, ...] = ()
    """What git could not say, a phrase each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The gates whose repository must be that of the records."""

    gates: Path
    """The gates file."""
    digest: str | None = None
    """SHA-256 of the gates in use, which must be those of the last commit; `None` if they come from
    elsewhere."""
    revision: str | None = None
    """A revision whose records must be in the folder, in addition to the last commit."""


class _Refused(Exception):
    """Records in this place must not be trusted. The message is a phrase."""


def history_of(folder: Path, anchor: Anchor | None = None) -> History:
    """Ask git about a folder of records.

    Args:
        folder: The folder; it may be missing.
        anchor: The gates beside it; `None` accepts any repository around the folder.
    """
    try:
        top = _top(folder if anchor is None else anchor.gates.parent)
        checkout = Checkout(top)
        if (said := checkout.git("rev-parse", "--show-toplevel")) != str(top):
            problem = f"{top} has a .git, and git takes {said} for the top folder"
            raise UsageError(problem, "see `git config core.worktree`, or clone the project")
        _refuse_other_repository(checkout)
        place = _place(folder, top)
        if anchor is not None:
            gates = _place(anchor.gates, top)
            _refuse_inner(top, [gates, place])
            _refuse_uncommitted(checkout, gates, anchor.digest)
        return _asked(checkout, place, None if anchor is None else anchor.revision)
    except _Refused as error:
        return History(problems=(str(error),))
    except UsageError as error:
        return History(unknown=(f"{_UNKNOWN}: {error}",))


def _top(start: Path) -> Path:
    """The top folder of the innermost repository around a folder, without links.

    Git is not asked: it would read a file `HEAD` of the folder, which may be a pipe.

    Raises:
        UsageError: the folder lies in no repository.
    """
    real = Path(os.path.realpath(start))
    for folder in (real, *real.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    raise UsageError(f"{start} lies in no repository", "run this in a clone of the project")


def _refuse_other_repository(checkout: Checkout) -> None:
    """Check that `.git` is the repository of this folder.

    Raises:
        _Refused: it leads to a repository that does not name this folder as its work tree.
    """
    entry = checkout.root / ".git"
    if entry.is_symlink():
        raise _Refused(f"{entry} is a symbolic link; clone the project instead")
    if entry.is_dir():
        return
    kept = Path(checkout.git("rev-parse", "--absolute-git-dir"))
    try:  # a linked worktree: its own folder in the repository names this `.git`
        back = (kept / "gitdir").read_text("utf-8").rstrip("\n")
        expected = entry
    except (OSError, UnicodeDecodeError):  # a submodule: its configuration names this folder
        back = checkout.git("config", "--default", "", "--get", "core.worktree")
        expected = checkout.root
    if not back or Path(os.path.realpath(kept / back)) != expected:
        problem = f"{entry} leads to {kept}, which does not name this folder as its work tree"
        raise _Refused(f"{problem}; clone the project, or run `git worktree repair`")


def _place(path: Path, top: Path) -> PurePosixPath:
    """The name of a path from the top folder.

    Raises:
        _Refused: a link in the repository is on the way, or another repository.
        UsageError: the path is outside of the repository.
    """
    absolute = path.absolute()
    for each in (absolute, *absolute.parents):
        inside = Path(os.path.realpath(each.parent)).is_relative_to(top)
        if inside and os.path.islink(each):  # noqa: PTH114 - a folder that is closed is no error
            raise _Refused(f"{each} is a symbolic link; restore the file or folder itself")
    real = Path(os.path.realpath(absolute))
    if not real.is_relative_to(top):
        problem = f"{path} is not in the repository {top}, which has the gates"
        raise UsageError(problem, "a flag is flipped by records that lie beside the gates")
    for each in (real, *real.parents):
        if each == top:
            break
        if os.path.lexists(each / ".git"):
            raise _Refused(
                f"{each} is a repository of its own, and its history is not that of the gates"
            )
    return PurePosixPath(real.relative_to(top).as_posix())


def _refuse_inner(top: Path, places: Sequence[PurePosixPath]) -> None:
    """Check that no repository around this one has ever had these files.

    Raises:
        _Refused: one has; then this repository was made inside the one with the history.
    """
    for folder in top.parents:
        if not os.path.lexists(folder / ".git"):
            continue
        inner = PurePosixPath(top.relative_to(folder).as_posix())
        names = [f":(top,literal){inner / place}" for place in places]
        words = ("rev-list", "--max-count=1", "--all", "--full-history", "--", *names)
        if Checkout(folder).git(*words):
            problem = f"the repository {top} lies within the repository {folder}"
            raise _Refused(f"{problem}, which has the history of the gates and records")


def _refuse_uncommitted(checkout: Checkout, gates: PurePosixPath, digest: str | None) -> None:
    """Check that the gates in use are those of the last commit.

    Raises:
        _Refused: they are not.
        UsageError: there is no commit.
    """
    if digest is None:
        return
    commit = _head(checkout)
    listed = checkout.git("ls-tree", "--full-tree", "--name-only", "-z", commit, "--", str(gates))
    if not listed:
        raise _Refused(f"{gates} is not committed, and it says who may sign; commit it")
    committed = checkout.blob(f"{commit}:{gates}").decode("utf-8", "replace")
    if sha256_hex(committed) != digest:
        look = f"see `git diff HEAD -- {gates}`, then commit it or put it back"
        raise _Refused(f"{gates} is not as it was committed, and it says who may sign; {look}")


def _head(checkout: Checkout) -> str:
    try:
        return checkout.commit("HEAD", "HEAD")
    except UsageError as error:
        problem = f"the branch that is checked out in {checkout.root} has no commit"
        raise UsageError(problem, "commit the gates and the records") from error


def _asked(checkout: Checkout, place: PurePosixPath, revision: str | None) -> History:
    revisions = [_head(checkout)]
    if revision is not None:
        revisions.append(checkout.commit(revision, "--policy-from"))
    for commit in revisions:
        listed = checkout.git("ls-tree", "--full-tree", "-z", commit, "--", str(place))
        if listed and place.name and listed.split(" ", 2)[1] != _TREE:
            raise _Refused(f"{place} is committed as a link or a submodule, not as a folder")
    unknown = []
    if checkout.git("rev-parse", "--is-shallow-repository") != "false":
        cut = "its history is cut off (a shallow clone); run `git fetch --unshallow`"
        unknown.append(f"{_UNKNOWN}: {cut}")
    within = f":(top,literal){place}" if place.name else ":(top)"
    found = {PurePosixPath(each.name) for each in _entries(checkout, revisions, within)}
    records = {path.name for path in found if path.parent == place and is_record_name(path.name)}
    return History(
        place=place,
        records=frozenset(records),
        revocations=tuple(_revocations(checkout)),
        unknown=tuple(unknown),
    )


def _revocations(checkout: Checkout) -> Iterator[Record]:
    """All revocations of all branches, tags and reflogs. Unreadable files revoke nothing."""
    for each in dict.fromkeys(_entries(checkout, _EVERYWHERE, _REVOCATIONS)):
        if not each.is_file or int(checkout.git("cat-file", "-s", each.hash)) > MAX_BYTES:
            continue
        try:
            record = record_of(checkout.blob(each.hash), Path(each.name))
        except RecordRefused:
            continue
        if isinstance(record.statement, Revocation):
            yield record


class _Entry(NamedTuple):
    name: str
    hash: str
    is_file: bool
    """Not a link, not a submodule."""


def _entries(checkout: Checkout, revisions: Sequence[str], pathspec: str) -> Iterator[_Entry]:
    """The files that commits added, changed or removed among the paths, before and after."""
    commits = checkout.git("rev-list", "--full-history", *revisions, "--", pathspec)
    if not commits:
        return
    words = ("diff-tree", "--stdin", "-m", "-r", "--root", "--raw", "--no-renames", "--no-abbrev")
    said = checkout.git(*words, "-z", "--no-commit-id", "--", pathspec, stdin=f"{commits}\n")
    parts = said.split("\0")
    for about, name in zip(parts[0::2], parts[1::2], strict=False):
        modes_and_hashes = about.removeprefix(":").split(" ")[:4]
        for mode, hashed in zip(modes_and_hashes[:2], modes_and_hashes[2:], strict=True):
            if mode.strip("0"):  # all zeros: not there before, or not there after
                yield _Entry(name, hashed, mode.startswith("100"))
