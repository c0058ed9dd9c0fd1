"""Clients that vanish, read slowly or flood; a full server; a full disk; the end of running tools.

Wrong requests are in `test_bad_input.py`, for protocol 1.x in `protocol/test_current.py`.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from surfaces.a2a import server
from surfaces.a2a.listeners import Listener
from surfaces.a2a.storage.database import DatabaseFailed
from surfaces.a2a.storage.store import TaskStore
from surfaces.a2a.wire import RpcError
from tests.surfaces.a2a.conftest import ONE_RUNTIME, Json, Peer, Serve, data_of, kinds
from tests.surfaces.a2a.serving import started
from tests.surfaces.headless.conftest import calls, says, write_answers

WRITE = calls("write_file", file_path="new.txt", content="one\n")


def waiting_call(events: list[Json]) -> str:
    """The id of the call that the last confirmation is about."""
    found: str = data_of(events[-2])["request"]["callId"]
    return found


async def test_a_confirmation_that_comes_twice_counts_once(serve: Serve) -> None:
    async with serve(WRITE, says("done"), says("more")) as peer:
        first = await peer.say("go")
        answer = {"callId": waiting_call(first), "outcome": "proceed_once"}
        await peer.say(answer, task=first[0]["id"])
        (peer.workspace / "new.txt").unlink()
        again = await peer.say(answer, task=first[0]["id"])
        more = await peer.say("more", task=first[0]["id"])

        assert kinds(again) == [("state-change", "input-required")]
        assert not (peer.workspace / "new.txt").exists()
        assert more[-2]["status"]["message"]["parts"] == [{"kind": "text", "text": "more"}]


async def test_two_confirmations_at_once_count_once(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        first = await peer.say("go")
        answer = {"callId": waiting_call(first), "outcome": "proceed_once"}
        async with asyncio.TaskGroup() as group:
            said = [group.create_task(peer.say(answer, task=first[0]["id"])) for _ in range(2)]
        task = (await peer.rpc("tasks/get", id=first[0]["id"], historyLength=99))["result"]
        succeeded = [
            each
            for each in task["history"]
            for part in each["parts"]
            if part.get("data", {}).get("status") == "success"
        ]

        assert all(each.result()[-1]["final"] for each in said)
        assert len(succeeded) == 1


async def test_a_confirmation_for_another_task_s_call_is_no_answer(serve: Serve) -> None:
    async with serve(WRITE) as peer:
        first, second = await peer.say("go"), await peer.say("go")
        answer = {"callId": waiting_call(first), "outcome": "proceed_once"}
        # Both calls have the same id in their own tasks; that of the first is cancelled.
        await peer.rpc("tasks/cancel", id=first[0]["id"])
        refused = await peer.stream(
            "message/stream", message=peer.message(answer, task=first[0]["id"])
        )

        assert refused[0]["error"]["code"] == -32600
        assert (await peer.tasks.find(second[0]["id"])).waiting
        assert not (peer.workspace / "new.txt").exists()


def event(text: str, *, final: bool = False) -> Json:
    return {"kind": "status-update", "final": final, "text": text}


async def test_a_slow_reader_is_bounded_in_bytes_too() -> None:
    listener = Listener(most_bytes=10_000)
    for _ in range(20):
        listener.add(event("x" * 1000))

    with pytest.raises(RpcError, match="tasks/resubscribe") as caught:
        _ = [each async for each in listener.events()]
    assert caught.value.code == -32603


async def test_a_reader_that_keeps_up_may_read_any_number_of_events() -> None:
    listener = Listener(most=3, most_bytes=10_000)
    got = 0

    async def read() -> None:
        nonlocal got
        async for _ in listener.events():
            got += 1

    reading = asyncio.create_task(read())
    for number in range(100):
        listener.add(event("x" * 9000, final=number == 99))
        await asyncio.sleep(0)
    await reading

    assert got == 100


async def test_a_slow_stream_ends_with_an_error_and_the_task_goes_on(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "surfaces.a2a.listeners.Listener.__init__.__kwdefaults__",
        {"follows": False, "most": 2, "most_bytes": 1_000_000},
    )
    reads = asyncio.Event()
    got: list[bytes] = []

    async def send(message: Json) -> None:
        if message["type"] == "http.response.body":
            await reads.wait()
            got.append(message["body"])

    async with serve(says("one"), says("two")) as peer:
        serving = await streaming(peer, send, message=peer.message("hi"))
        await asyncio.sleep(0)
        task = await opened_task(peer)
        await task.idle()
        reads.set()
        await serving
        more = await peer.rpc("message/send", message=peer.message("more", task=task.record.id))

        last = b"".join(got).split(b"\n\n")[-2]
        assert last.startswith(b"event: error\n")
        assert json.loads(last.partition(b"data: ")[2])["error"]["code"] == -32603
        assert more["result"]["status"]["state"] == "input-required"


async def test_a_thousand_streams_follow_one_task(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        ended = [0]
        begun = asyncio.Event()
        count = 0

        async def send(message: Json) -> None:
            nonlocal count
            body = message.get("body", b"")
            if b'"task":' in body:
                count += 1
                if count == 1000:
                    begun.set()
            if b"TASK_STATE_CANCELED" in body:
                ended[0] += 1

        streams = [
            await streaming(peer, send, method="SubscribeToTask", id=task) for _ in range(1000)
        ]
        await begun.wait()
        await peer.say("more", task=task)
        await peer.rpc("tasks/cancel", id=task)
        await asyncio.wait(streams)

        assert ended == [1000]
        assert not (await peer.tasks.feed(task)).is_followed


@ONE_RUNTIME
async def test_a_message_of_a_hundred_megabytes_is_refused_before_it_is_read(
    serve: Serve,
) -> None:
    sent = 0

    async def body() -> Any:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"x" * 1024 * 1024

    async with serve() as peer:
        for path in ("/", "/message:send", "/tasks", "/executeCommand"):
            sent = 0
            answer = await peer.http.post(path, content=body())

            assert answer.status_code == 413, path
            assert sent == server.MOST_BYTES // 1024 // 1024 + 1
        sent = 0
        announced = await peer.http.post(
            "/", content=body(), headers={"content-length": str(100 * 1024 * 1024)}
        )
        assert (announced.status_code, sent) == (413, 0)


async def test_a_flood_closes_idle_tasks_which_go_on_later(serve: Serve) -> None:
    async with serve(*[says("x")] * 2) as peer:
        peer.tasks.most_open = 3
        tasks = [(await peer.say("hi"))[0]["id"] for _ in range(6)]
        still = {task.record.id for task in peer.tasks.all_open()}
        # The first of them was closed. Its session is opened again, and the conversation with it.
        again = await peer.say("more", task=tasks[0])

        assert still == set(tasks[3:])
        assert again[-1]["status"]["state"] == "input-required"
        history = (await peer.tasks.find(tasks[0])).history
        assert [each["role"] for each in history] == ["user", "agent"] * 2


async def test_tasks_that_wait_for_their_users_are_not_closed(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        peer.tasks.most_open = 2
        waiting = [await peer.say("go") for _ in range(2)]
        refused = await peer.stream("message/stream", message=peer.message("go"))
        created = await peer.http.post("/tasks", json={})
        await peer.rpc("tasks/cancel", id=waiting[0][0]["id"])
        await until_open(peer, 1)
        third = await peer.say("go")
        answer = {"callId": waiting_call(waiting[1]), "outcome": "proceed_once"}
        second = await peer.say(answer, task=waiting[1][0]["id"])

        assert refused[0]["error"]["code"] == -32603
        assert "cancel one" in refused[0]["error"]["message"]
        assert created.status_code == 500
        assert third[-1]["final"] is True
        assert (peer.workspace / "new.txt").exists()
        assert second[-1]["final"] is True


async def test_a_full_disk_is_an_error_and_loses_nothing(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(says("one"), says("two")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        store = peer.tasks.store
        assert isinstance(store, TaskStore)
        database = store._database
        write, full = database.write, True

        def fails(changes: Any) -> None:
            if full:
                raise DatabaseFailed("the disk is full")
            write(changes)

        monkeypatch.setattr(database, "write", fails)
        monkeypatch.setattr("surfaces.a2a.storage.store._RETRY_MS", 1)
        refused = await peer.stream("message/stream", message=peer.message("more", task=task))
        full = False
        await peer.tasks.all_open()[0].idle()
        shown = (await peer.rpc("tasks/get", id=task, historyLength=9))["result"]

        assert refused[-1]["error"] == {
            "code": -32603,
            "message": "The task cannot be saved: the disk is full",
        }
        texts = [each["parts"][0]["text"] for each in shown["history"]]
        assert texts == ["hi", "one", "more", "two"]


async def test_a_client_that_vanishes_before_the_task_is_open_leaves_nothing(
    serve: Serve,
) -> None:
    async def send(message: Json) -> None:
        return

    async with serve(says("one")) as peer:
        serving = await streaming(peer, send, message=peer.message("hi"))
        await asyncio.sleep(0)
        serving.cancel()
        await asyncio.wait([serving])
        after = await peer.say("hi")

        assert after[-1]["status"]["state"] == "input-required"


@pytest.mark.slow
def test_a_thousand_sockets_follow_one_task(folders: Path) -> None:
    answers = write_answers(folders / "answers.jsonl", says("one"), says("two"))
    with started(folders, "--fake-responses", str(answers)) as (_, http):
        program = [sys.executable, "-c", _THOUSAND, str(http.base_url)]
        ran = subprocess.run(program, capture_output=True, text=True, timeout=110, check=False)

    assert ran.stdout.strip() == "1000 streams, 1000 ends", ran.stderr


_THOUSAND = """
import asyncio, resource, sys, httpx
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))

