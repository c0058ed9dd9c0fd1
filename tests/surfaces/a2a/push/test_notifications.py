"""Push notifications: configurations, what is called, and what a receiver can check."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from surfaces.a2a.push.delivery import SIGNATURE_HEADER, TOKEN_HEADER
from tests.surfaces.a2a.conftest import ONE_RUNTIME, Json, Peer, Serve
from tests.surfaces.headless.conftest import calls, says

HOOK = "http://localhost:8700/hook"
CURRENT = {"A2A-Version": "1.0"}


class Receiver(httpx.AsyncBaseTransport):
    """Takes the network's place, and keeps the requests."""

    def __init__(self, *statuses: int) -> None:
        self.requests: list[httpx.Request] = []
        self._statuses = list(statuses)
        self._news = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.requests.append(request)
        self._news.set()
        return httpx.Response(self._statuses.pop(0) if self._statuses else 200)

    async def got(self, count: int) -> list[Json]:
        """The bodies, once there are so many."""
        while len(self.requests) < count:
            self._news.clear()
            await self._news.wait()
        return [json.loads(request.content) for request in self.requests]


async def configured(peer: Peer, method: str, **params: Any) -> Any:
    """The result of a method of `tasks/pushNotificationConfig`, or its error."""
    answer = await peer.rpc(f"tasks/pushNotificationConfig/{method}", **params)
    return answer["result"] if "result" in answer else answer["error"]


