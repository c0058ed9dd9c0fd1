"""Protocol 1.x over JSON-RPC and HTTP+JSON, and HTTP+JSON in 0.3, on one port."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_URI
from tests.surfaces.a2a.conftest import ONE_RUNTIME, Json, Peer, Serve
from tests.surfaces.headless.conftest import calls, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")
CURRENT = {"A2A-Version": "1.0"}


def message(*parts: str | Json, task: str | None = None) -> Json:
    """A message of 1.x."""
    found: Json = {
        "messageId": "m1",
        "role": "ROLE_USER",
        "parts": [{"text": each} if isinstance(each, str) else {"data": each} for each in parts],
    }
    return found if task is None else {**found, "taskId": task}


async def rpc(peer: Peer, method: str, **params: Any) -> Json:
    """The response of JSON-RPC in 1.x."""
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    found: Json = (await peer.http.post("/", json=body, headers=CURRENT)).json()
    return found


async def streamed(peer: Peer, path: str, body: Json) -> list[Json]:
    """The data of a stream's events."""
    text = (await peer.http.post(path, json=body, headers=CURRENT)).text
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


async def until(holds: Callable[[], bool]) -> None:
    """Return when something holds that the server brings about by itself."""
    while not holds():  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0)


async def test_send_waits_for_the_end_of_the_turn(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await rpc(peer, "SendMessage", message=message("hi")))["result"]["task"]
        kept = (await rpc(peer, "GetTask", id=task["id"], historyLength=1))["result"]

        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        assert [each["role"] for each in task["history"]] == ["ROLE_USER", "ROLE_AGENT"]
        assert [each["parts"] for each in kept["history"]] == [[{"text": "one"}]]


async def test_a_stream_begins_with_the_task_and_ends_with_the_turn(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
        first = await streamed(peer, "/", {**body, "params": {"message": message("hi")}})
        task = first[0]["result"]["task"]["id"]
        params = {"message": message("more", task=task)}
        second = await streamed(peer, "/", {**body, "params": params})

        for events in (first, second):
            found = [next(iter(each["result"])) for each in events]
            assert found == ["task", "statusUpdate", "statusUpdate", "statusUpdate"]
            last = events[-1]["result"]["statusUpdate"]["status"]
            assert last["state"] == "TASK_STATE_INPUT_REQUIRED"


async def test_two_confirmations_over_rest(serve: Serve) -> None:
    wanted = [
        {"id": name, "name": "write_file", "args": {"file_path": f"{name}.txt", "content": name}}
        for name in ("a", "b")
    ]
    two = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"functionCall": each} for each in wanted]}}
        ]
    }
    async with serve([two], says("done")) as peer:
        events = await streamed(peer, "/message:stream", {"message": message("go")})
        task = events[0]["task"]["id"]
        for _ in range(2):
            waiting = (await peer.tasks.find(task)).waiting
            answer = {"callId": waiting[0], "outcome": "proceed_once"}
            body = {"message": message(answer, task=task)}
            events = await streamed(peer, "/message:stream", body)

        states = [each["statusUpdate"]["status"]["state"] for each in events[1:]]
        assert (peer.workspace / "a.txt").read_text() == "a"
        assert (peer.workspace / "b.txt").read_text() == "b"
        # Only the last event says that the task waits: 1.x has no `final`.
        assert states[-1] == "TASK_STATE_INPUT_REQUIRED"
        assert set(states[:-1]) == {"TASK_STATE_WORKING"}


