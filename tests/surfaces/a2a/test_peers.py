"""Other clients complete a task: `@a2a-js/sdk` under node, and our own client of remote agents.

`nox -s tests` installs the packages where there is npm. By hand: `npm install --ignore-scripts
--prefix FOLDER @a2a-js/sdk@1.3.0 a2a-js-sdk-0.3@npm:@a2a-js/sdk@0.3.13`, then set `PARITY_A2A_SDK`
to FOLDER.
"""

import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest
from a2a.client.client import ClientCallContext
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from runtimes.published import UpstreamUnavailable
from runtimes.published.node import find_node
from services.subagents.remote.cards import CardInterface, checked_card, interface
from services.subagents.remote.chunks import chunk_of
from services.subagents.remote.client import A2AClient
from services.subagents.remote.results import Conversation, ResultReassembler
from services.subagents.remote.transports import transport_for
from services.wire import JsonObject
from tests.surfaces.a2a.conftest import ONE_RUNTIME, Serve
from tests.surfaces.a2a.serving import started
from tests.surfaces.headless.conftest import calls, says, write_answers

FOLDER = "PARITY_A2A_SDK"
CLIENT = Path(__file__).with_name("peer.mjs")


@pytest.fixture
def words(folders: Path, runtime: str) -> list[str]:
    answers = write_answers(
        folders / "answers.jsonl",
        calls("write_file", file_path="a.txt", content="hello\n"),
        calls("run_shell_command", command="echo one; mkdir made; echo two", description="d"),
        says("Done."),
    )
    return ["--runtime", runtime, "--fake-responses", str(answers)]


@pytest.fixture(scope="module")
def client() -> list[str]:
    """The command of the client."""
    folder = Path(os.environ.get(FOLDER, "")).resolve()
    if not (folder / "node_modules" / "@a2a-js" / "sdk").is_dir():
        pytest.skip(f"{FOLDER} names no folder with the packages; npm installs them")
    try:
        return [str(find_node()), str(CLIENT), str(folder)]
    except UpstreamUnavailable as error:
        pytest.skip(str(error))


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("version", "transport"),
    [("0.3", "JSONRPC"), ("1.0", "JSONRPC"), ("1.0", "HTTP+JSON")],
)
def test_the_client_of_javascript_confirms_two_calls(
    client: list[str], folders: Path, words: list[str], version: str, transport: str
) -> None:
    with started(folders, *words, approves=False) as (_, http):
        ran = subprocess.run(
            [*client, str(http.base_url), str(folders / "ws"), version, transport],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)

    assert seen["confirmed"] == ["write_file", "run_shell_command"]
    assert seen["done"] == ["write_file", "run_shell_command"]
    assert "one" in seen["output"][0]
    assert "two" in seen["output"][-1]
    assert seen["texts"][-1] == "Done."
    assert seen["last"] in ("input-required", 6)
    assert seen["history"] > 5
    assert (folders / "ws" / "a.txt").read_text() == "hello\n"
    assert (folders / "ws" / "made").is_dir()


BOTH = (
    calls("write_file", file_path="a.txt", content="hello\n"),
    calls("run_shell_command", command="echo one; mkdir made; echo two", description="d"),
    says("Done."),
)


async def answered(
    way: CardInterface, http: httpx.AsyncClient, conversation: Conversation, call_id: str
) -> list[JsonObject]:
    """The chunks after the call has been approved. `A2AClient` sends texts only."""
    answer = ParseDict({"callId": call_id, "outcome": "proceed_once"}, Value())
    message = Message(
        role=Role.ROLE_USER,
        message_id=f"answer-{call_id}",
        parts=[Part(data=answer)],
        task_id=conversation.task_id or "",
    )
    stream = transport_for(way, http).send_message_streaming(
        SendMessageRequest(message=message), context=ClientCallContext()
    )
    return [chunk_of(each) async for each in stream]


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_client_of_remote_agents_confirms_two_calls(
    serve: Serve, binding: str, version: str
) -> None:
    async with serve(*BOTH) as peer:
        card = checked_card((await peer.http.get("/1.0/.well-known/agent-card.json")).json())
        card["supportedInterfaces"] = [
            each
            for each in card["supportedInterfaces"]
            if (each["protocolBinding"], each["protocolVersion"]) == (binding, version)
        ]
        way = interface(card)
        client = A2AClient(way, peer.http, streaming=True)
        conversation = Conversation()
        chunks = [chunk async for chunk in client.send("go", "m1", conversation)]
        confirmed = []
        for _ in range(2):
            for chunk in chunks:
                conversation = conversation.after(chunk)
            call_id = (await peer.tasks.find(conversation.task_id or "")).waiting[0]
            confirmed.append(call_id)
            chunks = await answered(way, peer.http, conversation, call_id)
        result = ResultReassembler()
        for chunk in chunks:
            result.update(chunk)

        assert way.legacy is (version == "0.3")
        assert confirmed == ["write_file__c1", "run_shell_command__c1"]
        assert (peer.workspace / "a.txt").read_text() == "hello\n"
        assert (peer.workspace / "made").is_dir()
        live = [chunk for chunk in chunks if chunk["kind"] == "artifact-update"]
        assert "one" in live[0]["artifact"]["parts"][0]["text"]
        assert "Done." in result.text()
        assert chunks[-1]["status"]["state"] == "input-required"
