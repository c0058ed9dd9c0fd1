"""Section 3.3, "Method Definitions": `commands/get` and `command/execute`."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_URI
from tests.processes import ends
from tests.surfaces.a2a.conftest import Json, Peer, Serve
from tests.surfaces.a2a.extension.client import (
    asked,
    called,
    event_of,
    folded,
    followed,
    played,
    updates,
)
from tests.surfaces.a2a.extension.proto import is_valid
from tests.surfaces.headless.conftest import calls, says

WORKING = ("STATE_CHANGE", "working", False)
UPDATE = ("TOOL_CALL_UPDATE", "working", False)
TEXT = ("TEXT_CONTENT", "working", False)
ASKS = ("STATE_CHANGE", "input-required", True)
COMPLETED = ("STATE_CHANGE", "completed", True)
FAILED = ("STATE_CHANGE", "failed", True)


def write_command(workspace: Path, name: str, prompt: str) -> None:
    """Write a command file."""
    file = workspace / ".gemini" / "commands" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'description = "d"\nprompt = """{prompt}"""\n')


async def executed(peer: Peer, *path: str, args: str = "", **params: Any) -> Json:
    """The response to `command/execute`."""
    found = await called(peer, "command/execute", commandPath=list(path), args=args, **params)
    if "code" not in found:
        assert is_valid("ExecuteSlashCommandResponse", found)
    return found


async def ran(peer: Peer, *path: str, args: str = "", **params: Any) -> tuple[str, list[Any]]:
    """The id of an execution that has started, and its events with those in the history."""
    response = await executed(peer, *path, args=args, **params)
    assert response["status"] != "FAILED_TO_START"
    return response["executionId"], await followed(peer, response["executionId"])


def texts(events: list[Any]) -> list[str]:
    """The texts of the agent, those in the history of a task among them."""
    messages = [
        message
        for event in events
        for message in (
            event["history"] if event["kind"] == "task" else [event["status"].get("message")]
        )
        if message and message["role"] == "agent"
    ]
    return [part["text"] for each in messages for part in each["parts"] if part["kind"] == "text"]


def pending(events: list[Any]) -> Json:
    """The whole call that waits for the user."""
    history = [message for event in events for message in event.get("history", [])]
    current = [event["status"].get("message") for event in events]
    data = [part.get("data", {}) for each in [*history, *current] if each for part in each["parts"]]
    found: Json = [each for each in data if each.get("confirmationRequest")][-1]
    assert is_valid("ToolCall", found)
    return found


def answer(call: Json, option: str = "proceed_once") -> Json:
    return {"toolCallId": call["toolCallId"], "selectedOptionId": option}


# ---------------------------------------------------------------------------- commands/get


async def test_3_3_commands_get_nested_commands_and_arguments(serve: Serve) -> None:
    async with serve() as peer:
        write_command(peer.workspace, "git/commit", "Commit {{args}}")
        response = await called(
            peer, "commands/get", metadata={EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        )

        assert is_valid("GetAllSlashCommandsResponse", response)
        found = {each["name"]: each for each in response["commands"]}
        below = {each["name"]: each for each in found["model"]["subCommands"]}
        assert below["set"]["arguments"][0] == {
            "name": "model-name",
            "description": "The model",
            "isRequired": True,
        }
        assert below["set"]["arguments"][1]["isRequired"] is False
        assert {each["name"] for each in found["memory"]["subCommands"]} == {
            "list",
            "reload",
            "show",
        }
        assert found["git:commit"]["arguments"][0]["name"] == "args"


async def test_3_3_commands_get_has_only_what_a_server_can_do(serve: Serve) -> None:
    async with serve() as peer:
        response = await called(peer, "commands/get")
        names = {each["name"] for each in response["commands"]}

        # A dialog, the user's terminal, a hidden command.
        assert not {"theme", "quit", "copy", "terminal-setup"} & names
        (chat,) = [each for each in response["commands"] if each["name"] == "chat"]
        assert "checkpoints" not in [each["name"] for each in chat["subCommands"]]


async def test_3_3_commands_get_of_a_task_has_the_commands_of_its_folder(
    serve: Serve, folders: Path
) -> None:
    other = folders / "other"
    other.mkdir()
    write_command(other, "hello", "Say hello")
    async with serve(says("one")) as peer:
        message = asked(peer, "hi")
        message["metadata"] = {EXTENSION_URI: {"workspacePath": str(other)}}
        task = (await played(peer, message))[0]["id"]
        response = await called(peer, "commands/get", taskId=task)
        without = await called(peer, "commands/get")

        assert "hello" in [each["name"] for each in response["commands"]]
        assert "hello" not in [each["name"] for each in without["commands"]]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"taskId": "none"}, -32001),
        ({"taskId": 5}, -32602),
        ({"metadata": {EXTENSION_URI: {"workspacePath": "here"}}}, -32602),
        ({"metadata": {EXTENSION_URI: {"workspacePath": "/nope/nope"}}}, -32603),
    ],
)
async def test_3_3_commands_get_refuses(serve: Serve, params: Json, code: int) -> None:
    async with serve() as peer:
        assert (await called(peer, "commands/get", **params))["code"] == code


# ---------------------------------------------------------------------------- command/execute


async def test_3_3_command_execute_started_with_an_id_of_its_own(serve: Serve) -> None:
    async with serve() as peer:
        first = await executed(peer, "memory", "show")
        second = await executed(peer, "memory", "show")
        events = await followed(peer, first["executionId"])

        assert (first["status"], first["message"]) == ("STARTED", "")
        assert first["executionId"] != second["executionId"]
        assert texts(events)[0] == "Memory is currently empty."
        assert events[0]["status"]["state"] == "completed"


async def test_3_3_command_execute_streams_its_output(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        _, events = await ran(peer, "memory", "reload", taskId=task)

        said = texts(events)
        assert said[1] == "Reloading memory from source files..."
        assert said[2].startswith("Memory reloaded successfully")


async def test_3_3_command_execute_runs_in_the_conversation_of_a_task(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        execution, _ = await ran(peer, "model", "set", args="gemini-2.5-flash", taskId=task)
        second = await played(peer, asked(peer, "more", task=task))

        assert execution == task
        assert event_of(second[-1]).model == "gemini-2.5-flash"
        assert folded(second)[-1] == COMPLETED


async def test_3_3_command_execute_the_task_of_a_command_takes_messages(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        execution, _ = await ran(peer, "about")
        events = await played(peer, asked(peer, "hi", task=execution))

        assert folded(events) == [WORKING, TEXT, COMPLETED]


async def test_3_3_command_execute_a_prompt_goes_to_the_model(serve: Serve) -> None:
    async with serve(says("hello")) as peer:
        write_command(peer.workspace, "hello", "Say hello to {{args}}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        execution, events = await ran(peer, "hello", args="the team", metadata=settings)

        assert texts(events)[-1] == "hello"
        assert (await peer.rpc("tasks/get", id=execution))["result"]["status"][
            "state"
        ] == "completed"


@pytest.mark.parametrize(
    ("path", "args", "words"),
    [
        (["nope"], "", "There is no command /nope"),
        (["memory", "nope"], "", "There is no command /memory nope"),
        (["memory"], "", "requires a subcommand"),
        (["memory", "inbox"], "", "is not built"),
        (["settings", "list"], "all", "takes no arguments"),
        (["theme"], "", "opens a dialog"),
        (["quit"], "", "the user's own terminal"),
    ],
)
async def test_3_3_command_execute_failed_to_start(
    serve: Serve, path: list[str], args: str, words: str
) -> None:
    async with serve(says("one")) as peer:
        response = await executed(peer, *path, args=args)
        shown = (await peer.rpc("tasks/get", id=response["executionId"]))["result"]
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        within = await executed(peer, *path, args=args, taskId=task)
        after = (await peer.rpc("tasks/get", id=task))["result"]

        assert response["status"] == "FAILED_TO_START"
        assert words in response["message"]
        assert shown["status"]["state"] == "rejected"
        assert (within["status"], within["executionId"]) == ("FAILED_TO_START", task)
        assert after["status"]["state"] == "completed"


async def test_3_3_command_execute_failed_to_start_without_its_folder(serve: Serve) -> None:
    async with serve() as peer:
        settings = {EXTENSION_URI: {"workspacePath": "/nope/nope"}}
        response = await executed(peer, "about", metadata=settings)
        shown = (await peer.rpc("tasks/get", id=response["executionId"]))["result"]

        assert response["status"] == "FAILED_TO_START"
        assert "does not exist" in response["message"]
        assert shown["status"]["state"] == "failed"


@pytest.mark.parametrize(
    ("params", "where"),
    [
        ({}, "commandPath"),
        ({"commandPath": []}, "commandPath"),
        ({"commandPath": "about"}, "commandPath"),
        ({"commandPath": [1]}, "commandPath"),
        ({"commandPath": ["about"], "args": ["x"]}, "args"),
        ({"commandPath": ["about"], "taskId": 1}, "taskId"),
    ],
)
async def test_3_3_command_execute_refuses(serve: Serve, params: Json, where: str) -> None:
    async with serve() as peer:
        error = await called(peer, "command/execute", **params)

        assert error["code"] == -32602
        assert where in error["message"]


async def test_3_3_command_execute_not_in_a_task_of_the_published_dialect(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]

        assert (await executed(peer, "about", taskId=task))["code"] == -32602


async def test_3_3_command_execute_an_error_of_the_command(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        response = await executed(peer, "export-session")
        shown = await followed(peer, response["executionId"])
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        _, within = await ran(peer, "export-session", taskId=task)

        assert response["status"] == "STARTED"
        assert shown[0]["status"]["state"] == "failed"
        assert texts(shown)[0].startswith("Please provide a file path")
        assert within[0]["status"]["state"] == "completed"


@pytest.mark.parametrize("chosen", ["proceed_once", "proceed_always"])
async def test_3_3_command_execute_awaiting_shell_confirmation(serve: Serve, chosen: str) -> None:
    async with serve(says("done"), says("again")) as peer:
        write_command(peer.workspace, "look", "Look at !{touch seen}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        response = await executed(peer, "look", metadata=settings)
        execution = response["executionId"]
        waiting = await followed(peer, execution)
        call = pending(waiting)

        assert response["status"] == "AWAITING_SHELL_CONFIRMATION"
        assert waiting[0]["status"]["state"] == "input-required"
        assert call["confirmationRequest"]["executeDetails"] == {"command": "touch seen"}

        events = await played(peer, asked(peer, answer(call, chosen), task=execution))
        again = await executed(peer, "look", taskId=execution)

        assert [each.status for each in updates(events)] == ["EXECUTING", "SUCCEEDED"]
        assert folded(events) == [UPDATE, WORKING, TEXT, COMPLETED]
        once = chosen == "proceed_once"
        assert again["status"] == ("AWAITING_SHELL_CONFIRMATION" if once else "STARTED")


async def test_3_3_command_execute_a_refused_shell_command_does_not_run(serve: Serve) -> None:
    async with serve() as peer:
        write_command(peer.workspace, "look", "Look at !{touch seen}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        execution, waiting = await ran(peer, "look", metadata=settings)
        events = await played(peer, asked(peer, answer(pending(waiting), "cancel"), task=execution))

        assert [each.status for each in updates(events)] == ["CANCELLED"]
        assert texts(events) == ["Slash command shell execution declined."]
        assert folded(events)[-1] == COMPLETED
        assert not (peer.workspace / "seen").exists()


async def test_3_3_command_execute_awaiting_action_confirmation(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        saved = await executed(peer, "chat", "save", args="tag", taskId=task)
        response = await executed(peer, "chat", "save", args="tag", taskId=task)
        call = pending(await followed(peer, task))
        events = await played(peer, asked(peer, answer(call), task=task))

        assert saved["status"] == "STARTED"
        assert response["status"] == "AWAITING_ACTION_CONFIRMATION"
        assert "overwrite" in call["confirmationRequest"]["genericDetails"]["description"]
        assert texts(events) == ["Conversation checkpoint saved with tag: tag."]
        assert folded(events)[-1] == COMPLETED


@pytest.mark.parametrize("chosen", ["proceed_once", "cancel"])
async def test_3_3_command_execute_awaiting_action_confirmation_while_it_runs(
    serve: Serve, folders: Path, chosen: str
) -> None:
    source = folders / "ws" / "demo"
    source.mkdir()
    (source / "gemini-extension.json").write_text('{"name": "demo", "version": "1.0.0"}')
    async with serve() as peer:
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        response = await executed(
            peer, "extensions", "install", args=str(source), metadata=settings
        )
        execution = response["executionId"]
        call = pending(await followed(peer, execution))
        events = await played(peer, asked(peer, answer(call, chosen), task=execution))

    agreed = chosen == "proceed_once"
    assert "demo" in call["confirmationRequest"]["genericDetails"]["description"]
    assert [each.status for each in updates(events)] == ["SUCCEEDED" if agreed else "CANCELLED"]
    assert ("installed successfully" in texts(events)[-1]) is agreed
    assert (folders / "home" / ".gemini" / "extensions" / "demo").exists() is agreed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"selectedOptionId": "yes"}, "choose one of proceed_once"),
        ({"fileDetails": {"newContent": "x"}}, "no fileDetails"),
        ({"toolCallId": "none"}, "No tool call none waits"),
    ],
)
async def test_3_3_command_execute_a_wrong_answer_leaves_the_command_waiting(
    serve: Serve, change: Json, words: str
) -> None:
    async with serve(says("done")) as peer:
        write_command(peer.workspace, "look", "Look at !{touch seen}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        execution, waiting = await ran(peer, "look", metadata=settings)
        right = answer(pending(waiting))
        (error,) = await played(peer, asked(peer, {**right, **change}, task=execution))
        events = await played(peer, asked(peer, right, task=execution))

        assert error["code"] == -32602
        assert words in error["message"]
        assert folded(events)[-1] == COMPLETED


async def test_3_3_command_execute_a_text_takes_the_place_of_the_answer(serve: Serve) -> None:
    async with serve(says("other")) as peer:
        write_command(peer.workspace, "look", "Look at !{touch seen}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        execution, _ = await ran(peer, "look", metadata=settings)
        events = await played(peer, asked(peer, "something else", task=execution))

        assert folded(events) == [WORKING, TEXT, COMPLETED]
        assert texts(events) == ["other"]
        assert not (peer.workspace / "seen").exists()


async def test_3_3_command_execute_a_call_of_the_command_is_confirmed(serve: Serve) -> None:
    async with serve(says("tidied")) as peer:
        skill = peer.workspace / ".gemini" / "skills" / "tidy"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidies\n---\nPut it away.")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        response = await executed(peer, "tidy", args="now", metadata=settings)
        execution = response["executionId"]
        call = pending(await followed(peer, execution))
        events = await played(peer, asked(peer, answer(call), task=execution))

        assert response["status"] == "AWAITING_ACTION_CONFIRMATION"
        assert call["toolName"] == "activate_skill"
        assert [each.status for each in updates(events)] == ["EXECUTING", "SUCCEEDED"]
        assert texts(events) == ["tidied"]


async def test_3_3_command_execute_while_a_call_waits(serve: Serve) -> None:
    async with serve(calls("write_file", file_path="new.txt", content="x"), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        task = first[0]["id"]
        refused = await executed(peer, "compress", taskId=task)
        stats = await executed(peer, "stats", taskId=task)
        shown = (await peer.rpc("tasks/get", id=task))["result"]
        right = {"toolCallId": updates(first)[0].tool_call_id, "selectedOptionId": "proceed_once"}
        events = await played(peer, asked(peer, right, task=task))

        assert refused["status"] == "FAILED_TO_START"
        assert "busy" in refused["message"]
        assert stats["status"] == "STARTED"
        assert shown["status"]["state"] == "input-required"
        assert folded(events)[-1] == COMPLETED


async def test_3_3_command_execute_a_cancelled_command_ends_its_processes(serve: Serve) -> None:
    async with serve() as peer:
        fifo = peer.workspace / "pid"
        os.mkfifo(fifo)
        write_command(peer.workspace, "wait", "!{echo $$ > pid; sleep 600}")
        settings = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        execution, waiting = await ran(peer, "wait", metadata=settings)
        message = asked(peer, answer(pending(waiting)), task=execution)
        streaming, _ = await peer.begun("EXECUTING", message=message)
        pid = await asyncio.to_thread(fifo.read_text)
        cancelled = await peer.rpc("tasks/cancel", id=execution)
        await streaming
        await peer.tasks.end_all("over")

        assert cancelled["result"]["status"]["state"] == "canceled"
        assert ends(pid.strip())
