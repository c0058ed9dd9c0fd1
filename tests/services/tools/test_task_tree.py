from __future__ import annotations

from typing import Any

from services.tools.task_tree import shown_tasks, task_graph
from services.tracker import TrackerTask


def task(task_id: str, **fields: Any) -> TrackerTask:
    plain = {"title": task_id.upper(), "type": "task", "status": "open", "dependencies": []}
    return TrackerTask({"id": task_id, **plain, **fields})


def steps(*tasks: TrackerTask) -> list[tuple[str, str]]:
    return [(each["description"], each["status"]) for each in shown_tasks(tasks)["todos"]]


def test_the_user_sees_what_is_in_progress_first_at_every_level() -> None:
    assert steps(
        task("a", status="closed"),
        task("b", status="blocked"),
        task("c"),
        task("d", status="in_progress"),
        task("e", parentId="d", status="closed"),
        task("f", parentId="d", type="bug"),
    ) == [
        ("task: D (d)", "in_progress"),
        ("  bug: F (f)", "pending"),
        ("  task: E (e)", "completed"),
        ("task: C (c)", "pending"),
        ("task: B (b)", "blocked"),
        ("task: A (a)", "completed"),
    ]


def test_a_part_of_an_unknown_task_is_not_shown() -> None:
    assert steps(task("a", parentId="absent"), task("b", parentId="")) == [
        ("task: B (b)", "pending")
    ]


def test_a_task_below_itself_is_cut_off() -> None:
    tasks = [task("a"), task("a", parentId="a", title="again")]

    assert steps(*tasks) == [("task: A (a)", "pending"), ("  [CYCLE DETECTED: a]", "cancelled")]
    assert task_graph(tasks) == "Task Tracker Graph:\n⭕ a [TASK] A\n  [CYCLE DETECTED: a]\n"


def test_the_drawing_has_signs_kinds_and_dependencies() -> None:
    assert task_graph(
        [
            task("a", type="epic", status="closed"),
            task("b", parentId="a", status="blocked", dependencies=["x", "y"]),
        ]
    ) == ("Task Tracker Graph:\n✅ a [EPIC] A\n  ⛔ b [TASK] B\n    └─ Depends on: x, y\n")


def test_a_chain_of_parts_may_be_longer_than_pythons_stack() -> None:
    chain = [task("0"), *(task(str(n), parentId=str(n - 1)) for n in range(1, 1500))]

    assert len(shown_tasks(chain)["todos"]) == 1500
