"""Section 3.2: every message and field that the agent sends, in what a server really sends."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_URI
from surfaces.a2a.in_process import InProcess
from tests.services.sign_in.stand_ins import google
from tests.surfaces.a2a.conftest import Json, Peer, Serve, data_of
from tests.surfaces.a2a.extension.client import asked, called, event_of, played, updates, valid
from tests.surfaces.a2a.extension.proto import FILE, declared
from tests.surfaces.headless.conftest import calls, chunk, says

CASSETTES: Final = Path(__file__).parents[4] / "cassettes"
SERVER: Final = {"command": sys.executable, "args": [str(CASSETTES / "mcp_server.py")]}
SHELL: Final = calls(
    "run_shell_command", command="echo out; echo more", description="d", dir_path="."
)
EDIT: Final = calls("write_file", file_path="kept.txt", content="new\n")
BOTH: Final = chunk(
    *(
        {"functionCall": {"name": "run_shell_command", "args": {"command": line}, "id": line}}
        for line in ("cat pipe", "touch new.txt")
    )
)
"""Two calls at once: one that waits for a pipe, without a question, and one that asks."""
CLIENTS: Final = {"AgentSettings", "ExecuteSlashCommandRequest", "ModifiedFileDetails"}
"""The messages that clients alone send, in the other files of this folder."""
NEVER: Final = {
    "ErrorDetails.status_code": "no tool has one",
    "DevelopmentToolEvent.user_tier": "the next test has an account",
    "ToolCallConfirmation.file_details": "no edit asks while another call runs",
}
"""Optional fields that these turns do not have, and why."""
HOLD: Final = {
    "output": "ToolOutput",
    "error": "ErrorDetails",
    "diff": "FileDiff",
    "confirmationRequest": "ConfirmationRequest",
    "options": "ConfirmationOption",
    "executeDetails": "ExecuteDetails",
    "fileEditDetails": "FileDiff",
    "mcpDetails": "McpDetails",
    "genericDetails": "GenericDetails",
    "fileDetails": "ModifiedFileDetails",
    "commands": "SlashCommand",
    "subCommands": "SlashCommand",
    "arguments": "SlashCommandArgument",
}
"""The key of an object inside of another one to its message."""
OBJECTS: Final = {
    "TOOL_CALL_CONFIRMATION": "ToolCallConfirmation",
    "TOOL_CALL_UPDATE": "ToolCall",
    "THOUGHT": "AgentThought",
}


def fields_in(name: str, document: Json) -> Iterator[str]:
    """The fields of an object and of those inside of it: `ToolCall.live_content`."""
    for key, value in document.items():
        snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in key)
        yield f"{name}.{snake}"
        if key in HOLD and name != "DevelopmentToolEvent":
            for inner in value if isinstance(value, list) else [value]:
                yield from fields_in(HOLD[key], inner)


def fields_of(events: list[Json]) -> Iterator[str]:
    """The fields in the updates among `events`."""
    for event in events:
        if event["kind"] == "status-update":
            metadata = event["metadata"][EXTENSION_URI]
            yield from fields_in("DevelopmentToolEvent", metadata)
            if metadata["kind"] in OBJECTS:
                yield from fields_in(OBJECTS[metadata["kind"]], data_of(event))


async def turn(peer: Peer, *options: str) -> list[Json]:
    """The events of a turn whose calls are answered with `options`."""
    events = await played(peer, asked(peer, "go"))
    task = events[0]["id"]
    for option in options:
        call = updates([each for each in events if each["kind"] == "status-update"])[-1]
        answer = {"toolCallId": call.tool_call_id, "selectedOptionId": option}
        events += await played(peer, asked(peer, answer, task=task))
    return events


async def seen_by_another_client(peer: Peer) -> list[Json]:
    """What a client gets whose turn goes on while another one answers."""
    pipe = peer.workspace / "pipe"
    os.mkfifo(pipe)
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream"}
    body["params"] = {"message": asked(peer, "go")}
    events: list[Json] = []
    async with asyncio.TaskGroup() as group:
        transport = InProcess(peer.app, group)
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
            http.stream("POST", "/", json=body, headers={"A2A-Extensions": EXTENSION_URI}) as sent,
        ):
            async for line in sent.aiter_lines():
                if line.startswith("data: "):
                    events.append(valid(json.loads(line[6:])["result"]))
                    if "confirmationRequest" in line:
                        answer = {
                            "toolCallId": data_of(events[-1])["toolCallId"],
                            "selectedOptionId": "proceed_once",
                        }
                        message = asked(peer, answer, task=events[0]["id"])
                        group.create_task(played(peer, message))
                    elif "TOOL_CALL_CONFIRMATION" in line:
                        await asyncio.to_thread(pipe.write_text, "go on")
    return events


async def test_3_2_event_metadata_every_kind(serve: Serve) -> None:
    thought = chunk({"text": "**Plan** Look first.", "thought": True}, {"text": "ok"})
    async with serve(BOTH, thought) as peer:
        events = await seen_by_another_client(peer)
        answers = [each for each in events[1:] if event_of(each).kind == "TOOL_CALL_CONFIRMATION"]

        kinds = declared(FILE.read_text())["DevelopmentToolEventKind"]
        assert {str(event_of(each).kind) for each in events[1:]} == set(kinds[1:])
        assert data_of(answers[0])["selectedOptionId"] == "proceed_once"
        assert (peer.workspace / "new.txt").exists()


async def test_3_2_and_3_3_every_field_is_sent(serve: Serve, folders: Path) -> None:
    settings = folders / "home" / ".gemini" / "settings.json"
    settings.write_text(json.dumps({"mcpServers": {"calc": SERVER}}))
    (folders / "ws" / "kept.txt").write_text("old\n")
    thought = chunk({"text": "**Plan** Look first.", "thought": True}, {"text": "ok"})
    add = calls("mcp_calc_sum", a=1, b=2)
    question = {"question": "Sure?", "header": "h", "type": "yesno"}
    choice = {
        **question,
        "type": "choice",
        "options": [{"label": "a", "description": "b"}, {"label": "c", "description": "d"}],
    }
    found: set[str] = set()
    for answers, options in (
        ((SHELL, says("done")), ["proceed_once"]),
        ((EDIT, says("done")), ["proceed_once"]),
        ((add, says("done")), ["proceed_once"]),
        ((calls("ask_user", questions=[choice]), says("done")), ["option_1"]),
        ((calls("list_directory", dir_path="."), says("done")), []),
        ((calls("read_file", file_path="none.txt"), thought), []),
        ((), []),
    ):
        async with serve(*answers) as peer:
            found |= set(fields_of(await turn(peer, *options)))
    async with serve() as peer:
        found |= set(fields_in("GetAllSlashCommandsResponse", await called(peer, "commands/get")))
        started = await called(peer, "command/execute", commandPath=["about"])
        found |= set(fields_in("ExecuteSlashCommandResponse", started))
    async with serve(BOTH, says("done")) as peer:
        found |= set(fields_of(await seen_by_another_client(peer)))

    messages = {
        f"{name}.{field}"
        for name, fields in declared(FILE.read_text()).items()
        for field in fields
        if field.islower() and name not in CLIENTS
    }
    assert messages - found == set(NEVER)


async def test_3_2_event_metadata_the_users_tier(
    serve: Serve, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with google() as account:
        for name, value in account.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GOOGLE_GENAI_USE_GCA", "true")
        monkeypatch.delenv("GEMINI_API_KEY")
        account.store(folders / "home")
        async with serve(live=True) as peer:
            published = await peer.say("hi")
            events = await played(peer, asked(peer, "hi"))

    assert {event_of(event).user_tier for event in events[1:]} == {"free-tier"}
    assert {event["metadata"]["userTier"] for event in published[1:]} == {"free-tier"}
