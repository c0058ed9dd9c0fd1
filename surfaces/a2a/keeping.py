"""`KeepsTasks`: where a server keeps its tasks beyond their sessions."""

from __future__ import annotations

from typing import Protocol

from surfaces.a2a.feed import Saves
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.storage.database import Page, Query

__all__ = ["KeepsTasks"]


class KeepsTasks(Saves, Protocol):
    """Keeps the tasks of a server, as `TaskStore` does. Each method raises `RpcError`."""

    async def load(self, task_id: str) -> TaskRecord | None:
        """The task with this id; `None`: there is none."""

    async def page(self, query: Query) -> Page:
        """The tasks that match."""

    async def unfinished(self) -> list[TaskRecord]:
        """The tasks whose turn had not ended, or that waited for an approval."""

    async def due(self) -> list[TaskRecord]:
        """The tasks for which a callback is due."""
