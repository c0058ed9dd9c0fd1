"""What both databases keep, find and delete."""

import json

import pytest

from services.model.errors import FatalConfigError
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.storage import opening
from surfaces.a2a.storage.database import Database, DatabaseFailed, Query
from tests.surfaces.a2a.storage.conftest import Open

DAY = "2026-01-01T00:00:0"


def record(name: str, *, second: int = 0, state: str = "input-required") -> TaskRecord:
    """A task whose status began at a second of a day."""
    return TaskRecord(
        {
            "id": name,
            "contextId": f"ctx-{name[0]}",
            "kind": "task",
            "status": {"state": state, "timestamp": f"{DAY}{second}.000Z"},
            "metadata": {"__persistedState": {}},
            "history": [],
            "artifacts": [],
        }
    )


def written(database: Database, *records: TaskRecord, now_ms: int = 0) -> None:
    database.write([each.take_changes(now_ms) for each in records])


def loaded(database: Database, name: str) -> TaskRecord:
    stored = database.load(name)
    assert stored is not None
    return TaskRecord.of(stored)


def said(name: str, text: str) -> dict:
    return {"kind": "message", "role": "user", "messageId": name, "parts": [{"text": text}]}


def test_a_task_is_read_as_it_was_written(database: Database) -> None:
    task = record("a")
    # A text of JavaScript may have half a character, and NUL.
    task.said(said("1", "one \x00 \ud83d ü"))
    task.waiting = ["call"]
    task.callbacks = {"default": {"url": "https://example.com"}}
    written(database, task)
    task.said(said("2", "two"))
    output = {"kind": "artifact-update", "artifact": {"artifactId": "o", "parts": [{"text": "x"}]}}
    task.apply(output)
    task.apply(output)
    written(database, task)
    found = loaded(database, "a")

    assert found.document == task.document
    assert (found.waiting, found.callbacks) == (task.waiting, task.callbacks)
    assert database.load("b") is None


def test_a_message_is_written_once(database: Database) -> None:
    task = record("a")
    task.said(said("1", "one"))
    first = task.take_changes(0)
    task.said(said("2", "two"))
    second = task.take_changes(0)

    assert [len(first.messages), len(second.messages)] == [1, 1]
    database.write([first, second])
    assert [each["messageId"] for each in loaded(database, "a").history] == ["1", "2"]


def test_the_oldest_messages_of_a_long_task_are_forgotten(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surfaces.a2a.record._MOST_CHARACTERS", 1000)
    task = record("a")
    for number in range(20):
        task.said(said(str(number), "x" * 100))
        written(database, task)
    kept = [each["messageId"] for each in loaded(database, "a").history]

    assert kept == [each["messageId"] for each in task.history]
    assert kept[-1] == "19"
    assert 1 < len(kept) < 10
    # What was read goes on in the same way.
    again = loaded(database, "a")
    again.said(said("20", "x" * 100))
    written(database, again)
    assert loaded(database, "a").history == again.history


def test_only_unfinished_tasks_and_due_callbacks_are_found(database: Database) -> None:
    waits, works, idle, due = record("a"), record("b", state="working"), record("c"), record("d")
    waits.waiting = ["call"]
    due.callbacks = {"default": {"url": "x", "_due": True}}
    idle.callbacks = {"default": {"url": 'x "_due":true'}}
    written(database, waits, works, idle, due)

    assert sorted(database.unfinished()) == ["a", "b"]
    assert database.due() == ["d"]


def test_pages_have_the_newest_status_first(database: Database) -> None:
    written(
        database,
        *(record(name, second=second) for name, second in zip("abcd", (1, 3, 2, 3), strict=True)),
    )
    first = database.page(Query(most=3))
    last = first.found[-1]
    rest = database.page(Query(most=3, after=(last.status_ms, last.task_id)))

    assert [each.task_id for each in first.found] == ["d", "b", "c"]
    assert (first.total, first.more) == (4, True)
    assert ([each.task_id for each in rest.found], rest.more) == (["a"], False)


def test_pages_have_what_matches(database: Database) -> None:
    written(
        database,
        record("a1", second=1),
        record("a2", second=2, state="working"),
        record("b1", second=3),
    )
    since = database.page(Query()).found[1].status_ms

    assert database.page(Query(context_id="ctx-a")).total == 2
    assert database.page(Query(state="working")).found[0].task_id == "a2"
    assert database.page(Query(since_ms=since)).total == 2
    assert database.page(Query(context_id="none")).found == ()


def test_old_and_superfluous_tasks_are_deleted(database: Database) -> None:
    for number, name in enumerate(("old", "kept", "c", "d", "e")):
        task = record(name)
        task.said(said("1", "x"))
        written(database, task, now_ms=number)
    database.prune(2, 2, {"kept"})

    assert [name for name in ("old", "kept", "c", "d", "e") if database.load(name)] == [
        "kept",
        "d",
        "e",
    ]
    written(database, record("old"))
    assert loaded(database, "old").history == []


def test_one_server_at_a_time_has_the_tasks(open_database: Open) -> None:
    first = open_database()
    written(first, record("a"))
    with pytest.raises(FatalConfigError, match=r"(?i)another server"):
        open_database()
    first.close()
    second = open_database()

    assert second.load("a") is not None
    second.close()


def test_a_write_is_whole_or_not_at_all(database: Database) -> None:
    task = record("a")
    good = task.take_changes(0)
    bad = record("b").take_changes(0)
    object.__setattr__(bad, "status_ms", None)
    with pytest.raises(DatabaseFailed):
        database.write([good, bad])

    assert database.load("a") is None
    written(database, record("a"))
    assert database.load("a") is not None


@pytest.mark.parametrize("url", ["mysql://h/x", "tasks.db", "/tmp/x"])
def test_an_address_of_no_database_is_refused(url: str, tmp_path) -> None:
    with pytest.raises(FatalConfigError, match="postgresql://"):
        opening.open_database(url, tmp_path / "x")


def test_a_server_that_is_away_is_named_without_the_password(tmp_path) -> None:
    url = "postgresql://me:secret@127.0.0.1:1/tasks"
    with pytest.raises(FatalConfigError) as caught:
        opening.open_database(url, tmp_path / "x")

    assert "postgresql://127.0.0.1/tasks" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_none_is_named(tmp_path) -> None:
    file = tmp_path / "tasks.sqlite"
    file.write_text("no database " * 100)
    with pytest.raises(FatalConfigError, match="move the file away"):
        opening.open_database(None, file)
    file.unlink()
    # The lock is free again.
    opening.open_database(None, file).close()


def test_documents_are_ascii(database: Database) -> None:
    change = record("ü").take_changes(0)

    assert change.head.isascii()
    assert json.loads(change.head)["id"] == "ü"
