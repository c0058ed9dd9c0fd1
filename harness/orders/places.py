"""`Place`: something of a run that can be held back and let go, known alike in every engine.

A place is named by thread and call, never by an id or by when an engine got there: `0/1 answer 2`
is the third answer that the child of the second call of the first turn gets, `0/1 call` the end of
that call. So one order of places can be imposed on two engines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from services.threads import MAIN

__all__ = ["Kind", "Path", "Place", "nearness", "path_of", "path_text"]

Path = tuple[int, ...]
"""A thread's or a call's path, turn and call by turns; empty for the main thread."""

Kind = Literal["answer", "chunk", "call"]

_RANK: Final = {"chunk": 0, "answer": 1, "call": 2}
_TEXT: Final = re.compile(
    r"(?P<path>main|[\d/]+)(?: (?P<role>[a-z_]+))? "
    r"(?:answer (?P<answer>\d+)(?: chunk (?P<chunk>\d+))?|call(?: (?P<call>\d+))?)"
)


def path_of(thread: str) -> Path:
    """The path that a thread's name stands for."""
    return () if thread == MAIN else tuple(int(number) for number in thread.split("/"))


def path_text(path: Path) -> str:
    """A thread's name from its path."""
    return "/".join(map(str, path)) if path else MAIN


def nearness(one: Path, other: Path) -> int:
    """How many calls two paths lead through together: the work of one child is near each other."""
    shared = 0
    for step, other_step in zip(_calls(one), _calls(other), strict=False):
        if step != other_step:
            break
        shared += 1
    return shared


def _calls(path: Path) -> Iterator[tuple[int, int]]:
    return zip(path[::2], path[1::2], strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place of a run. Several of one path, kind and role are numbered from 0."""

    path: Path
    kind: Kind
    number: int = 0
    """Which answer of that role on the thread, or how many calls hooks made in the call's place."""
    role: str = ""
    """On whose behalf, where it is not the thread's own conversation."""
    chunk: int = 0
    """Which chunk, from 1: the first comes with the answer."""

    def __str__(self) -> str:
        """The place in words that `parse` reads back."""
        words = [path_text(self.path), *([self.role] if self.role else [])]
        if self.kind == "call":
            words += ["call", *([str(self.number)] if self.number else [])]
        else:
            words += ["answer", str(self.number)]
            words += ["chunk", str(self.chunk)] if self.kind == "chunk" else []
        return " ".join(words)

    @property
    def sort_key(self) -> tuple[Path, int, str, int, int]:
        """By path; what goes on comes before what begins, and calls end last."""
        return self.path, _RANK[self.kind], self.role, self.number, self.chunk

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that `text` stands for.

        Raises:
            ValueError: it is not written as places are.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no place; write '0/1 answer 2' or '0/1 call'")
        path, role = path_of(found["path"]), found["role"] or ""
        if found["answer"] is None:
            return cls(path=path, kind="call", number=int(found["call"] or 0), role=role)
        kind: Kind = "answer" if found["chunk"] is None else "chunk"
        number, chunk = int(found["answer"]), int(found["chunk"] or 0)
        return cls(path=path, kind=kind, number=number, role=role, chunk=chunk)
