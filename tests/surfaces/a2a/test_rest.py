"""The routes beside JSON-RPC."""

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from services.model.errors import FatalConfigError
from surfaces.a2a.commands import ServerCommands
from surfaces.a2a.storage.sqlite import sqlite_database
from tests.surfaces.a2a.conftest import Serve
from tests.surfaces.headless.conftest import says


async def test_a_task_is_created_before_its_first_message(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        none = await peer.http.get("/tasks/metadata")
        made = await peer.http.post("/tasks", json={"contextId": "ctx"})
        task = made.json()
        events = await peer.say("hi", task=task)
        shown = (await peer.http.get(f"/tasks/{task}/metadata")).json()["metadata"]
        unknown = await peer.http.get("/tasks/nope/metadata")

        assert none.status_code == 204
        assert made.status_code == 201
        assert {event["contextId"] for event in events} == {"ctx"}
        assert (shown["id"], shown["taskState"]) == (task, "input-required")
        assert "read_file" in [tool["name"] for tool in shown["availableTools"]]
        assert (unknown.status_code, unknown.json()) == (404, {"error": "Task not found"})


async def test_the_installed_extensions_are_listed(serve: Serve, folders: Path) -> None:
    async def listed() -> Any:
        answer = await peer.http.post("/executeCommand", json={"command": "extensions list"})
        return answer.json()["data"]

    async with serve() as peer:
        assert await listed() == "No extensions installed."
        place = folders / "home/.gemini/extensions/demo"
        place.mkdir(parents=True)
        (place / "gemini-extension.json").write_text('{"name": "demo", "version": "1.0.0"}')
        (found,) = await listed()
        assert (found["name"], found["version"], found["isActive"]) == ("demo", "1.0.0", True)


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 400, 'Invalid "command" field.'),
        ({"command": 5}, 400, 'Invalid "command" field.'),
        ({"command": "nope"}, 404, "Command not found: nope"),
        ({"command": "extensions", "args": "x"}, 400, '"args" field must be an array.'),
        (
            {"command": "init"},
            400,
            'Command "init" requires a workspace, but CODER_AGENT_WORKSPACE_PATH is not set.',
        ),
    ],
)
async def test_a_command_that_cannot_be_run(serve: Serve, body, status: int, error: str) -> None:
    async with serve() as peer:
        answer = await peer.http.post("/executeCommand", json=body)

        assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_commands_read_the_memory_of_the_folder(serve: Serve) -> None:
    async with serve() as peer:
        (peer.workspace / "GEMINI.md").write_text("be kind\n")
        shown = await peer.http.post("/executeCommand", json={"command": "memory"})
        restore = await peer.http.post("/executeCommand", json={"command": "restore list"})

        assert shown.json()["name"] == "memory show"
        assert "be kind" in shown.json()["data"]
        assert restore.json()["data"] == {"type": "message", "messageType": "info", "content": "[]"}


async def test_init_fills_the_file_in_a_task_of_its_own(serve: Serve) -> None:
    async with serve(says("written")) as peer:
        folders = dataclasses.replace(peer.tasks.folders, fixed=peer.workspace)
        tasks = dataclasses.replace(peer.tasks, folders=folders)
        commands = ServerCommands(tasks)
        first = [event async for event in await commands.init()]
        again = [event async for event in await commands.init()]
        await tasks.end_all("end")

        assert first[0]["kind"] == "task"
        assert first[-1]["final"] is True
        assert (peer.workspace / "GEMINI.md").exists()
        assert [event["status"]["state"] for event in again] == ["completed"]


async def test_a_second_server_in_the_folder_is_refused(serve: Serve) -> None:
    async with serve() as peer:
        file = peer.workspace.parent / "tasks.sqlite"
        with pytest.raises(FatalConfigError, match="Another server"):
            sqlite_database(file)


async def test_many_messages_create_each_a_task(serve: Serve) -> None:
    async with serve(*[says("x")] * 8) as peer:
        async with asyncio.TaskGroup() as group:
            said = [group.create_task(peer.say("hi")) for _ in range(8)]

        found = {task.result()[0]["id"] for task in said}
        assert len(found) == 8
        assert all(task.result()[-1]["final"] for task in said)
