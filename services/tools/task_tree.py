"""The tasks of the tracker as a tree: for the user as a list of steps, for the model as a drawing.

Source: core `tools/trackerTools.ts` (`buildTodosReturnDisplay`, `TrackerVisualizeInvocation`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from services.tools.collation import collation_key
from services.tracker import TaskStatus, TrackerTask
from services.wire import JsonObject

__all__ = ["shown_tasks", "task_graph"]

_ORDER: Final = (
    TaskStatus.IN_PROGRESS,
    TaskStatus.OPEN,
    TaskStatus.BLOCKED,
    TaskStatus.CLOSED,
)
_AS_STEP: Final = {
    TaskStatus.OPEN: "pending",
    TaskStatus.IN_PROGRESS: "in_progress",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.CLOSED: "completed",
}
_SIGNS: Final = {
    TaskStatus.OPEN: "⭕",
    TaskStatus.IN_PROGRESS: "🚧",
    TaskStatus.BLOCKED: "⛔",
    TaskStatus.CLOSED: "✅",
}
_Sorted = Callable[[Sequence[TrackerTask]], Sequence[TrackerTask]]


def shown_tasks(tasks: Sequence[TrackerTask]) -> JsonObject:
    """`{todos: [{description, status}]}`, as `write_todos` shows its steps.

    Tasks in progress come first, then the open, the blocked and the closed ones.
    """

    def shown(place: _Place) -> JsonObject:
        if place.in_circle:
            return {"description": place.circle, "status": "cancelled"}
        task = place.task
        description = f"{place.indent}{task.type}: {task.title} ({task.id})"
        return {"description": description, "status": _AS_STEP[task.status]}

    return {"todos": [shown(place) for place in _walk(tasks, _by_status)]}


def task_graph(tasks: Sequence[TrackerTask]) -> str:
    """Draw the tasks in the order of their ids, each with its dependencies."""
    lines = ["Task Tracker Graph:"]
    for place in _walk(tasks, lambda siblings: siblings):
        task, indent = place.task, place.indent
        if place.in_circle:
            lines.append(place.circle)
            continue
        lines.append(f"{indent}{_SIGNS[task.status]} {task.id} [{task.type.upper()}] {task.title}")
        if task.dependencies:
            lines.append(f"{indent}  └─ Depends on: {', '.join(task.dependencies)}")
    return "\n".join(lines) + "\n"


def _by_status(siblings: Sequence[TrackerTask]) -> Sequence[TrackerTask]:
    return sorted(siblings, key=lambda task: (_ORDER.index(task.status), collation_key(task.id)))


class _Place:
    """A task in the tree."""

    def __init__(self, task: TrackerTask, depth: int, *, in_circle: bool) -> None:
        self.task = task
        self.indent = "  " * depth
        self.in_circle = in_circle
        """Whether the task is one of its own ancestors."""

    @property
    def circle(self) -> str:
        """The line in place of a task that is one of its own ancestors."""
        return f"{self.indent}[CYCLE DETECTED: {self.task.id}]"


def _walk(tasks: Sequence[TrackerTask], in_order: _Sorted) -> Iterator[_Place]:
    """The tasks from the roots down, without recursion: a chain may be longer than the stack."""
    children: dict[str | None, list[TrackerTask]] = defaultdict(list)
    for task in tasks:
        children[task.parent_id].append(task)
    waiting = [(task, 0) for task in reversed(in_order(children[None]))]
    above: list[str] = []
    while waiting:
        task, depth = waiting.pop()
        del above[depth:]
        in_circle = task.id in above
        yield _Place(task, depth, in_circle=in_circle)
        if not in_circle:
            above.append(task.id)
            below = in_order(children.get(task.id, ()))
            waiting.extend((child, depth + 1) for child in reversed(below))
