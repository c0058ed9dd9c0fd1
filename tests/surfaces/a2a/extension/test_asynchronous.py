"""Section 2.1, "Asynchronous Responses and Notifications", and section 4."""

import json
import sys
from pathlib import Path
from typing import Any

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from tests.surfaces.a2a.conftest import Json, Peer, Serve
from tests.surfaces.a2a.extension.client import asked, folded, played, updates, valid
from tests.surfaces.a2a.push.test_notifications import HOOK, Receiver
from tests.surfaces.headless.conftest import calls, says

SERVER = {
    "command": sys.executable,
    "args": [str(Path(__file__).parents[4] / "cassettes" / "mcp_server.py")],
}
COMPLETED = ("STATE_CHANGE", "completed", True)


async def without_stream(peer: Peer, message: Json, **configuration: Any) -> Json:
    """The result of `message/send`, which does not wait for the turn."""
    peer.http.headers[EXTENSION_HEADERS[0]] = EXTENSION_URI
    settings = {"blocking": False, **configuration}
    answer = await peer.rpc("message/send", message=message, configuration=settings)
    found: Json = answer["result"]
    return found


async def test_2_1_a_configuration_with_the_first_message_is_called_back(serve: Serve) -> None:
    receiver = Receiver()
    async with serve(says("done"), transport=receiver) as peer:
        peer.http.headers[EXTENSION_HEADERS[0]] = EXTENSION_URI
        answers = await peer.stream(
            "message/stream",
            message=asked(peer, "hi"),
            configuration={"pushNotificationConfig": {"url": HOOK, "token": "t"}},
        )
        (called,) = await receiver.got(1)

    events = [valid(answer["result"]) for answer in answers]
    assert folded(events)[-1] == COMPLETED
    assert called["id"] == events[0]["id"]
    assert called["status"]["state"] == "completed"


async def test_2_1_a_configuration_that_is_set_later_is_called_back(serve: Serve) -> None:
    receiver = Receiver()
    async with serve(says("one"), says("two"), transport=receiver) as peer:
        first = await played(peer, asked(peer, "hi"))
        task = first[0]["id"]
        config = {"url": HOOK}
        await peer.rpc(
            "tasks/pushNotificationConfig/set", taskId=task, pushNotificationConfig=config
        )
        # The client is gone before the turn ends.
        await without_stream(peer, asked(peer, "more", task=task))
        (called,) = await receiver.got(1)
        found = (await peer.rpc("tasks/get", id=task, historyLength=20))["result"]

    assert called["id"] == task
    assert called["status"]["state"] == found["status"]["state"] == "completed"
    assert "two" in json.dumps(found["history"])


async def test_4_the_context_of_a_client_comes_from_its_mcp_server(
    serve: Serve, folders: Path
) -> None:
    settings = folders / "home" / ".gemini" / "settings.json"
    settings.write_text(json.dumps({"mcpServers": {"client": SERVER}}))
    async with serve(calls("mcp_client_sum", a=1, b=2), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        call = updates(first)[-1]
        answer = {"toolCallId": call.tool_call_id, "selectedOptionId": "proceed_once"}
        second = await played(peer, asked(peer, answer, task=first[0]["id"]))

    request = call.confirmation_request
    assert request is not None
    assert request.mcp_details is not None
    assert request.mcp_details.server_name == "client"
    result = updates(second)[-1]
    assert result.status == "SUCCEEDED"
    assert result.output is not None
