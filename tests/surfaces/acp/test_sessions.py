"""What a client sees of a session, from its opening to its replay."""

import base64
from pathlib import Path
from typing import Any

from services.clock import SystemClock
from services.model.parts import part_list_to_string
from services.recording.loading import load_conversation_record
from tests.surfaces.acp.conftest import Connect, asked, chooses
from tests.surfaces.headless.conftest import calls, chunk, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")
PERMISSION = "session/request_permission"
EDITOR = {"fs": {"readTextFile": True, "writeTextFile": True}}


async def test_an_edit_is_asked_about_and_shown_as_a_change(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with connect(WRITE, says("done"), runtime=runtime) as peer:
        peer.answers[PERMISSION] = chooses("proceed_once")
        session = await peer.open(folders / "ws")
        answer = await peer.prompt(session, "write")

        asking = (await peer.until(asked(PERMISSION)))["params"]
        path = str(folders / "ws/new.txt")
        change = {
            "type": "diff",
            "path": path,
            "oldText": "",
            "newText": "one\n",
            "_meta": {"kind": "add"},
        }
        assert [each["optionId"] for each in asking["options"]] == [
            "proceed_always",
            "proceed_once",
            "cancel",
        ]
        assert asking["toolCall"]["content"] == [change]
        (ended,) = peer.updates("tool_call_update")
        assert (ended["status"], ended["content"]) == ("completed", [change])
        assert ended["locations"] == [{"path": path}]
        assert (folders / "ws/new.txt").read_text() == "one\n"
        quota = answer["result"]["_meta"]["quota"]
        assert quota["token_count"] == {"input_tokens": 200, "output_tokens": 20}
        assert [each["model"] for each in quota["model_usage"]] == ["gemini-2.5-flash"]


async def test_calls_are_checked_one_after_the_other(
    connect: Connect, folders: Path, runtime: str
) -> None:
    def call(number: int) -> dict[str, Any]:
        args = {"file_path": f"{number}.txt", "content": "x"}
        return {"functionCall": {"name": "write_file", "args": args, "id": f"c{number}"}}

    async with connect(chunk(call(1), call(2)), says("one of two"), runtime=runtime) as peer:
        options = iter(("cancel", "proceed_once"))
        peer.answers[PERMISSION] = lambda params: chooses(next(options))(params)
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "write two")

        # The refusal of the first call does not decide about the second.
        assert not (folders / "ws/1.txt").exists()
        assert (folders / "ws/2.txt").read_text() == "x"
        assert peer.texts() == ["one of two"]


async def test_edits_go_through_the_file_system_of_the_client(
    connect: Connect, folders: Path, runtime: str
) -> None:
    (folders / "ws/new.txt").write_text("on disk\n")
    async with connect(WRITE, says("done"), runtime=runtime, capabilities=EDITOR) as peer:
        written: list[dict[str, Any]] = []
        peer.answers[PERMISSION] = chooses("proceed_once")
        peer.answers["fs/read_text_file"] = lambda _: {"result": {"content": "unsaved\n"}}

        def write(params: dict[str, Any]) -> dict[str, Any]:
            written.append(params)
            return {"result": {}}

        peer.answers["fs/write_text_file"] = write
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "write")

        asking = (await peer.until(asked(PERMISSION)))["params"]
        assert asking["toolCall"]["content"][0]["oldText"] == "unsaved\n"
        path = str(folders / "ws/new.txt")
        assert written == [{"sessionId": session, "path": path, "content": "one\n"}]
        assert (folders / "ws/new.txt").read_text() == "on disk\n"


async def test_an_editor_that_cannot_write_fails_the_call(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with connect(WRITE, says("sorry"), runtime=runtime, capabilities=EDITOR) as peer:
        missing = {"error": {"code": -32603, "message": "Resource not found"}}
        broken = {"error": {"code": -32603, "message": "the disk is gone"}}
        peer.answers[PERMISSION] = chooses("proceed_once")
        peer.answers["fs/read_text_file"] = lambda _: missing
        peer.answers["fs/write_text_file"] = lambda _: broken
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "write")

        asking = (await peer.until(asked(PERMISSION)))["params"]
        assert asking["toolCall"]["content"][0]["_meta"] == {"kind": "add"}
        failed = peer.updates("tool_call_update")[-1]
        assert failed["status"] == "failed"
        assert "the disk is gone" in failed["content"][0]["content"]["text"]


