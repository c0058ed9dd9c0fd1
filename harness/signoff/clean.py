"""Check that all signed files are committed and unchanged, so that others can check them out."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.signoff.problems import SigningRefused
from harness.triage.checkout import Checkout
from harness.wording import listed
from parity import own_name

__all__ = ["clean_revision", "stray_packages"]

_UNWATCHED: Final = frozenset("hsSmrck")
"""The marks of `git ls-files -v` for files in which git does not detect changes."""


def clean_revision(
    code: Path | None, code_files: Collection[str], places: Sequence[Path], signoffs: Path
) -> str | None:
    """Return the commit of the signed code; `None` if the code is an installed distribution.

    Args:
        code: The checkout of our packages; `None` if they are installed.
        code_files: Names of the code's files, from the checkout's top folder.
        places: The corpus, the gates and the other files that the verdict depends on.
        signoffs: The folder of records, which is about to change.

    Raises:
        SigningRefused: a file is changed, not tracked, or in no checkout.
    """
    folders = {each if each.is_dir() else each.absolute().parent for each in places}
    checkouts: list[Checkout] = []
    for folder in sorted({*folders, *(() if code is None else (code,))}):
        if not any(_within(folder, known.root) for known in checkouts):
            checkouts.append(_checkout_of(folder))
    for checkout in checkouts:
        found = _changed(checkout, signoffs)
        if found:
            problem = f"the checkout {checkout.root} is not as committed: {listed(found)}"
            raise SigningRefused(problem, "commit it, or put it back, and run everything anew")
    if code is None:
        return None
    own = _checkout_of(code)
    known = frozenset(own.git("ls-files", "-z").split("\0"))
    strangers = sorted({*code_files, *_files_below(places, own.root)} - known)
    if strangers:
        problem = f"files that git does not know would be signed: {listed(strangers)}"
        raise SigningRefused(problem, "commit them, or move them away")
    return own.git("rev-parse", "--verify", "HEAD")


def stray_packages(names: Iterable[str], beside: Path) -> list[str]:
    """Return the packages that Python imports from outside of `beside`, the signed folder."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(own_name(name))
        origin = None if spec is None else spec.origin
        if origin is None or Path(origin).resolve().parents[1] != beside.resolve():
            found.append(f"{name} ({origin})")
    return found


def _checkout_of(folder: Path) -> Checkout:
    try:
        return Checkout.at(folder)
    except UsageError as error:
        problem = f"{folder} is in no checkout, so that others cannot get what would be signed"
        raise SigningRefused(f"{problem} ({error.problem})", "sign in a clean checkout") from error


def _files_below(places: Sequence[Path], root: Path) -> list[str]:
    """Return the files among `places` that lie in a checkout, as names from its top folder."""
    inside = [each.resolve() for each in places if each.is_file()]
    top = root.resolve()
    return [each.relative_to(top).as_posix() for each in inside if each.is_relative_to(top)]


def _changed(checkout: Checkout, but: Path) -> list[str]:
    """Return a phrase for each uncommitted change, without ignored files and those below `but`.

    Raises:
        UsageError: Git failed.
    """
    found: list[str] = []
    folder, top = but.resolve(), checkout.root.resolve()
    inside = folder != top and folder.is_relative_to(top)
    left_out = f"{folder.relative_to(top).as_posix()}/" if inside else None

    def counts(name: str) -> bool:
        return bool(name) and not (left_out and f"{name}/".startswith(left_out))

    words = ("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    for entry in checkout.git(*words).split("\0"):
        state, name = entry[:2], entry[3:]
        if counts(name):
            found.append(f"{name} is {'not tracked' if state == '??' else 'changed'}")
    for line in checkout.git("ls-files", "-v", "-z").split("\0"):
        mark, name = line[:1], line[2:]
        if mark in _UNWATCHED and counts(name):
            found.append(f"{name} is marked so that git does not look for changes")
    return found


def _within(place: Path, folder: Path) -> bool:
    return place.resolve().is_relative_to(folder.resolve())
