"""Deliveries that fail, in virtual time, and the hosts that may be called."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.clock import VirtualClock, virtual_loop
from services.ids import CountingIds
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.push.configs import PROTOCOL
from surfaces.a2a.push.delivery import Callbacks
from surfaces.a2a.push.hosts import CallbackHosts, CallbackRefused
from surfaces.a2a.push.signing import Signer, open_key
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.wire import RpcError

HOOK = "https://hooks.example.com/a"
Script = Callable[[httpx.Request], Awaitable[httpx.Response]]


class _Saves:
    """Saves at once."""

    def __init__(self) -> None:
        self.count = 0

    def save(self, record: TaskRecord) -> int:
        self.count += 1
        return self.count

    async def safe(self, number: int) -> None:
        return


class Stage:
    """Callbacks for one task, with a script in place of the network, in virtual time."""

    def __init__(self, folder: Path, script: Script, hosts: CallbackHosts | None = None) -> None:
        self.clock = VirtualClock()
        self.warnings: list[str] = []
        self.requests: list[httpx.Request] = []
        self._script = script
        key = open_key(folder / "key.pem")
        self.callbacks = Callbacks(
            hosts or CallbackHosts(listed=None, own=False, look_up=public),
            Signer(key, issuer="http://localhost/", clock=self.clock, ids=CountingIds()),
            self.clock,
            self.warnings.append,
            httpx.MockTransport(self._answer),
        )
        self.record = TaskRecord(
            {
                "id": "task",
                "contextId": "context",
                "kind": "task",
                "status": {"state": "submitted"},
                "metadata": {},
                "history": [],
                "artifacts": [],
            }
        )
        self.record.callbacks["default"] = {"id": "default", "url": HOOK, PROTOCOL: "1.0"}
        self.feed = TaskFeed(self.record, _Saves(), self.callbacks)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return await self._script(request)

    @property
    def states(self) -> list[str]:
        """The states that the requests carry, and `task` for a whole task."""
        bodies = [json.loads(request.content) for request in self.requests]
        return [
            body["statusUpdate"]["status"]["state"].removeprefix("TASK_STATE_").lower()
            if "statusUpdate" in body
            else "task"
            for body in bodies
        ]

    def changes(self, *states: str) -> None:
        """Let the task have these states, one after the other."""
        for state in states:
            self.feed.publish(
                {
                    "kind": "status-update",
                    "taskId": "task",
                    "contextId": "context",
                    "status": {"state": state},
                    "final": state != "working",
                }
            )

    async def idle(self) -> None:
        """Return when no delivery is under way."""
        while self.callbacks.is_busy:
            await self.clock.sleep(1000)


async def public(host: str) -> list[str]:
    return ["93.184.216.34"]


def answering(*statuses: int) -> Script:
    """Each request gets the next status; those after them 200."""
    left = list(statuses)

    async def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(left.pop(0) if left else 200)

    return answer


def played(work: Callable[[], Awaitable[Any]]) -> None:
    async def run() -> None:
        await work()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())


def test_a_callback_that_fails_is_repeated_later_and_later(tmp_path: Path) -> None:
    async def work() -> None:
        stage = Stage(tmp_path, answering(503, 429, 500))
        began = stage.clock.now_ms()
        async with stage.callbacks.open(()):
            stage.changes("working", "input-required")
            await stage.idle()

        assert stage.states == ["working"] * 4 + ["input_required"]
        assert stage.clock.now_ms() - began >= 1000 + 2000 + 4000
        assert stage.warnings == []
        assert "_due" not in stage.record.callbacks["default"]

    played(work)


def test_each_attempt_is_signed_anew(tmp_path: Path) -> None:
    async def work() -> None:
        stage = Stage(tmp_path, answering(503))
        async with stage.callbacks.open(()):
            stage.changes("input-required")
            await stage.idle()

        signatures = {each.headers["authorization"] for each in stage.requests}
        assert len(signatures) == 2

    played(work)


@pytest.mark.parametrize("status", [301, 302, 400, 401, 404, 410])
def test_a_refusal_is_final_and_no_redirect_is_followed(tmp_path: Path, status: int) -> None:
    async def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"location": "http://169.254.169.254/"})

    async def work() -> None:
        stage = Stage(tmp_path, answer)
        async with stage.callbacks.open(()):
            stage.changes("working")
            await stage.idle()

        assert len(stage.requests) == 1
        assert str(status) in stage.warnings[0]

    played(work)


def test_after_a_failure_the_next_event_brings_the_task(tmp_path: Path) -> None:
    async def work() -> None:
        stage = Stage(tmp_path, answering(404))
        async with stage.callbacks.open(()):
            stage.changes("working", "working")
            await stage.idle()
            assert stage.record.callbacks["default"]["_due"] is True
            stage.changes("input-required", "working")
            await stage.idle()

        assert stage.states == ["working", "task"]

    played(work)


def test_a_host_that_is_away_is_given_up_after_eight_attempts(tmp_path: Path) -> None:
    async def answer(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody listens")

    async def work() -> None:
        stage = Stage(tmp_path, answer)
        async with stage.callbacks.open(()):
            stage.changes("working")
            await stage.idle()

        assert len(stage.requests) == 8
        assert stage.warnings == [
            "A callback for task task failed: nobody listens; given up after 8 attempts"
        ]

    played(work)


def test_what_is_due_at_the_end_is_delivered_by_the_next_server(tmp_path: Path) -> None:
    async def hangs(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def work() -> None:
        stage = Stage(tmp_path, hangs)
        # The request hangs for real, and virtual time goes on all the same.
        stage.callbacks._clock = _Held(stage.clock)
        async with stage.callbacks.open(()):
            stage.changes("working", "input-required")
        assert stage.record.callbacks["default"]["_due"] is True

        later = Stage(tmp_path, answering())
        later.record.callbacks["default"]["_due"] = True
        async with later.callbacks.open([later.feed]):
            await later.idle()
        assert later.states == ["task"]

    played(work)


def test_a_configuration_that_is_deleted_gets_nothing_more(tmp_path: Path) -> None:
    async def work() -> None:
        stage = Stage(tmp_path, answering(503))
        async with stage.callbacks.open(()):
            stage.changes("working", "input-required")
            await stage.clock.sleep(100)
            del stage.record.callbacks["default"]
            await stage.idle()

        assert stage.states == ["working"]

    played(work)


def test_too_many_events_become_one_task(tmp_path: Path) -> None:
    async def work() -> None:
        stage = Stage(tmp_path, answering())
        async with stage.callbacks.open(()):
            stage.changes(*["working"] * 600)
            await stage.idle()

        assert stage.states[0] == "task"
        assert len(stage.states) == 100

    played(work)


async def test_a_name_that_means_a_private_address_is_not_called(tmp_path: Path) -> None:
    async def private(host: str) -> list[str]:
        return ["93.184.216.34", "10.0.0.7"]

    hosts = CallbackHosts(listed=None, own=True, look_up=private)

    hosts.check_url(HOOK)
    with pytest.raises(CallbackRefused, match=r"private address 10\.0\.0\.7"):
        await hosts.target(HOOK)


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    hosts = CallbackHosts(listed=None, own=False, look_up=public)

    url, host = await hosts.target(HOOK)

    assert (url.host, host) == ("93.184.216.34", "hooks.example.com")


@pytest.mark.parametrize(
    ("listed", "own", "url", "allowed"),
    [
        (None, True, "http://localhost:8700/x", True),
        (None, True, "http://127.0.0.1/x", True),
        (None, False, "http://localhost:8700/x", False),
        (None, False, "https://hooks.example.com/x", True),
        (None, False, "https://printer.local/x", False),
        ("hooks.example.com", True, "https://hooks.example.com/x", True),
        ("hooks.example.com", True, "https://HOOKS.example.com/x", True),
        ("hooks.example.com", True, "https://other.example.com/x", False),
        ("hooks.example.com", True, "http://localhost/x", True),
        ("hooks.example.com", False, "http://localhost/x", False),
        ("*.example.com", False, "https://a.example.com/x", True),
        ("*.example.com", False, "https://example.com/x", False),
        ("*.example.com", False, "https://badexample.com/x", False),
        ("10.0.0.7", False, "https://10.0.0.7/x", True),
        ("10.0.0.7", False, "http://10.0.0.7/x", False),
        ("", False, "https://hooks.example.com/x", False),
    ],
)
def test_only_allowed_hosts_are_called(
    listed: str | None, own: bool, url: str, allowed: bool
) -> None:
    variables = {} if listed is None else {"PARITY_A2A_CALLBACK_HOSTS": listed}
    hosts = CallbackHosts.of(variables, own=own)

    if allowed:
        hosts.check_url(url)
    else:
        with pytest.raises(RpcError):
            hosts.check_url(url)


class _Held:
    """A clock that moves while something real goes on."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def now_ms(self) -> int:
        return self._clock.now_ms()

    async def sleep(self, delay_ms: float) -> None:
        await self._clock.sleep(delay_ms)

    def real_work(self) -> Any:
        return nullcontext()

    no_real_work = real_work
