"""The HTTP addresses of a run: what they answer, what is observed, and what is left over."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.replay.confining import confining
from harness.replay.http_server import HttpServer, open_http_server
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.replay.surfaces import surface_of
from tests.runtimes.upstream.stand_ins import calls, needs_core

CARD = {
    "name": "Far",
    "description": "Knows prices.",
    "url": "http://127.0.0.1:<PORT>/rpc",
    "version": "1",
    "protocolVersion": "0.3.0",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text"],
    "defaultOutputModes": ["text"],
    "skills": [],
}
AGENT = """---
kind: remote
name: far
description: Asks.
agent_card_url: http://127.0.0.1:<PORT>/card
---
"""


def cassette(http: Steps, **keys: Any) -> Cassette:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        "http": http,
        "model": [{"text": "hi"}],
        **keys,
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


Steps = list[dict[str, Any]]
Test = Callable[[HttpServer, httpx.AsyncClient], Awaitable[None]]


def served(http: Steps, test: Test) -> HttpServer:
    """Serve the steps to the client of a test."""

    async def run() -> HttpServer:
        async with open_http_server(cassette(http).http) as server:
            base = f"http://127.0.0.1:{server.port}"
            async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
                await test(server, client)
        return server

    return asyncio.run(run())


def test_each_request_takes_the_first_unused_step_that_fits() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        with_key = {"x-key": "k"}
        assert (await client.get("/a", headers=with_key)).json() == {"n": 2}
        first = await client.get("/a")
        assert (first.status_code, first.json(), first.headers["x-b"]) == (201, {"n": 1}, "c")
        assert first.headers["content-type"] == "application/json"
        assert (await client.get("/a")).status_code == 501
        assert (await client.post("/a")).text == "three"

    steps: Steps = [
        {"get": "/a", "sent": {"X-Key": "k"}, "json": {"n": 2}},
        {"get": "/a", "json": {"n": 1}, "status": 201, "headers": {"X-B": "c"}},
        {"post": "/a", "text": "three"},
    ]
    server = served(steps, ask)
    assert server.notes == ["no step of http fits GET /a"]


def test_a_call_of_json_rpc_is_answered_with_its_id() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        async def call(method: str, id_: int) -> Any:
            asked = {"jsonrpc": "2.0", "id": id_, "method": method}
            response = await client.post("/rpc", json=asked)
            return response.json() if response.is_success else response.status_code

        assert await call("b", 7) == {"jsonrpc": "2.0", "id": 7, "error": {"code": 1}}
        assert await call("a", 8) == {"jsonrpc": "2.0", "id": 8, "result": [2]}
        assert await call("c", 9) == 501

    steps: Steps = [
        {"post": "/rpc", "rpc": "a", "result": [2]},
        {"post": "/rpc", "rpc": "b", "error": {"code": 1}},
    ]
    assert served(steps, ask).notes == ["no step of http fits POST /rpc c"]


def test_a_stream_is_sent_event_by_event() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        asked = {"jsonrpc": "2.0", "id": "i", "method": "m"}
        response = await client.post("/rpc", json=asked)
        assert response.headers["content-type"] == "text/event-stream"
        head = '"jsonrpc":"2.0","id":"i"'
        assert response.text == (
            f'data: {{{head},"result":{{"a":1}}}}\n\n'
            f'data: {{{head},"error":{{"code":2}}}}\n\n'
            ": raw\n\n"
        )
        assert (await client.get("/plain")).text == 'data: {"a":1}\n\n'

    pieces = [{"a": 1}, {"$error": {"code": 2}}, {"$raw": ": raw\n\n"}]
    steps: Steps = [
        {"post": "/rpc", "rpc": "m", "stream": pieces},
        {"get": "/plain", "stream": [{"a": 1}]},
    ]
    served(steps, ask)


def test_a_connection_is_cut_before_or_in_an_answer() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.TransportError):
            await client.get("/at_once")
        async with client.stream("GET", "/later") as response:
            assert response.status_code == 200
            with pytest.raises(httpx.TransportError):
                await response.aread()

    served(
        [{"get": "/at_once", "cut": True}, {"get": "/later", "stream": [{}, {"$cut": True}]}], ask
    )


@pytest.mark.parametrize("step", [{"hang": True}, {"stream": [{}, {"$hang": True}]}])
def test_an_answer_hangs_until_the_client_leaves(step: dict[str, Any]) -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/a", timeout=httpx.Timeout(30, read=0.05))

    served([{"get": "/a", **step}], ask)


def test_a_step_that_is_left_over_is_noted_unless_it_is_optional() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        await client.get("/b")

    steps: Steps = [
        {"get": "/a", "json": 1},
        {"get": "/b", "json": 1},
        {"get": "/c", "json": 1, "optional": True},
    ]
    assert served(steps, ask).notes == ["http[0] (GET /a) was not asked for"]


def test_requests_are_observed_by_address_without_what_is_random() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        for number, id_ in enumerate("xyx"):
            message = {"messageId": id_, "parts": []}
            asked = {"jsonrpc": "2.0", "id": number, "params": {"message": message}}
            await client.post("/z", json=asked, headers={"Authorization": "Basic 1"})
        await client.post("/a", content=b"no JSON")

    found = served([{"post": "/z", "json": 1, "repeat": 3}, {"post": "/a", "json": 1}], ask)
    first, *others = found.observed()["http"]
    assert first == {"request": "POST /a", "headers": {}, "body": "no JSON"}
    assert [each["request"] for each in others] == ["POST /z"] * 3
    assert others[0]["headers"] == {
        "authorization": "Basic 1",
        "content-type": "application/json",
    }
    bodies = [each["body"] for each in others]
    assert {body["id"] for body in bodies} == {"<id>"}
    numbers = [body["params"]["message"]["messageId"] for body in bodies]
    assert numbers == ["<message 0>", "<message 1>", "<message 0>"]


def test_without_steps_no_port_is_opened() -> None:
    async def run() -> HttpServer:
        async with open_http_server(()) as server:
            return server

    server = asyncio.run(run())
    assert (server.port, server.masks, server.observed(), server.notes) == (None, {}, {}, [])


def test_what_is_no_http_ends_its_connection_alone() -> None:
    async def ask(server: HttpServer, client: httpx.AsyncClient) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"\x00\x01\r\n\r\n")
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
        assert (await client.get("/a")).json() == 1

    served([{"get": "/a", "json": 1}], ask)


def part(text: str) -> dict[str, Any]:
    return {"kind": "text", "text": text}


def working(text: str) -> dict[str, Any]:
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [part(text)]}
    status = {"state": "working", "message": message}
    ids = {"taskId": "t", "contextId": "c"}
    return {"kind": "status-update", **ids, "status": status, "final": False}


STREAMED: Steps = [
    {"get": "/card", "json": CARD},
    {
        "post": "/rpc",
        "rpc": "message/stream",
        "stream": [working("One. "), working("Two."), {"$hang": True}],
    },
    {"post": "/rpc", "rpc": "tasks/cancel", "result": {}, "optional": True},
]


def played(runtime: str, http: Steps, **keys: Any) -> Observation:
    asked = calls("invoke_agent", agent_name="far", prompt="ask")
    given = cassette(
        http, home_files={".gemini/agents/far.md": AGENT}, model=[asked, {"text": "ok"}], **keys
    )
    return run_cassette(given, runtime)


@pytest.mark.parametrize("runtime", ["legacy", "adk", pytest.param("upstream", marks=needs_core)])
def test_every_player_asks_the_addresses_and_reads_their_answers(runtime: str) -> None:
    http = [*STREAMED[:1], {**STREAMED[1], "stream": STREAMED[1]["stream"][:2]}]
    seen = played(runtime, http)
    assert (seen.error, seen.notes) == (None, [])
    (answer,) = [
        part["functionResponse"]["response"]["output"]
        for content in seen.transcript
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert answer == "One. Two."
    card, call = seen.custom["http"]
    assert card["request"] == "GET /card"
    assert call["body"]["params"]["message"]["parts"] == [part("ask")]


@pytest.mark.parametrize("runtime", ["legacy", "adk", pytest.param("upstream", marks=needs_core)])
def test_an_abort_at_a_later_output_comes_while_the_agent_streams(runtime: str) -> None:
    moment = {"when": {"output": {"of": "invoke_agent", "nth": 3}}, "do": "abort"}
    seen = played(runtime, STREAMED, during=[moment], unused=[1])
    assert seen.notes == []
    assert [event["reason"] for event in seen.events if event["type"] == "agent_end"] == ["aborted"]
    (shown,) = (seen.progress or {}).values()
    assert shown[2]["agent"]["result"] == "One. Two."


@pytest.mark.parametrize("runtime", ["legacy", "adk", pytest.param("upstream", marks=needs_core)])
def test_an_abort_at_a_request_comes_before_its_answer(runtime: str) -> None:
    http: Steps = [STREAMED[0], {"post": "/rpc", "hang": True}]
    seen = played(runtime, http, during=[{"when": {"http": 1}, "do": "abort"}], unused=[1])
    assert [event["reason"] for event in seen.events if event["type"] == "agent_end"] == ["aborted"]
    assert [each["request"] for each in seen.custom["http"]] == ["GET /card", "POST /rpc"]


def test_the_port_is_masked_wherever_it_shows() -> None:
    http = [{"get": "/card", "status": 404, "text": "no"}]
    seen = played("legacy", http)
    shown = [event["message"] for event in seen.side_events if "message" in event]
    masked = seen.paths.mask_json(json.dumps(shown))
    assert "http://127.0.0.1:<PORT>/card" in masked
    assert "<PORT>" not in json.dumps(shown)


def test_a_confined_run_opens_no_port_and_reaches_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen(*_: Any) -> socket.socket:
        raise AssertionError("the run listens")

    monkeypatch.setattr("services.net.loopback.listening_socket", listen)
    with confining(True):
        seen = played("legacy", STREAMED)
    assert seen.refused is not None
    assert "a connection is refused" in seen.refused


@pytest.mark.parametrize("surface", ["terminal", "acp", "a2a"])
def test_a_surface_refuses_an_action_while_an_address_hangs(surface: str) -> None:
    refusal = surface_of(f"{surface}:adk").refusal
    moment = {"when": {"http": 0}, "do": "abort"}
    for hanging in ({"hang": True}, {"stream": [{}, {"$hang": True}]}):
        http: Steps = [{"post": "/rpc", **hanging}]
        assert "keeps it waiting" in str(refusal(cassette(http, during=[moment])))
        assert refusal(cassette(http)) is None
    assert refusal(cassette([{"get": "/", "stream": [{}]}], during=[moment])) is None
