"""The task tracker: tasks with parents and dependencies, one JSON file for each.

They are in the session's own folder, so a resumed session finds its tasks again.

Source: core `services/trackerService.ts`, `services/trackerTypes.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from services.json_values import parse_json
from services.node_errors import node_error_message
from services.paths import is_text
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.session import Session
from services.state import UserFeedback
from services.wire import JsonObject, js_json_pretty, js_length, js_text, js_truthy
from services.zod import ZOD3, Issue, Shape, issues_of

__all__ = ["TASK_TYPES", "TaskStatus", "Tracker", "TrackerError", "TrackerTask"]

_ID_LENGTH: Final = 6
TASK_TYPES: Final = ("epic", "task", "bug")


class TaskStatus(StrEnum):
    """The status of a task."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    CLOSED = "closed"


_TASK: Final[Shape] = ZOD3.mapping(
    {
        "id": ZOD3.text(
            (
                lambda value: js_length(value) == _ID_LENGTH,
                f"String must contain exactly {_ID_LENGTH} character(s)",
            )
        ),
        "title": ZOD3.text(),
        "description": ZOD3.text(),
        "type": ZOD3.native_enum(*TASK_TYPES),
        "status": ZOD3.native_enum(*TaskStatus),
        "parentId": ZOD3.optional(ZOD3.text()),
        "dependencies": ZOD3.array(ZOD3.text()),
        "subagentSessionId": ZOD3.optional(ZOD3.text()),
        "metadata": ZOD3.optional(ZOD3.record(ZOD3.anything())),
    }
)


class TrackerError(Exception):
    """A task cannot be read, made or changed; the model receives the message."""