async def test_a_subscriber_follows_the_task_to_its_end(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        task = (await rpc(peer, "SendMessage", message=message("hi")))["result"]["task"]["id"]
        async with asyncio.TaskGroup() as group:
            body = {"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": task}}
            following = group.create_task(streamed(peer, "/", body))
            feed = await peer.tasks.feed(task)
            await until(lambda: feed.is_followed)
            await rpc(peer, "SendMessage", message=message("more", task=task))
            await rpc(peer, "CancelTask", id=task)
        events = [each["result"] for each in following.result()]
        again = await rpc(peer, "SubscribeToTask", id=task)

        assert events[0]["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        states = [each["statusUpdate"]["status"]["state"] for each in events[1:]]
        assert states == [
            "TASK_STATE_WORKING",
            "TASK_STATE_WORKING",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_CANCELED",
        ]
        assert again["error"]["code"] == -32004


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("GetTask", {"id": "nope"}, -32001),
        ("GetTask", {}, -32602),
        ("GetTask", {"id": 5}, -32602),
        ("CancelTask", {"id": "nope"}, -32001),
        ("SubscribeToTask", {"id": "nope"}, -32001),
        ("SendMessage", {}, -32602),
        ("SendMessage", {"message": message("x", task="nope")}, -32001),
        ("SendMessage", {"message": {**message("x"), "parts": []}}, -32602),
        ("SendMessage", {"message": {**message(), "parts": [{"raw": "eA=="}]}}, -32005),
        ("ListTasks", {"pageSize": 0}, -32602),
        ("ListTasks", {"status": "RUNNING"}, -32602),
        ("ListTasks", {"pageToken": "bm9uZQ"}, -32602),
        ("GetExtendedAgentCard", {}, -32004),
        ("GetTaskPushNotificationConfig", {"taskId": "nope", "id": "x"}, -32001),
        ("NoSuchMethod", {}, -32601),
    ],
)
async def test_a_wrong_request_gets_the_error_of_its_kind(
    serve: Serve, method: str, params: Json, code: int
) -> None:
    async with serve() as peer:
        assert (await rpc(peer, method, **params))["error"]["code"] == code


async def test_an_ended_task_takes_no_message(serve: Serve) -> None:
    async with serve(WRITE) as peer:
        task = (await rpc(peer, "SendMessage", message=message("hi")))["result"]["task"]["id"]
        await rpc(peer, "CancelTask", id=task)
        refused = await rpc(peer, "SendMessage", message=message("x", task=task))
        cancelled = await rpc(peer, "CancelTask", id=task)

        assert refused["error"]["code"] == -32004
        assert cancelled["error"]["code"] == -32002


async def test_a_message_with_another_context_is_refused(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await rpc(peer, "SendMessage", message=message("hi")))["result"]["task"]["id"]
        other = {**message("x", task=task), "contextId": "another"}
        refused = await rpc(peer, "SendMessage", message=other)

        assert refused["error"]["code"] == -32602


@ONE_RUNTIME
async def test_tasks_are_listed_page_by_page(serve: Serve) -> None:
    async with serve(*[says("x")] * 3) as peer:
        for _ in range(3):
            first = {**message("hi"), "contextId": "ctx"}
            await rpc(peer, "SendMessage", message=first)
        found: list[Json] = []
        token = ""
        while True:
            answer = await peer.http.get(
                "/tasks", params={"contextId": "ctx", "pageSize": 2, "pageToken": token}
            )
            page = answer.json()
            found += page["tasks"]
            token = page["nextPageToken"]
            if not token:
                break
        none = (await rpc(peer, "ListTasks", contextId="other"))["result"]
        waiting = (await rpc(peer, "ListTasks", status="TASK_STATE_INPUT_REQUIRED"))["result"]
        wrong = await peer.http.get("/tasks", params={"status": "RUNNING"})

        assert len({each["id"] for each in found}) == 3
        times = [each["status"]["timestamp"] for each in found]
        assert times == sorted(times, reverse=True)
        assert "artifacts" not in found[0]
        assert none == {"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0}
        assert waiting["totalSize"] == 3
        assert wrong.status_code == 400


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("GET", "/tasks/nope", 404, "TASK_NOT_FOUND"),
        ("POST", "/tasks/nope:cancel", 404, "TASK_NOT_FOUND"),
        ("POST", "/tasks/nope:subscribe", 404, "TASK_NOT_FOUND"),
        ("GET", "/v1/tasks/nope", 404, "TASK_NOT_FOUND"),
        ("POST", "/v1/tasks/nope:cancel", 404, "TASK_NOT_FOUND"),
        ("POST", "/v1/tasks/nope:subscribe", 404, "TASK_NOT_FOUND"),
    ],
)
async def test_an_unknown_task_has_its_own_status(
    serve: Serve, method: str, path: str, status: int, reason: str
) -> None:
    async with serve() as peer:
        answer = await peer.http.request(method, path)

        assert answer.status_code == status
        assert answer.json()["error"]["details"][0]["reason"] == reason


