"""The events of a run of cases, and how listeners follow them.

`harness.experiment.pool` yields the events; `follow` hands each of them to the listeners of a
command: its journal, its tally, its progress.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

__all__ = [
    "CaseFinished",
    "CaseStarted",
    "Event",
    "Events",
    "Listener",
    "RunFinished",
    "RunStarted",
    "StopRun",
    "Waiting",
    "follow",
    "follow_whole",
    "on_finished",
    "on_waiting",
]

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins. `total` is the number of its tasks; `None` if it is unknown."""

    total: int | None = None


@dataclass(frozen=True, slots=True)
class CaseStarted(Generic[Task]):
    """A task goes to a worker. A worker has at most two tasks at a time: one runs, one waits."""

    task: Task


@dataclass(frozen=True, slots=True)
class CaseFinished(Generic[Task, Result]):
    """A task has its result. If the worker died, the caller's `died` function made the result.

    `took_ms` is the task's time in the worker, without waiting; `None` if the worker died.
    """

    task: Task
    result: Result
    took_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """No task has finished for a second."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event. Every task has its result, unless `interrupted` or `stopped` is set."""

    interrupted: bool = False
    """The user pressed Ctrl-C."""
    stopped: bool = False
    """A listener raised `StopRun`."""


Event: TypeAlias = (
    RunStarted | CaseStarted[Task] | CaseFinished[Task, Result] | Waiting | RunFinished
)
Events: TypeAlias = Generator[Event[Task, Result], None, None]
Listener: TypeAlias = Callable[[Event[Task, Result]], None]


class StopRun(Exception):
    """Raised by a listener to end the run early. Later listeners do not receive that event."""


def follow(events: Events[Task, Result], *listeners: Listener[Task, Result]) -> RunFinished:
    """Pass each event to all listeners, in their order; return the last event.

    Ctrl-C and `StopRun` end the run and its workers; the listeners receive a `RunFinished` with
    the reason. Any other exception ends the workers and propagates.
    """

    def emit(event: Event[Task, Result]) -> None:
        for listener in listeners:
            listener(event)

    ending = RunFinished()
    try:
        with closing(events):
            for event in events:
                if not isinstance(event, RunFinished):
                    emit(event)
    except KeyboardInterrupt:
        ending = RunFinished(interrupted=True)
    except StopRun:
        ending = RunFinished(stopped=True)
    emit(ending)
    return ending


def follow_whole(events: Events[Task, Result], *listeners: Listener[Task, Result]) -> None:
    """Like `follow`, for a run that is one stage of several.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C.
    """
    if follow(events, *listeners).interrupted:
        raise KeyboardInterrupt


def on_waiting(update: Callable[[], None]) -> Listener[Any, Any]:
    """Return a listener that calls `update` while the run waits."""

    def listener(event: Event[Any, Any]) -> None:
        if isinstance(event, Waiting):
            update()

    return listener


def on_finished(take: Callable[[Task, Result], None]) -> Listener[Task, Result]:
    """Return a listener that passes each task and its result to `take`."""

    def listener(event: Event[Task, Result]) -> None:
        if isinstance(event, CaseFinished):
            take(event.task, event.result)

    return listener