async def test_a_session_of_the_same_minute_is_loaded_whole(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with connect(says("first answer"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "hello")
        for _ in range(2):
            peer.received.clear()
            loaded = await peer.call(
                "session/load", sessionId=session, cwd=str(folders / "ws"), mcpServers=[]
            )
            assert loaded["result"]["modes"]["currentModeId"] == "default"
            shown = [each["content"]["text"] for each in peer.updates("user_message_chunk")]
            assert shown.count("hello") == 1
            assert peer.texts() == ["first answer"]
        await peer.prompt(session, "more")

    chats = folders / "home/.gemini/tmp/ws/chats"
    recordings = [load_conversation_record(each, SystemClock()) for each in chats.iterdir()]
    messages = [message for each in recordings if each is not None for message in each.messages]
    answers = [message["content"] for message in messages if message["type"] == "gemini"]
    said = [part_list_to_string(answer) for answer in answers]
    # Each opening of a session replays the recorded answers from their beginning.
    assert said == ["first answer", "first answer"]


async def test_a_session_that_is_not_there_is_not_loaded(connect: Connect, folders: Path) -> None:
    async with connect() as peer:
        answer = await peer.call(
            "session/load", sessionId="nope", cwd=str(folders / "ws"), mcpServers=[]
        )
        assert "No previous sessions found" in answer["error"]["data"]["details"]


async def test_modes_and_models(connect: Connect, folders: Path, runtime: str) -> None:
    async with connect(WRITE, says("done"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        unknown = await peer.call("session/set_mode", sessionId=session, modeId="bold")
        await peer.call("session/set_mode", sessionId=session, modeId="autoEdit")
        await peer.call("session/set_model", sessionId=session, modelId="gemini-2.5-pro")
        answer = await peer.prompt(session, "write")

        assert unknown["error"]["data"]["details"] == "Invalid or unavailable mode: bold"
        assert peer.texts() == ["[MODE_UPDATE] autoEdit", "done"]
        usage = answer["result"]["_meta"]["quota"]["model_usage"]
        assert [each["model"] for each in usage] == ["gemini-2.5-pro"]


async def test_tasks_become_a_plan(connect: Connect, folders: Path) -> None:
    todos = [
        {"description": "look", "status": "completed"},
        {"description": "ask", "status": "blocked"},
        {"description": "drop", "status": "cancelled"},
    ]
    script = calls("write_todos", todos=todos), says("planned")
    async with connect(*script, approval_mode="yolo") as peer:
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "plan")

        (plan,) = peer.updates("plan")
        assert [(each["content"], each["status"]) for each in plan["entries"]] == [
            ("look", "completed"),
            ("ask", "pending"),
        ]


async def test_commands(connect: Connect, folders: Path, runtime: str) -> None:
    (folders / "ws/GEMINI.md").write_text("be kind\n")
    async with connect(says("the model saw it"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        for text in ("/memory list", "$help", "/extensions uninstall x", "/restore", "/nope"):
            await peer.prompt(session, text)

        listed, shown, gone, restore, model = peer.texts()
        assert listed.endswith(str(folders / "ws/GEMINI.md"))
        assert "- **/memory show** - " in shown
        assert gone == 'Failed to uninstall extension "x": Extension not found.'
        assert restore.startswith("Checkpointing is not enabled.")
        assert model == "the model saw it"
        (names,) = peer.updates("available_commands_update")
        assert "restore list" in [each["name"] for each in names["availableCommands"]]


async def test_what_a_prompt_attaches(connect: Connect, folders: Path, runtime: str) -> None:
    (folders / "ws/a b.txt").write_text("inside")
    (folders / "secret.txt").write_text("outside")
    async with connect(says("read"), runtime=runtime, strict_responses=False) as peer:
        peer.answers[PERMISSION] = chooses("cancel")
        session = await peer.open(folders / "ws")
        inside, outside = folders / "ws/a b.txt", folders / "secret.txt"
        answer = await peer.start_prompt(
            session,
            {"type": "text", "text": "compare"},
            {"type": "resource_link", "name": "a", "uri": f"file://{inside}".replace(" ", "%20")},
            {"type": "resource_link", "name": "s", "uri": f"file://{outside}"},
            {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"x").decode()},
            {"type": "resource", "resource": {"uri": "file:///m.txt", "text": "in memory"}},
        )
        assert "result" in answer, answer
        loaded = await peer.call(
            "session/load", sessionId=session, cwd=str(folders / "ws"), mcpServers=[]
        )

        assert "result" in loaded
        asking = (await peer.until(asked(PERMISSION)))["params"]
        assert [each["name"] for each in asking["options"]] == ["Allow once", "Deny"]
        sent = "".join(each["content"]["text"] for each in peer.updates("user_message_chunk"))
        assert "inside" in sent
        assert "in memory" in sent
        assert "[Image: image/png" in sent
        assert "denied by user" in sent
        assert "outside" not in sent
