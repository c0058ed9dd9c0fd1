"""Sections 3.1, "Versioning", and 3.2, "Initialization & Configuration"."""

import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI, asked_version
from surfaces.a2a.wire import RpcError
from tests.surfaces.a2a.conftest import Serve
from tests.surfaces.a2a.extension.client import asked, folded, played
from tests.surfaces.headless.conftest import says


def at(version: str) -> str:
    """The extension's URI in a version."""
    return EXTENSION_URI.replace("/v0/", f"/{version}/")


async def test_3_1_sample_agent_card_lists_the_extension(serve: Serve) -> None:
    async with serve() as peer:
        card = (await peer.http.get("/.well-known/agent-card.json")).json()

        (entry,) = card["capabilities"]["extensions"]
        assert (entry["uri"], entry["required"]) == (EXTENSION_URI, True)


@pytest.mark.parametrize(
    ("own", "client"),
    [
        ("v0", "v0"),
        ("v0", "v0.0.0"),
        ("v0", "v0+build.5"),
        ("v1.2.0", "v1"),
        ("v1.2.0", "v1.2.9"),
        ("v1.0.0-rc.1", "v1.0.0-rc.1"),
    ],
)
def test_3_1_versioning_serves(own: str, client: str) -> None:
    headers = [f"https://example.com/other, {at(client)}"]

    assert asked_version(headers, at(own)) == at(client)


@pytest.mark.parametrize(
    ("own", "client"),
    [
        ("v0", "v0.0.1"),
        ("v0", "v1"),
        ("v1.2.0", "v1.3.0"),
        ("v1.2.0", "v2.0.0"),
        ("v1.2.0", "v1.2.0-rc.1"),
        ("v1.0.0-rc.1", "v1.0.0"),
        ("v0", "v00"),
        ("v0", "latest"),
    ],
)
def test_3_1_versioning_refuses(own: str, client: str) -> None:
    with pytest.raises(RpcError, match="ask for") as caught:
        asked_version([at(client)], at(own))

    assert caught.value.code == -32004


@pytest.mark.parametrize("header", EXTENSION_HEADERS)
async def test_3_1_the_answer_names_the_extension(serve: Serve, header: str) -> None:
    async with serve(says("one")) as peer:
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send"}
        params = {"message": asked(peer, "hi")}
        answer = await peer.http.post(
            "/", json={**body, "params": params}, headers={header: EXTENSION_URI}
        )

        assert answer.headers[header] == EXTENSION_URI
        assert answer.json()["result"]["status"]["state"] == "completed"


async def test_3_1_an_incompatible_version_is_an_error(serve: Serve) -> None:
    async with serve() as peer:
        peer.http.headers[EXTENSION_HEADERS[0]] = at("v1")
        message = asked(peer, "hi", uri=at("v1"))
        error = (await peer.rpc("message/stream", message=message))["error"]

        assert error["code"] == -32004
        assert EXTENSION_URI in error["message"]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (None, "no AgentSettings"),
        ({"coderAgent": {"kind": "agent-settings"}}, "no AgentSettings"),
        ({EXTENSION_URI: {}}, "AgentSettings.workspacePath"),
        ({EXTENSION_URI: []}, "AgentSettings"),
        ({EXTENSION_URI: {"workspacePath": "here"}}, "absolute"),
    ],
)
async def test_3_2_the_first_message_must_contain_agent_settings(
    serve: Serve, metadata: object, words: str
) -> None:
    async with serve() as peer:
        (error,) = await played(peer, {**asked(peer, "hi"), "metadata": metadata})

        assert error["code"] == -32602
        assert words in error["message"]


async def test_3_2_agent_settings_without_the_header_are_an_error(serve: Serve) -> None:
    async with serve() as peer:
        (error,) = await played(peer, asked(peer, "hi"), None)

        assert error["code"] == -32602
        assert "A2A-Extensions" in error["message"]


async def test_3_2_a_task_keeps_its_dialect(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        published = (await peer.say("hi"))[0]["id"]
        (error,) = await played(peer, asked(peer, "more", task=published))

        assert error["code"] == -32602
    async with serve(says("one")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
    async with serve(says("two")) as peer:
        events = await played(peer, asked(peer, "more", task=task), None)

        assert folded(events)[-1] == ("STATE_CHANGE", "completed", True)


async def test_3_2_a_folder_that_is_refused_fails_the_task(serve: Serve) -> None:
    async with serve() as peer:
        message = asked(peer, "hi")
        message["metadata"] = {EXTENSION_URI: {"workspacePath": "/nope/nope"}}
        events = await played(peer, message)

        assert events[-1]["metadata"][EXTENSION_URI]["error"].endswith("does not exist")
        assert (events[-1]["status"]["state"], events[-1]["final"]) == ("failed", True)
