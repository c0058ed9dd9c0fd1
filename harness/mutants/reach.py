"""Which lines of the runtimes and services a case executes, measured once and kept.

Each run is made in a process of its own, forked when everything is imported, so that no cache of
the process hides a line from the cases behind the first. Lines count inside functions only: what
is executed when a module is imported depends on no case.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

__all__ = ["Lines", "executed", "has_line"]

Lines: TypeAlias = Mapping[str, int]
"""File, from the checkout's root, to its executed lines: bit n is line n."""

_IN_FUNCTION: Final = inspect.CO_OPTIMIZED
"""The flag of code that is a function's: a module's or a class's body does not have it."""

_Trace: TypeAlias = Callable[[FrameType, str, Any], Any]


@contextmanager
def executed(root: Path, parts: tuple[str, ...]) -> Iterator[dict[str, int]]:
    """Note the lines that are executed below the folders `parts` of `root`, on every thread.

    Yields:
        What becomes `Lines` when the block has ended.
    """
    found: dict[str, int] = {}
    seen = _Seen(tuple(f"{root / part}/" for part in parts))
    before, before_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(seen.called)
    sys.settrace(seen.called)
    try:
        yield found
    finally:
        sys.settrace(before)
        threading.settrace(before_threads)
        for file, lines in seen.lines.items():
            name = Path(file).relative_to(root).as_posix()
            found[name] = sum(1 << line for line in lines)


def has_line(lines: Lines, file: str, span: tuple[int, int]) -> bool:
    """Whether any line of a span, both ends included, was executed."""
    first, last = span
    return bool(lines.get(file, 0) >> first & ((1 << (last - first + 1)) - 1))


class _Seen:
    """A trace function that collects lines by file, and skips code that it has seen whole."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = folders
        self._left: dict[CodeType, set[int] | None] = {}
        """Code to the lines of it that were not executed yet; `None` for code that is not ours."""
        self._tracers: dict[CodeType, _Trace] = {}
        self.lines: defaultdict[str, set[int]] = defaultdict(set)

    def called(self, frame: FrameType, event: str, arg: Any) -> _Trace | None:
        """The global trace function: says how the frame is traced."""
        code = frame.f_code
        try:
            left = self._left[code]
        except KeyError:
            left = self._left[code] = self._lines_of(code)
        if not left:
            return None
        return self._tracers.get(code) or self._tracer(code, left)

    def _lines_of(self, code: CodeType) -> set[int] | None:
        ours = code.co_filename.startswith(self._folders) and code.co_flags & _IN_FUNCTION
        return {line for _, _, line in code.co_lines() if line} if ours else None

    def _tracer(self, code: CodeType, left: set[int]) -> _Trace:
        seen = self.lines[code.co_filename]

        def traced(frame: FrameType, event: str, arg: Any) -> _Trace:
            line = frame.f_lineno
            if line in left:
                left.discard(line)
                seen.add(line)
            return traced

        self._tracers[code] = traced
        return traced