async def main():
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=sys.argv[1], timeout=100, limits=limits) as http:
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        sent = (await http.post("/message:send", json={"message": message})).json()
        task, counts = sent["task"]["id"], [0, 0]
        begun = asyncio.Event()
        async def follow():
            async with http.stream("POST", f"/tasks/{task}:subscribe") as answer:
                async for line in answer.aiter_lines():
                    counts[0] += '"task"' in line
                    counts[1] += "CANCELED" in line
                    if counts[0] == 1000:
                        begun.set()
        async with asyncio.TaskGroup() as group:
            for _ in range(1000):
                group.create_task(follow())
            await begun.wait()
            await http.post(f"/tasks/{task}:cancel")
        print(f"{counts[0]} streams, {counts[1]} ends")

asyncio.run(main())
"""


async def streaming(
    peer: Peer,
    send: Callable[[Json], Awaitable[None]],
    method: str = "message/stream",
    **params: Any,
) -> "asyncio.Task[None]":
    """A request whose client never leaves, and whose response `send` gets."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sent = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Json:
        if sent:
            return sent.pop()
        await asyncio.Event().wait()
        raise AssertionError

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    return asyncio.create_task(peer.app(scope, receive, send))  # type: ignore[arg-type]


async def opened_task(peer: Peer) -> Any:
    """The only task, when its session is open."""
    while not peer.tasks.all_open():  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0)
    return peer.tasks.all_open()[0]


async def until_open(peer: Peer, count: int) -> None:
    while len(peer.tasks.all_open()) != count:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0)
