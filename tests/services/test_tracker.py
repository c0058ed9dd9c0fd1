"""The tracker's files: in the session's folder, checked as they are read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.state import CoreEvents, UserFeedback
from services.tracker import TaskStatus, Tracker, TrackerError
from services.workspace import Workspace
from tests.services.sessions import session_at


@pytest.fixture
def events() -> CoreEvents:
    return CoreEvents()


@pytest.fixture
def tracker(tmp_path: Path, events: CoreEvents) -> Tracker:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    return Tracker(session_at(workspace, session_id="5e55", events=events))


def made(tracker: Tracker, title: str = "t", **fields: Any) -> str:
    return tracker.create({"title": title, "description": "d", "type": "task", **fields}).id


def put(tracker: Tracker, name: str, **changes: Any) -> None:
    task = {"id": name, "title": "t", "description": "d", "type": "task", "status": "open"}
    tracker.folder.mkdir(parents=True, exist_ok=True)
    (tracker.folder / f"{name}.json").write_text(
        json.dumps({**task, "dependencies": [], **changes}), encoding="utf-8"
    )


def test_a_task_is_a_private_file_in_the_folder_of_the_session(tracker: Tracker) -> None:
    task_id = made(tracker)

    (file,) = tracker.folder.iterdir()
    assert file.parts[-3:] == ("5e55", "tracker", f"{task_id}.json")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text(encoding="utf-8").startswith('{\n  "title": "t",')


def test_another_tracker_of_the_session_has_the_same_tasks(tracker: Tracker) -> None:
    first, second = made(tracker, "one"), made(tracker, "two")

    again = Tracker(tracker._session)

    assert {task.id: task.title for task in again.tasks()} == {first: "one", second: "two"}


def test_nothing_is_on_disk_before_the_first_task(tracker: Tracker) -> None:
    assert tracker.tasks() == []
    assert tracker.get("abcdef") is None
    assert not tracker.folder.exists()


@pytest.mark.parametrize("task_id", ["../secret", "/etc/passwd", "a\0b", "\ud800"])
def test_an_id_leads_to_no_other_folder(tracker: Tracker, task_id: str) -> None:
    made(tracker)
    put(tracker, "secret")
    (tracker.folder / "secret.json").rename(tracker.folder.parent / "secret.json")

    assert tracker.get(task_id) is None


def test_a_chain_of_dependencies_may_be_longer_than_pythons_stack(tracker: Tracker) -> None:
    names = [f"{number:06}" for number in range(1500)]
    for name, following in zip(names, [*names[1:], None], strict=True):
        put(tracker, name, dependencies=[following] if following else [])

    tracker.update(names[0], {"dependencies": [names[1]]})
    with pytest.raises(TrackerError, match=f"Circular .* task {names[-1]}"):
        tracker.update(names[-1], {"dependencies": [names[0]]})


def test_two_ways_to_one_dependency_are_no_circle(tracker: Tracker) -> None:
    below = made(tracker)
    left, right = (made(tracker, dependencies=[below]) for _ in range(2))

    changed = tracker.update(made(tracker), {"dependencies": [left, right]})

    assert changed.dependencies == [left, right]


def test_a_refused_change_leaves_the_task(tracker: Tracker) -> None:
    task_id = made(tracker, dependencies=["absent"])

    with pytest.raises(TrackerError, match=f"^Dependency absent not found for task {task_id}.$"):
        tracker.update(task_id, {"status": "closed", "title": "new"})

    task = tracker.get(task_id)
    assert task is not None
    assert (task.status, task.title) == (TaskStatus.OPEN, "t")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"id": "abcdef"', "Expecting"),
        ("[" * 100_000, "nested"),
        ('{"id": "abcde"}', "exactly 6 character"),
        ("[]", '"received": "array"'),
        ("", "Expecting value"),
    ],
)
def test_a_file_that_is_no_task_warns_the_user_and_stays(
    tracker: Tracker, events: CoreEvents, text: str, why: str
) -> None:
    said: list[object] = []
    events.subscribe(said.append)
    put(tracker, "broken")
    file = tracker.folder / "broken.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(TrackerError, match=why):
        tracker.tasks()

    assert file.read_text(encoding="utf-8") == text
    assert said == [
        UserFeedback(
            severity="warning",
            message="Task tracker encountered an issue reading broken.json. "
            "The data might be corrupted.",
        )
    ]


def test_a_folder_in_place_of_a_file_is_an_error_with_nodes_words(tracker: Tracker) -> None:
    (tracker.folder / "abcdef.json").mkdir(parents=True)

    with pytest.raises(TrackerError, match=r"^EISDIR: "):
        tracker.get("abcdef")


def test_a_task_that_cannot_be_written_is_an_error(tracker: Tracker) -> None:
    tracker.folder.parent.mkdir(parents=True)
    tracker.folder.touch()

    with pytest.raises(TrackerError, match=r"^(ENOTDIR|EEXIST): "):
        made(tracker)