@ONE_RUNTIME
async def test_configurations_are_kept_until_they_are_deleted(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        config = {"url": HOOK, "token": "t", "authentication": {"schemes": ["Bearer"]}}
        made = await configured(peer, "set", taskId=task, pushNotificationConfig=config)
        second = {"id": "second", "url": HOOK}
        await configured(peer, "set", taskId=task, pushNotificationConfig=second)
        found = await configured(peer, "get", id=task)
        listed = await configured(peer, "list", id=task)
        gone = []
        for _ in range(2):
            removed = await configured(
                peer,
                "delete",
                id=task,
                pushNotificationConfigId=made["pushNotificationConfig"]["id"],
            )
            gone.append(removed)
        left = await configured(peer, "list", id=task)
        missing = await configured(peer, "get", id=task, pushNotificationConfigId="default")

        assert made == {"taskId": task, "pushNotificationConfig": {"id": "default", **config}}
        assert found == made
        assert [each["pushNotificationConfig"]["id"] for each in listed] == ["default", "second"]
        assert gone == [None, None]
        assert [each["pushNotificationConfig"]["id"] for each in left] == ["second"]
        assert missing["code"] == -32001


@ONE_RUNTIME
async def test_configurations_outlive_the_server(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        await configured(peer, "set", taskId=task, pushNotificationConfig={"url": HOOK})
    async with serve() as peer:
        found = await configured(peer, "get", id=task)

        assert found["pushNotificationConfig"] == {"id": "default", "url": HOOK}


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({}, "url"),
        ({"url": 5}, "url"),
        ({"url": ""}, "url"),
        ({"url": "ftp://localhost/x"}, "https://HOST/PATH"),
        ({"url": "http://user:word@localhost/x"}, "authentication"),
        ({"url": "http://10.0.0.1/x"}, "PARITY_A2A_CALLBACK_HOSTS"),
        ({"url": "https://169.254.169.254/latest"}, "PARITY_A2A_CALLBACK_HOSTS"),
        ({"url": "https://[::ffff:10.0.0.1]/x"}, "PARITY_A2A_CALLBACK_HOSTS"),
        ({"url": "http://example.com/x"}, "https://"),
        ({"url": HOOK, "token": "a\r\nx-injected: 1"}, "token"),
        ({"url": HOOK, "token": "x" * 5000}, "token"),
        ({"url": HOOK, "id": "x" * 5000}, "id"),
        (
            {"url": HOOK, "authentication": {"schemes": ["a\nb"], "credentials": "c"}},
            "authentication.schemes",
        ),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_refused(
    serve: Serve, config: Json, where: str
) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        refused = await configured(peer, "set", taskId=task, pushNotificationConfig=config)
        listed = await configured(peer, "list", id=task)

        assert refused["code"] == -32602
        assert where in refused["message"]
        assert listed == []


@ONE_RUNTIME
async def test_a_task_has_sixteen_configurations_at_most(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        answers = [
            await configured(
                peer, "set", taskId=task, pushNotificationConfig={"id": str(number), "url": HOOK}
            )
            for number in range(17)
        ]

        assert "taskId" in answers[15]
        assert answers[16]["code"] == -32602


async def test_a_client_of_0_3_gets_the_task_at_the_end_of_each_turn(serve: Serve) -> None:
    receiver = Receiver()
    async with serve(says("one"), says("two"), transport=receiver) as peer:
        configuration = {"pushNotificationConfig": {"url": HOOK, "token": "mine"}}
        message = peer.message("hi")
        answer = await peer.rpc("message/send", message=message, configuration=configuration)
        task = answer["result"]["id"]
        await receiver.got(1)
        await peer.say("more", task=task)
        bodies = await receiver.got(2)

        assert [body["id"] for body in bodies] == [task, task]
        assert [body["status"]["state"] for body in bodies] == ["input-required"] * 2
        assert bodies[1]["history"][-1]["parts"] == [{"kind": "text", "text": "two"}]
        assert receiver.requests[0].headers[TOKEN_HEADER] == "mine"


async def test_a_client_of_1_x_gets_the_events_in_their_order(serve: Serve) -> None:
    receiver = Receiver()
    async with serve(says("one"), transport=receiver) as peer:
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        authentication = {"scheme": "Bearer", "credentials": "known"}
        config = {"url": HOOK, "authentication": authentication}
        configuration = {"taskPushNotificationConfig": config}
        answer = await peer.http.post(
            "/message:send",
            json={"message": message, "configuration": configuration},
            headers=CURRENT,
        )
        bodies = await receiver.got(3)

        updates = [body["statusUpdate"] for body in bodies]
        assert {update["taskId"] for update in updates} == {answer.json()["task"]["id"]}
        assert [update["status"]["state"] for update in updates] == [
            "TASK_STATE_WORKING",
            "TASK_STATE_WORKING",
            "TASK_STATE_INPUT_REQUIRED",
        ]
        assert receiver.requests[0].headers["authorization"] == "Bearer known"


async def test_the_receiver_can_check_the_signature(serve: Serve) -> None:
    receiver = Receiver()
    async with serve(says("one"), transport=receiver) as peer:
        configuration = {"pushNotificationConfig": {"url": HOOK}}
        await peer.rpc("message/send", message=peer.message("hi"), configuration=configuration)
        bodies = await receiver.got(1)
        keys = (await peer.http.get("/.well-known/jwks.json")).json()["keys"]
        request = receiver.requests[0]
        signature = request.headers[SIGNATURE_HEADER]
        key = jwt.PyJWK(keys[0])
        claims = jwt.decode(signature, key, algorithms=["ES256"], audience=HOOK)

        assert jwt.get_unverified_header(signature)["kid"] == keys[0]["kid"]
        assert claims["taskId"] == bodies[0]["id"]
        assert claims["iss"] == "http://localhost/"
        assert claims["request_body_sha256"] == hashlib.sha256(request.content).hexdigest()
        # The signature is the credential of a client that names none.
        assert request.headers["authorization"] == f"Bearer {signature}"
        assert "d" not in keys[0]


async def test_a_turn_goes_on_without_its_client_where_it_is_called_back(serve: Serve) -> None:
    receiver = Receiver()
    slow = calls("run_shell_command", command="sleep 0.2; echo slept", description="d")
    async with serve(slow, says("done"), transport=receiver) as peer:
        serving, gone = await peer.begun(
            '"status":"executing"',
            message=peer.message("go", autoExecute=True),
            configuration={"pushNotificationConfig": {"url": HOOK}},
        )
        gone.set()
        await serving
        bodies = await receiver.got(1)

        assert bodies[-1]["status"]["state"] == "input-required"
        assert bodies[-1]["history"][-1]["parts"] == [{"kind": "text", "text": "done"}]


async def test_a_turn_in_the_dialect_of_the_extension_goes_on_without_its_client(
    serve: Serve, folders: Path
) -> None:
    file = folders / "home" / ".gemini" / "settings.json"
    file.write_text('{"tools": {"allowed": ["run_shell_command"]}}')
    slow = calls("run_shell_command", command="sleep 0.2; echo slept", description="d")
    async with serve(slow, says("done")) as peer:
        message = peer.message("go")
        message["metadata"] = {EXTENSION_URI: {"workspacePath": str(peer.workspace)}}
        headers = {EXTENSION_HEADERS[0]: EXTENSION_URI}
        serving, gone = await peer.begun('"EXECUTING"', headers, message=message)
        gone.set()
        await serving
        task = peer.tasks.all_open()[0]
        await task.idle()

        assert task.record.state == "completed"
        assert task.record.history[-1]["parts"] == [{"kind": "text", "text": "done"}]
