"""Runs of third parties' runtimes: what one breaks or leaves is said in one sentence with its line.

Our own runtimes are tested against such faults, so what one of them leaves is a difference. Of a
third party's runtime it makes the case undecided, since a comparison with it would show nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from harness.replay.observation import Observation
from harness.sides import engines_of
from runtimes.contract import ReportsPlace, Runtime, ShowsMore, UnusableRuntime
from runtimes.error_places import calling_place, place_of, short_place
from runtimes.registry import third_party_package
from services.wire import JsonObject

__all__ = [
    "custom_items",
    "ended_task",
    "error_place",
    "judged_as_theirs",
    "kept_tasks",
    "left_processes",
    "packages_of",
    "stack_place",
    "waiting_place",
]

_NAMED: Final = 3
_kept: WeakKeyDictionary[asyncio.AbstractEventLoop, list[asyncio.Task[Any]]] = WeakKeyDictionary()


def packages_of(runtime: str) -> tuple[str, ...]:
    """Return the packages of the third parties' runtimes of a side; none for ours."""
    return tuple(filter(None, map(third_party_package, engines_of(runtime))))


def error_place(errors: Sequence[BaseException], packages: Sequence[str]) -> str:
    """Return the line of a third party's code that the first error passed; empty if none did."""
    places = (place_of(error, package) for error in errors for package in packages)
    return next(filter(None, places), "")


def stack_place(packages: Sequence[str]) -> str:
    """Return the line of a third party's code that has led here; empty if none has."""
    return next(filter(None, map(calling_place, packages)), "")


def waiting_place(runtime: Runtime | None, packages: Sequence[str]) -> str:
    """Return the line at which a third party's code waits; empty if it is not known."""
    if isinstance(runtime, ReportsPlace) and runtime.place:
        return runtime.place
    for task in asyncio.all_tasks():
        frames = [frame for frame in _awaited(task.get_coro()) if _is_in(frame, packages)]
        if frames:
            return short_place(frames[-1].f_code.co_filename, frames[-1].f_lineno)
    return ""


@contextmanager
def kept_tasks(loop: asyncio.AbstractEventLoop, packages: Sequence[str]) -> Iterator[None]:
    """Keep the tasks of third parties' code that a run makes, so that `ended_task` finds them."""
    made = _kept[loop] = []

    def task(
        on: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **how: Any
    ) -> asyncio.Task[Any]:
        new = asyncio.Task(coroutine, loop=on, **how)
        if any(_is_in(frame, packages) for frame in _awaited(coroutine)):
            made.append(new)
        return new

    loop.set_task_factory(task)  # type: ignore[arg-type]  # it takes generators as well
    try:
        yield
    finally:
        loop.set_task_factory(None)
        del _kept[loop]


def ended_task() -> BaseException | None:
    """Return the error of a third party's task that has ended with one; None without one."""
    for task in _kept.get(asyncio.get_running_loop(), ()):
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            return error
    return None


def _is_in(frame: Any, packages: Sequence[str]) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in packages


def _awaited(waits: Any) -> Iterator[Any]:
    """Yield the frames of a coroutine and of what it awaits, outermost first."""
    while waits is not None:
        frames = (getattr(waits, name, None) for name in ("cr_frame", "gi_frame", "ag_frame"))
        yield from (frame for frame in frames if frame is not None)
        inner = (getattr(waits, name, None) for name in ("cr_await", "gi_yieldfrom", "ag_await"))
        waits = next((each for each in inner if each is not None), None)


def custom_items(
    runtime: Runtime, engine: str, names: frozenset[str]
) -> Mapping[str, Sequence[JsonObject]]:
    """Return the items of the custom channels that a runtime has.

    Raises:
        UnusableRuntime: the runtime returns others than its traits name.
    """
    shown = runtime.shown() if isinstance(runtime, ShowsMore) else {}
    if shown.keys() != names:
        problem = f"{engine} shows the custom channels {sorted(shown)}, its traits {sorted(names)}"
        raise UnusableRuntime(problem, "make both agree")
    return shown


def judged_as_theirs(seen: Observation, left: Sequence[str]) -> Observation:
    """Return the observation of a third party's run that left something: it decides nothing."""
    if not left or seen.blocker is not None:
        return seen
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return replace(
        seen, broken=True, error=f"it leaves work unfinished: {'; '.join(left[:_NAMED])}{more}"
    )


@contextmanager
def left_processes() -> Iterator[list[str]]:
    """Collect the commands of processes that a run starts in this process and leaves running.

    They are killed. Without `/proc` none is found.
    """
    before, found = _children(), list[str]()
    yield found
    for pid in sorted(_children() - before):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if words:  # a child that has ended and was not awaited has none
                found.append(f"a process still runs: {' '.join(words.split(chr(0))).strip()}")


def _children() -> set[int]:
    found: set[int] = set()
    if sys.platform == "linux":
        for file in Path("/proc/self/task").glob("*/children"):
            with suppress(OSError):
                found |= set(map(int, file.read_text().split()))
    return found