@ONE_RUNTIME
@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"message": 5}'])
async def test_a_body_that_is_no_message_is_refused(serve: Serve, body: bytes) -> None:
    async with serve() as peer:
        for path in ("/message:send", "/message:stream", "/v1/message:send", "/v1/message:stream"):
            answer = await peer.http.post(path, content=body)

            assert answer.status_code == 400, path
            assert "Traceback" not in answer.text


async def test_rest_in_0_3_reads_and_writes_the_earlier_shapes(serve: Serve) -> None:
    first = {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}
    async with serve(says("one"), says("two")) as peer:
        sent = (await peer.http.post("/v1/message:send", json={"message": first})).json()["task"]
        more = {**first, "taskId": sent["id"]}
        text = (await peer.http.post("/v1/message:stream", json={"message": more})).text
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        shown = (await peer.http.get(f"/v1/tasks/{sent['id']}")).json()

        assert sent["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        assert events[-1]["statusUpdate"]["final"] is True
        assert [each.get("statusUpdate", {}).get("final") for each in events[:-1]] == [None] * 3
        assert shown["history"][-1]["content"] == [{"text": "two"}]


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("method", "version", "code"),
    [
        ("SendMessage", "99.0", -32009),
        ("SendMessage", "0.3", -32009),
        ("message/send", "1.0", -32009),
        ("tasks/get", "99.0", -32009),
    ],
)
async def test_a_version_that_has_no_such_method_is_refused(
    serve: Serve, method: str, version: str, code: int
) -> None:
    async with serve() as peer:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "x"}}
        answer = await peer.http.post("/", json=body, headers={"A2A-Version": version})

        assert answer.json()["error"]["code"] == code


async def test_a_request_without_a_version_is_one_of_the_method_s_version(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
        current = await peer.http.post("/", json={**body, "params": {"message": message("hi")}})
        rest = await peer.http.post("/message:send", json={"message": message("hi")})

        assert "task" in current.json()["result"]
        assert "task" in rest.json()


@ONE_RUNTIME
async def test_each_version_has_its_card(serve: Serve) -> None:
    async with serve() as peer:
        path = "/.well-known/agent-card.json"
        both = await peer.http.get(path)
        current = (await peer.http.get(path, headers={"A2A-Version": "1.0"})).json()
        earlier = (await peer.http.get(path, headers={"A2A-Version": "0.3"})).json()
        same = await peer.http.get(path, headers={"if-none-match": both.headers["etag"]})
        fixed = (await peer.http.get(f"/1.0{path}")).json()

        assert current == fixed
        assert set(earlier) | set(current) == set(both.json())
        assert {
            (each["protocolBinding"], each["protocolVersion"])
            for each in current["supportedInterfaces"]
        } == {(b, v) for b in ("JSONRPC", "HTTP+JSON") for v in ("1.0", "0.3")}
        assert earlier["protocolVersion"] == "0.3.0"
        # Only 0.3 has this capability.
        assert "stateTransitionHistory" not in current["capabilities"]
        assert earlier["capabilities"]["stateTransitionHistory"] is True
        for card in (current, earlier):
            assert card["capabilities"]["pushNotifications"] is True
            assert card["capabilities"]["extensions"][0]["required"] is True
        assert (same.status_code, same.content) == (304, b"")


async def test_the_extension_is_negotiated_in_1_x_too(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        first = message("hi")
        first["metadata"] = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        answer = await peer.http.post(
            "/message:send", json={"message": first}, headers={"A2A-Extensions": EXTENSION_URI}
        )
        unknown = await peer.http.post(
            "/message:send",
            json={"message": first},
            headers={"A2A-Extensions": EXTENSION_URI.replace("v0", "v7")},
        )

        assert answer.json()["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert answer.headers["a2a-extensions"] == EXTENSION_URI
        assert unknown.status_code == 400
        assert unknown.json()["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
