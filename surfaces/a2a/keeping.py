"""`KeepsTasks`: where a server keeps its tasks beyond their sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from surfaces.a2a.record import TaskRecord

__all__ = ["KeepsTasks"]


class KeepsTasks(Protocol):
    """Keeps the tasks of a server."""

    def save(self, record: TaskRecord, now_ms: int) -> None:
        """Keep a task as it is now."""
        ...

    def load(self, task_id: str) -> TaskRecord | None:
        """The task with this id; `None`: there is none."""
        ...

    def unfinished(self) -> Sequence[TaskRecord]:
        """The tasks whose turn had not ended, or that waited for an approval."""
        ...
