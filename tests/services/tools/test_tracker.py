from __future__ import annotations

from dataclasses import replace

import pytest

from services.settings import Settings, settings_from_file, settings_from_parameters
from services.state import ApprovalMode
from services.tools.contract import ToolErrorType
from services.tracker import Tracker
from tests.services.sessions import session_at
from tests.services.tools.conftest import Bench

NAMES = ["create_task", "update_task", "get_task", "list_tasks", "add_dependency", "visualize"]


@pytest.fixture
def tracking(bench: Bench) -> Bench:
    host, settings = bench.host, replace(bench.host.settings, task_tracker=True)
    session = session_at(host.workspace, settings, state=host.state)
    return Bench(replace(host, settings=settings, tracker=Tracker(session)))


def test_the_tracker_takes_the_place_of_the_list_of_steps(tracking: Bench) -> None:
    names = [tool.name for tool in tracking.registry.active()]

    start = names.index("tracker_create_task")
    assert names[start : start + 6] == [f"tracker_{name}" for name in NAMES]
    assert "write_todos" not in names


def test_without_its_setting_there_is_no_tracker(bench: Bench) -> None:
    assert not [tool for tool in bench.registry.active() if tool.name.startswith("tracker")]


async def test_every_result_shows_all_tasks(tracking: Bench) -> None:
    await tracking.run("tracker_create_task", title="One", description="d", type="bug")
    result = await tracking.run("tracker_list_tasks")

    (task,) = tracking.host.tracker.tasks()
    assert result.llm_content == f"- [{task.id}] One (open)"
    assert result.return_display == {
        "todos": [{"description": f"bug: One ({task.id})", "status": "pending"}]
    }


async def test_a_refused_change_is_an_error_with_a_short_display(tracking: Bench) -> None:
    result = await tracking.run("tracker_update_task", id="absent", status="open")

    assert result.error is not None
    assert result.error.type is ToolErrorType.EXECUTION_FAILED
    assert result.error.message == "Task with ID absent not found."
    assert result.llm_content == "Error updating task: Task with ID absent not found."
    assert result.return_display == "Failed to update task."


def test_a_question_has_the_name_of_the_tool(tracking: Bench) -> None:
    details = tracking.build("tracker_visualize").confirmation_details()

    assert details is not None
    assert details.title == "Confirm: tracker_visualize"
    assert details.fields == {"prompt": "Visualizing the task graph."}


@pytest.mark.parametrize("mode", ApprovalMode)
def test_every_mode_declares_the_tracker(tracking: Bench, mode: ApprovalMode) -> None:
    tracking.state.set_approval_mode(mode)

    declared = {each["name"] for each in tracking.registry.declarations("gemini-2.5-pro")}

    assert {f"tracker_{name}" for name in NAMES} <= declared


def test_the_setting_has_the_names_of_the_core_and_of_the_settings_file() -> None:
    on = Settings(task_tracker=True)
    assert settings_from_parameters({"tracker": True}) == on
    assert settings_from_file({"experimental": {"taskTracker": True}}) == on
