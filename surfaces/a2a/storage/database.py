"""`Database`: what a store asks of a database. All methods block, and one thread calls them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Change", "Database", "DatabaseFailed", "Found", "Page", "Query", "Stored"]


class DatabaseFailed(Exception):
    """The database could not do what was asked. The text names no password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What has changed in a task since the last save. Documents are JSON in ASCII."""

    task_id: str
    context_id: str
    state: str
    status_ms: int
    """When the status began, in milliseconds since the epoch."""
    saved_ms: int
    head: str
    """The task without its history and artifacts."""
    waiting: str
    """The ids of the calls that wait for an approval."""
    callbacks: str
    """The addresses that the server calls when the task changes."""
    first: int
    """The number of the oldest message that the task keeps."""
    messages: tuple[tuple[int, str], ...]
    """New messages of the history, with their numbers."""
    artifacts: tuple[tuple[int, str], ...]
    """Artifacts that are new or longer, with their places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A task as the database has it."""

    head: str
    waiting: str
    callbacks: str
    first: int
    messages: tuple[str, ...]
    artifacts: tuple[str, ...]


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
