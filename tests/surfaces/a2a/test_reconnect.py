"""Clients that come back lose no event, and tasks do not disturb each other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from tests.surfaces.a2a.conftest import Json, Peer, Serve, data_of
from tests.surfaces.headless.conftest import calls, chunk, says

WRITES = "echo first; cat go; echo second"
"""A command that goes on when the test writes a line into the pipe `go`."""
SHELL = calls("run_shell_command", command=WRITES, description="d")


@pytest.fixture
def pipe(folders: Path) -> Path:
    import os

    (folders / "home" / ".gemini" / "settings.json").write_text(
        '{"tools": {"allowed": ["run_shell_command"]}}'
    )
    os.mkfifo(folders / "ws" / "go")
    return folders / "ws" / "go"


async def released(pipe: Path) -> None:
    """Let the command go on."""
    await asyncio.to_thread(pipe.write_text, "x\n")


def messages(events: list[Json]) -> list[str]:
    """The ids of the messages in status updates."""
    found = [event["status"].get("message") for event in events if event["kind"] != "task"]
    return [message["messageId"] for message in found if message is not None]


async def resumed(peer: Peer, task: str, pipe: Path) -> list[Json]:
    """The events of `tasks/resubscribe`, while the command goes on."""
    feed = await peer.tasks.feed(task)
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(peer.stream("tasks/resubscribe", id=task))
        while not feed.is_followed:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0)
        await released(pipe)
    return [each["result"] for each in reading.result()]


async def test_the_task_and_the_events_after_it_are_all_there_is(serve: Serve, pipe: Path) -> None:
    async with serve(SHELL, says("done")) as peer:
        message = peer.message("go")
        sent = await peer.rpc("message/send", message=message, configuration={"blocking": False})
        task = sent["result"]["id"]
        await wrote(peer, task)
        events = await resumed(peer, task, pipe)
        kept = (await peer.rpc("tasks/get", id=task, historyLength=99))["result"]

        before = [each["messageId"] for each in events[0]["history"]]
        after = messages([each for each in events[1:] if each["kind"] == "status-update"])
        assert events[0]["kind"] == "task"
        assert events[-1]["final"] is True
        whole = list(dict.fromkeys(before + after))
        assert [each["messageId"] for each in kept["history"]] == whole
        assert not set(before) & set(after)
        outputs = [part["text"] for each in kept["artifacts"] for part in each["parts"]]
        assert "second" in outputs[-1]


async def test_the_output_of_a_running_call_comes_again(serve: Serve, pipe: Path) -> None:
    async with serve(SHELL, says("done")) as peer:
        peer.http.headers[EXTENSION_HEADERS[0]] = EXTENSION_URI
        message = peer.message("go")
        message["metadata"] = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        sent = await peer.rpc("message/send", message=message, configuration={"blocking": False})
        task = sent["result"]["id"]
        await wrote(peer, task)
        events = await resumed(peer, task, pipe)

        assert events[0]["kind"] == "task"
        assert data_of(events[1])["liveContent"].startswith("first")
        assert events[-1]["status"]["state"] == "completed"


async def test_a_stream_that_breaks_off_is_gone_on_with(serve: Serve, pipe: Path) -> None:
    async with serve(SHELL, says("done")) as peer:
        message = peer.message("go")
        message["metadata"] = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        headers = {EXTENSION_HEADERS[0]: EXTENSION_URI}
        serving, gone = await peer.begun("liveContent", headers, message=message)
        gone.set()
        await serving
        task = peer.tasks.all_open()[0].record.id
        events = await resumed(peer, task, pipe)

        assert events[-1]["status"]["state"] == "completed"
        last = [each for each in events[1:] if "message" in each["status"]][-1]
        assert last["status"]["message"]["parts"] == [{"kind": "text", "text": "done"}]


async def test_tasks_work_in_their_own_folders_with_their_own_settings(
    serve: Serve, folders: Path
) -> None:
    places = [folders / "one", folders / "two"]
    for place in places:
        (place / ".gemini").mkdir(parents=True)
    (places[1] / ".gemini" / "settings.json").write_text('{"tools": {"exclude": ["glob"]}}')
    (places[0] / "GEMINI.md").write_text("only in one\n")
    writes = chunk(
        {
            "functionCall": {
                "id": "w",
                "name": "write_file",
                "args": {"file_path": "new.txt", "content": "x\n"},
            }
        }
    )
    async with serve(writes, says("done")) as peer:

        async def played(place: Path) -> Any:
            message = peer.message("go", autoExecute=True, workspacePath=str(place))
            return (await peer.rpc("message/send", message=message))["result"]

        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(played(place)) for place in places]
        shown = (await peer.http.get("/tasks/metadata")).json()
        tools = {each["id"]: {tool["name"] for tool in each["availableTools"]} for each in shown}

        first, second = (each.result() for each in playing)
        assert [(place / "new.txt").read_text() for place in places] == ["x\n", "x\n"]
        assert not (peer.workspace / "new.txt").exists()
        assert "glob" in tools[first["id"]]
        assert "glob" not in tools[second["id"]]
        paths = {
            part["data"]["response"]["resultDisplay"]["filePath"]
            for each in first["history"]
            for part in each["parts"]
            if part.get("data", {}).get("status") == "success"
        }
        assert paths == {str(places[0] / "new.txt")}


async def wrote(peer: Peer, task: str) -> None:
    """Return when the command of the task has written its first line."""
    feed = await peer.tasks.feed(task)
    open_task = peer.tasks.get_open(task)
    assert open_task is not None
    while not open_task._calls.writing():  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.01)
    await feed.kept()
