"""`Database`: what a store asks of a database. All methods block, and one thread calls them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from surfaces.a2a.saved import Change, Stored

__all__ = ["Database", "DatabaseFailed", "Found", "Page", "Query"]


class DatabaseFailed(Exception):
    """The database could not do what was asked. The text names no password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which tasks a client asks for; the newest status comes first."""

    context_id: str | None = None
    state: str | None = None
    since_ms: int | None = None
    """Only tasks whose status began at this time or later."""
    after: tuple[int, str] | None = None
    """Only tasks that come after the one with this time and id."""
    most: int = 50


@dataclass(frozen=True, slots=True)
class Found:
    """A task of a page, and the time by which it is sorted."""

    task_id: str
    status_ms: int


@dataclass(frozen=True, slots=True)
class Page:
    """The tasks of one page, and the number of all that match."""

    found: tuple[Found, ...]
    total: int
    more: bool


class Database(Protocol):
    """The tasks of one server. Each method raises `DatabaseFailed`."""

    def write(self, changes: Sequence[Change]) -> None:
        """Write all changes, or none."""

    def load(self, task_id: str) -> Stored | None:
        """The task with this id."""

    def unfinished(self) -> list[str]:
        """The ids of the tasks whose turn had not ended, or that waited for an approval."""

    def due(self) -> list[str]:
        """The ids of the tasks for which a callback is due."""

    def page(self, query: Query) -> Page:
        """The tasks that match."""

    def prune(self, before_ms: int, most: int, kept: Collection[str]) -> None:
        """Delete tasks saved before a time, and the oldest beyond `most`, but none of `kept`."""

    def close(self) -> None:
        """End the connection, and let another server have the tasks."""
