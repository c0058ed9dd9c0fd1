"""Requests that no client should send, and callers who may not call."""

import json

import pytest

from surfaces.a2a import server
from surfaces.a2a.folders import FolderRefused, Folders
from surfaces.a2a.listeners import Listener
from surfaces.a2a.wire import RpcError
from tests.surfaces.a2a.conftest import Serve, kinds
from tests.surfaces.headless.conftest import calls, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("not json", 400, -32700),
        ("[" * 100_000, 400, -32700),
        ("[]", 200, -32600),
        ("5", 200, -32600),
        ('{"jsonrpc": "1.0", "id": 1, "method": "message/send"}', 200, -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": 5}', 200, -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', 200, -32601),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": [1]}', 200, -32602),
        ('{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}', 200, -32602),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": 5}}', 200, -32602),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "x"}}', 200, -32001),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tasks/cancel", "params": {}}', 200, -32602),
    ],
)
async def test_a_wrong_request_is_answered_with_its_code(
    serve: Serve, body: str, status: int, code: int
) -> None:
    async with serve() as peer:
        answer = await peer.http.post("/", content=body)

        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_an_unknown_task_takes_no_message(serve: Serve) -> None:
    async with serve() as peer:
        answer = await peer.stream("message/stream", message=peer.message("x", task="nope"))

        assert answer[0]["error"] == {"code": -32001, "message": "Task not found: nope"}


@pytest.mark.parametrize("outcome", ["bogus", "modify_with_editor"])
async def test_an_outcome_that_cannot_be_followed_leaves_the_call_waiting(
    serve: Serve, outcome: str
) -> None:
    async with serve(WRITE, says("done")) as peer:
        first = await peer.say("go")
        task = first[0]["id"]
        call_id = (await peer.tasks.find(task)).waiting[0]
        answer = {"callId": call_id, "outcome": outcome}
        refused = await peer.stream("message/stream", message=peer.message(answer, task=task))
        again = await peer.say({"callId": call_id, "outcome": "proceed_once"}, task=task)

        assert refused[0]["error"]["code"] == -32602
        assert (peer.workspace / "new.txt").exists()
        assert again[-1]["final"] is True


async def test_an_answer_that_nothing_waits_for_ends_the_turn_at_once(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        events = await peer.say({"callId": "none", "outcome": "proceed_once"}, task=task)

        assert kinds(events) == [("state-change", "input-required")]


async def test_a_folder_elsewhere_is_refused(serve: Serve, tmp_path) -> None:
    async with serve() as peer:
        missing = await peer.http.post(
            "/tasks", json={"agentSettings": {"workspacePath": "/nope/nope"}}
        )
        outside = await peer.rpc("message/send", message=peer.message("x", workspacePath="/"))

        assert missing.status_code == 500
        assert missing.json() == {"error": "Workspace path /nope/nope does not exist"}
        assert outside["result"]["status"]["state"] == "failed"
        folders = Folders(fixed=None, default=tmp_path, allowed=(tmp_path,))
        (tmp_path / "link").symlink_to("/")
        with pytest.raises(FolderRefused, match="lies outside"):
            folders.chosen({"workspacePath": "link"})


async def test_a_body_over_the_limit_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_BYTES", 1000)
    async with serve() as peer:
        answer = await peer.http.post("/", content=b"x" * 1001)

        assert answer.status_code == 413


async def test_a_page_of_another_origin_is_refused(serve: Serve) -> None:
    async with serve() as peer:
        path = "/.well-known/agent-card.json"
        foreign = await peer.http.get(path, headers={"origin": "https://example.com"})
        rebound = await peer.http.get(path, headers={"host": "example.com"})
        own = await peer.http.get(path, headers={"origin": "http://localhost:8000"})

        assert (foreign.status_code, rebound.status_code, own.status_code) == (403, 403, 200)


async def test_a_token_is_asked_for_where_there_is_one(serve: Serve) -> None:
    async with serve(token="secret") as peer:
        card = await peer.http.get("/.well-known/agent-card.json")
        without = await peer.http.get("/listCommands")
        wrong = await peer.http.get("/listCommands", headers={"authorization": "Bearer no"})
        right = await peer.http.get("/listCommands", headers={"authorization": "Bearer secret"})

        assert card.json()["security"] == [{"bearerAuth": []}]
        assert (without.status_code, wrong.status_code, right.status_code) == (401, 401, 200)
        assert "secret" not in json.dumps(card.json()) + without.text


async def test_a_client_that_leaves_ends_the_turn_and_the_task_goes_on(serve: Serve) -> None:
    slow = calls("run_shell_command", command="sleep 60", description="d")
    async with serve(slow, says("second")) as peer:
        message = peer.message("go", autoExecute=True)
        serving, gone = await peer.begun('"status":"executing"', message=message)
        gone.set()
        await serving
        task = peer.tasks.all_open()[0]
        await task.idle()

        status = (await peer.rpc("tasks/get", id=task.record.id))["result"]["status"]
        assert status["state"] == "input-required"
        text = status["message"]["parts"][0]["text"]
        assert text == "Execution aborted by client."
        events = await peer.say("more", task=task.record.id)
        assert events[-2]["status"]["message"]["parts"] == [{"kind": "text", "text": "second"}]


async def test_a_running_task_is_cancelled_at_once(serve: Serve) -> None:
    slow = calls("run_shell_command", command="sleep 60", description="d")
    async with serve(slow) as peer:
        message = peer.message("go", autoExecute=True)
        serving, _ = await peer.begun('"status":"executing"', message=message)
        task = peer.tasks.all_open()[0].record.id
        answer = await peer.rpc("tasks/cancel", id=task)
        await serving

        assert answer["result"]["status"]["state"] == "canceled"


async def test_a_reader_that_is_too_slow_loses_its_stream() -> None:
    listener = Listener(most=2)
    for number in range(4):
        listener.add({"number": number, "final": False})

    with pytest.raises(RpcError, match="resubscribe"):
        _ = [event async for event in listener.events()]