@dataclass(frozen=True, slots=True)
class TrackerTask:
    """A task as its file has it."""

    document: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Six characters."""
        return str(self.document["id"])

    @property
    def title(self) -> str:
        """What is to be done, in one line."""
        return str(self.document["title"])

    @property
    def type(self) -> str:
        """`epic`, `task` or `bug`."""
        return str(self.document["type"])

    @property
    def status(self) -> TaskStatus:
        """The status."""
        return TaskStatus(self.document["status"])

    @property
    def parent_id(self) -> str | None:
        """The id of the task that this one is a part of; none for `None` and for an empty id."""
        return self.document.get("parentId") or None

    @property
    def dependencies(self) -> list[str]:
        """The ids of the tasks that have to be closed first."""
        return list(self.document["dependencies"])


class Tracker:
    """The tasks of one session.

    A call is done before the next one begins, and a file is replaced whole: parallel calls of one
    turn cannot see a half-written file, as they can in the published core.
    """

    def __init__(self, session: Session) -> None:
        """Keep the tasks in the folder of `session`; nothing is on disk before the first call."""
        self._session = session

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._session.tasks()

    def create(self, fields: Mapping[str, Any]) -> TrackerTask:
        """Make an open task of `title`, `description`, `type`, `parentId` and `dependencies`.

        Raises:
            TrackerError: the parent does not exist, or the task cannot be written.
        """
        scope = f"tracker-task {self._session.state.first_session_id}"
        task_id = self._session.ids.uuid(scope)[:_ID_LENGTH]
        document: JsonObject = {
            "title": fields["title"],
            "description": fields["description"],
            "type": fields["type"],
            "status": TaskStatus.OPEN.value,
            **({"parentId": fields["parentId"]} if "parentId" in fields else {}),
            "dependencies": fields.get("dependencies", []),
            "id": task_id,
        }
        self._require_parent(document)
        return self._save(document)

    def get(self, task_id: str) -> TrackerTask | None:
        """The task with this id, if there is one.

        Raises:
            TrackerError: its file cannot be read, or is no task; the user is warned.
        """
        # An id is a part of a file's name, and must not lead to another folder.
        if "/" in task_id or "\0" in task_id or not is_text(task_id):
            return None
        return self._read(self.folder / f"{task_id}.json")

    def tasks(self) -> list[TrackerTask]:
        """All tasks, in the order of their files' names.

        Raises:
            TrackerError: a file cannot be read, or is no task; the user is warned.
        """
        folder = self.folder
        try:
            names = list(filter(is_text, os.listdir(folder)))  # noqa: PTH208 - names, not paths
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TrackerError(node_error_message(error, "scandir", folder)) from error
        found = [self._read(folder / name) for name in sorted(names) if name.endswith(".json")]
        return [task for task in found if task is not None]

    def update(self, task_id: str, changes: Mapping[str, Any]) -> TrackerTask:
        """Change fields of a task; its id stays.

        Raises:
            TrackerError: the task, its parent or a dependency does not exist; a task that is to be
                closed has an open dependency; dependencies form a circle; a value has no meaning;
                or a file cannot be read or written.
        """
        task = self.get(task_id)
        if task is None:
            raise TrackerError(f"Task with ID {task_id} not found.")
        changed = {**task.document, **changes, "id": task.id}
        self._require_parent(changed)
        if changes.get("status") == TaskStatus.CLOSED and task.status is not TaskStatus.CLOSED:
            self._require_closed_dependencies(task.id, changed["dependencies"])
        if "dependencies" in changes:
            self._refuse_circle(task.id, changed["dependencies"])
        return self._save(changed)

    def _require_parent(self, document: Mapping[str, Any]) -> None:
        parent = document.get("parentId")
        if js_truthy(parent) and self.get(js_text(parent)) is None:
            raise TrackerError(f"Parent task with ID {js_text(parent)} not found.")

    def _require_closed_dependencies(self, task_id: str, dependencies: list[str]) -> None:
        for dependency in dependencies:
            task = self.get(dependency)
            if task is None:
                raise TrackerError(f"Dependency {dependency} not found for task {task_id}.")
            if task.status is not TaskStatus.CLOSED:
                raise TrackerError(
                    f"Cannot close task {task_id} because dependency {dependency} is still "
                    f"{task.status}."
                )

    def _refuse_circle(self, task_id: str, dependencies: list[str]) -> None:
        """Follow all dependencies, depth first; a chain may be longer than Python's stack."""
        path: dict[str, Iterator[str]] = {task_id: iter(dependencies)}
        visited = {task_id}
        while path:
            current = next(reversed(path))
            following = next(path[current], None)
            if following is None:
                del path[current]
            elif following in path:
                raise TrackerError(f"Circular dependency detected involving task {following}.")
            elif following not in visited:
                visited.add(following)
                task = self.get(following)
                if task is None:
                    raise TrackerError(f"Dependency {following} not found.")
                path[following] = iter(task.dependencies)

    def _save(self, document: JsonObject) -> TrackerTask:
        if issues := issues_of(_TASK, document):
            raise TrackerError(_message(issues))
        file = self.folder / f"{document['id']}.json"
        draft = file.with_suffix(".draft")
        try:
            make_private_folder(file.parent)
            write_private(draft, js_json_pretty(document).encode(), draft=True)
            draft.replace(file)
        except OSError as error:
            raise TrackerError(node_error_message(error, "open", file)) from error
        return TrackerTask(document)

    def _read(self, file: Path) -> TrackerTask | None:
        try:
            value = parse_json(read_regular(file, MOST_TEXT))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(file, node_error_message(error, "open", file)) from error
        except ValueError as error:
            raise self._unusable(file, str(error)) from error
        issues: list[Issue] = []
        document: JsonObject = _TASK(value, (), issues)
        if issues:
            raise self._unusable(file, _message(issues))
        return TrackerTask(document)

    def _unusable(self, file: Path, why: str) -> TrackerError:
        warning = (
            f"Task tracker encountered an issue reading {file.name}. The data might be corrupted."
        )
        self._session.events.emit(UserFeedback(severity="warning", message=warning))
        return TrackerError(why)


def _message(issues: list[Issue]) -> str:
    return js_json_pretty([issue.to_json() for issue in issues])
