"""A server that is killed at any point of running tasks loses none and doubles none.

Each round kills the process after a random number of events that clients have received, starts
another one on the same tasks, and compares what it knows with what the clients know.
"""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.surfaces.a2a.conftest import ONE_RUNTIME, Json
from tests.surfaces.a2a.serving import started
from tests.surfaces.headless.conftest import calls, says, write_answers

AT_ONCE = 6
MOST_EVENTS = 60
SETTLED = {"input-required", "failed", "canceled", "completed"}


@dataclass
class Seen:
    """What a client knows of its task."""

    folder: Path
    task: str | None = None
    messages: list[str] = field(default_factory=list)
    last: Json | None = None

    def take(self, event: Json) -> None:
        self.last = event
        if event["kind"] == "task":
            self.task = event["id"]
            self.messages += [each["messageId"] for each in event["history"]]
        elif event["kind"] == "status-update" and "message" in event["status"]:
            self.messages.append(event["status"]["message"]["messageId"])


class Clients:
    """Clients that begin one task after the other until the server is gone."""

    def __init__(self, folders: Path, url: str, events: int) -> None:
        self._folders = folders
        self._url = url
        self._left = events
        self.enough = asyncio.Event()
        """Set when they have received as many events as they should."""
        self.seen: list[Seen] = []

    async def play(self) -> None:
        async with (
            httpx.AsyncClient(base_url=self._url, timeout=60) as http,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(AT_ONCE):
                group.create_task(self._begin_tasks(http))

    async def _begin_tasks(self, http: httpx.AsyncClient) -> None:
        while True:
            folder = self._folders / f"task-{len(list(self._folders.glob('task-*')))}"
            folder.mkdir()
            seen = Seen(folder)
            self.seen.append(seen)
            message = {
                "kind": "message",
                "role": "user",
                "messageId": f"m-{folder.name}",
                "parts": [{"kind": "text", "text": "go"}],
                "metadata": {
                    "coderAgent": {"kind": "agent-settings", "workspacePath": str(folder)}
                },
            }
            params = {"message": message}
            body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
            try:
                async with http.stream("POST", "/", json=body) as answer:
                    async for line in answer.aiter_lines():
                        if line.startswith("data: "):
                            seen.take(json.loads(line[6:])["result"])
                            self._left -= 1
                            if self._left <= 0:
                                self.enough.set()
            except httpx.HTTPError:
                return


def check(http: httpx.Client, seen: Seen) -> None:
    """Compare what the new server knows of a task with what its client knows."""
    runs = (
        len((seen.folder / "runs.txt").read_text().splitlines())
        if (seen.folder / "runs.txt").exists()
        else 0
    )
    assert runs <= 1, f"{seen.folder.name} ran twice"
    if seen.task is None:
        return
    params = {"id": seen.task, "historyLength": 1000}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": params}
    task = http.post("/", json=body).json()["result"]
    history = [each["messageId"] for each in task["history"]]
    assert task["status"]["state"] in SETTLED, task["status"]
    assert len(history) == len(set(history)), f"{seen.folder.name} has a message twice"
    missing = [each for each in seen.messages if each not in history]
    assert not missing, f"{seen.folder.name} has lost {missing}"
    if seen.last is not None and seen.last.get("final"):
        # The client got the end of the turn, and its reason.
        assert task["status"] == seen.last["status"]
        assert runs == 1


def gone_on_with(http: httpx.Client, seen: Seen) -> None:
    message = {
        "kind": "message",
        "role": "user",
        "messageId": f"again-{seen.folder.name}",
        "parts": [{"kind": "text", "text": "again"}],
        "taskId": seen.task,
    }
    params = {"message": message}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
    task = http.post("/", json=body).json()["result"]
    assert task["id"] == seen.task
    assert [each["messageId"] for each in task["history"]].count(message["messageId"]) == 1


def all_ids(http: httpx.Client) -> list[str]:
    found: list[str] = []
    token = ""
    while True:
        page = http.get("/tasks", params={"pageSize": 100, "pageToken": token}).json()
        found += [each["id"] for each in page["tasks"]]
        token = page["nextPageToken"]
        if not token:
            return found


async def kill_often(folders: Path, runtime: str, kills: int, seed: int) -> int:
    """Kill a server so often; return how many tasks clients have begun."""
    runs = calls("run_shell_command", command="echo run >> runs.txt", description="d")
    answers = write_answers(folders / "answers.jsonl", runs, says("done"))
    words = ["--runtime", runtime, "--fake-responses", str(answers)]
    random = Random(seed)
    known: list[Seen] = []
    fresh: list[Seen] = []
    for kill in range(kills + 1):
        with started(folders, *words) as (process, http):
            for seen in fresh:
                check(http, seen)
            begun = [seen for seen in fresh if seen.task is not None]
            if begun:
                gone_on_with(http, random.choice(begun))
            known += begun
            ids = all_ids(http)
            assert len(ids) == len(set(ids))
            assert {seen.task for seen in known} <= set(ids)
            if kill == kills:
                return len(known)
            clients = Clients(folders, str(http.base_url), random.randint(1, MOST_EVENTS))
            async with asyncio.TaskGroup() as group:
                playing = group.create_task(clients.play())
                await clients.enough.wait()
                process.kill()
                await asyncio.to_thread(process.wait)
                await playing
            fresh = clients.seen
    raise AssertionError


@ONE_RUNTIME
async def test_a_kill_loses_and_doubles_no_task(folders: Path, runtime: str) -> None:
    assert await kill_often(folders, runtime, kills=1, seed=1) > 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_a_hundred_kills_lose_and_double_no_task(folders: Path, runtime: str) -> None:
    assert await kill_often(folders, runtime, kills=50, seed=2) >= 50
