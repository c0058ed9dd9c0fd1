"""`Place`: an answer, chunk or end of a call that can be held, named alike in every engine.

Thread and call name a place, not ids or times: `0/1 answer 2` is the third answer for the child of
the second call of the first turn, `0/1 call` the end of that call. So one order of places can be
imposed on two engines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

from services.threads import MAIN

__all__ = ["Kind", "Path", "Place", "nearness", "path_of", "path_text"]

Path = tuple[int, ...]
"""A thread's or a call's path: turn, call, turn, call, …; empty for the main thread."""

Kind = Literal["answer", "chunk", "call"]

_RANK: Final = {"chunk": 0, "answer": 1, "call": 2}
_TEXT: Final = re.compile(
    r"(?P<path>main|[\d/]+)(?: (?P<role>[a-z_]+))? "
    r"(?:answer (?P<answer>\d+)(?: chunk (?P<chunk>\d+))?|call(?: (?P<call>\d+))?)"
)


def path_of(thread: str) -> Path:
    """The path of a thread's name."""
    return () if thread == MAIN else tuple(int(number) for number in thread.split("/"))


def path_text(path: Path) -> str:
    """The thread's name of a path."""
    return "/".join(map(str, path)) if path else MAIN


def nearness(one: Path, other: Path) -> int:
    """The number of leading calls that two paths share."""
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in equal) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place of a run. Several of one path, kind and role are numbered from 0."""

    path: Path
    kind: Kind
    number: int = 0
    """The number of the answer, or how many calls hooks made in the call's place."""
    role: str = ""
    """The role of the request; empty for the thread's own conversation."""
    chunk: int = 0
    """The number of the chunk, from 1; chunk 0 comes with the answer."""

    def __str__(self) -> str:
        """The text that `parse` reads."""
        words = [path_text(self.path), *([self.role] if self.role else [])]
        if self.kind == "call":
            words += ["call", *([str(self.number)] if self.number else [])]
        else:
            words += ["answer", str(self.number)]
            words += ["chunk", str(self.chunk)] if self.kind == "chunk" else []
        return " ".join(words)

    @property
    def sort_key(self) -> tuple[Path, int, str, int, int]:
        """By path; chunks come before answers, and ends of calls last."""
        return self.path, _RANK[self.kind], self.role, self.number, self.chunk

    @classmethod
    def parse(cls, text: str) -> Place:
        """The inverse of `str`.

        Raises:
            ValueError: `text` is no place.
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
