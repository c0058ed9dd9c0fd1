"""What passes between the record of a task and a database."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Change", "Stored"]


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
