"""What git says of the signer's checkout: whether it is as it was committed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from harness.triage.checkout import Checkout

__all__ = ["dirt", "untracked"]

_UNWATCHED: Final = frozenset("hsSmrck")
"""Marks of `git ls-files -v` on files whose changes git was told not to look for."""


def dirt(checkout: Checkout, but: Sequence[Path] = ()) -> list[str]:
    """What is not as it was committed, a phrase each; ignored files and those below `but` not.

    Raises:
        UsageError: git cannot say.
    """
    left_out = [_inside(checkout, place) for place in but]
    found: list[str] = []
    words = ("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    for entry in checkout.git(*words).split("\0"):
        state, name = entry[:2], entry[3:]
        if name and not _below(name, left_out):
            found.append(f"{name} is {'not tracked' if state == '??' else 'changed'}")
    for line in checkout.git("ls-files", "-v", "-z").split("\0"):
        mark, name = line[:1], line[2:]
        if name and mark in _UNWATCHED and not _below(name, left_out):
            found.append(f"{name} is marked so that git does not look for changes")
    return found


def untracked(checkout: Checkout, names: Collection[str]) -> list[str]:
    """Those of the files, named from the top folder, that git does not know, ignored ones too.

    Raises:
        UsageError: git cannot say.
    """
    known = frozenset(checkout.git("ls-files", "-z").split("\0"))
    return sorted(name for name in names if name not in known)


def _inside(checkout: Checkout, place: Path) -> str:
    """Its name from the top folder; empty for the top folder and for what is not in it."""
    try:
        name = place.resolve().relative_to(checkout.root.resolve()).as_posix()
    except ValueError:
        return ""
    return "" if name == "." else name


def _below(name: str, folders: Sequence[str]) -> bool:
    return any(folder and (name == folder or name.startswith(f"{folder}/")) for folder in folders)
