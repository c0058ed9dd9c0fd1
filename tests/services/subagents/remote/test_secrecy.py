"""Credentials are in no place that anybody reads: every sink is searched."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from typing import Any

import pytest

from agent_protocol.codec import to_wire
from services.abort import AbortController
from services.background import background_tasks
from services.subagents.remote.errors import AgentConnectionError, RemoteAgentError
from services.subagents.remote.protocol import RemoteSubagentProtocol
from services.subagents.remote.results import Conversation
from services.subagents.remote.secrets import Secrets
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time, text_of
from tests.services.subagents.remote.test_protocol import message

WRONG = 'wrong "0b5e77" \\ q'
AUTHS: list[dict[str, Any]] = [
    {"type": "apiKey", "key": "$FAR_SECRET"},
    {"type": "apiKey", "key": "!cat secret"},
    {"type": "http", "scheme": "Bearer", "token": "$FAR_SECRET"},
    {"type": "http", "scheme": "Basic", "username": "ada", "password": "$FAR_SECRET"},
    {"type": "http", "scheme": "Digest", "value": "$FAR_SECRET"},
]


def forms(secret: str) -> list[str]:
    """How a secret may stand in a text."""
    inner = json.dumps(secret)[1:-1]
    return [
        secret,
        inner,
        json.dumps(inner)[1:-1],
        base64.b64encode(f"ada:{secret}".encode()).decode(),
    ]


@pytest.mark.parametrize("auth", AUTHS, ids=[f"{n}" for n in range(len(AUTHS))])
@pytest.mark.parametrize("query", ["echo", "fail", "say hello"])
@pytest.mark.parametrize("path", ["now", "locked.key", "locked.bearer"])
@on_virtual_time
@pytest.mark.sampled(9)
async def test_no_sink_has_a_credential(
    server: Server,
    opened: Open,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Any,
    auth: dict[str, Any],
    query: str,
    path: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "secret").write_text(WRONG)
    sinks: list[str] = []
    async with opened(variables={"FAR_SECRET": WRONG}) as session:
        definition = agent(card_url=server.card(path), auth=auth)
        for sessions in (False, True):
            result = await session.call(definition, query, sessions=sessions)
            sinks += [text_of(result), repr(result)]
        async with background_tasks() as tasks:
            protocol = RemoteSubagentProtocol(definition, session.agents, tasks, Conversation())
            await protocol.send(message(query))
            try:
                sinks.append(repr(await protocol.result()))
            except RemoteAgentError as error:
                sinks.append("".join(traceback.format_exception(error)))
        sinks += [json.dumps([to_wire(event) for event in protocol.events]), repr(session.shown)]
        sinks.append(repr(vars(session.agents)["_conversations"]))
    sinks.append(caplog.text)
    found = [(form, sink) for sink in sinks for form in forms(WRONG) if form in sink]
    assert found == []
    if query == "echo" and path == "now":
        # The server did send it back.
        assert "REDACTED" in sinks[0]


@on_virtual_time
async def test_a_failed_load_has_no_credential_in_its_chain(
    server: Server, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    auth = {"type": "http", "scheme": "Bearer", "token": WRONG}
    async with opened() as session:
        for url in (server.bad("private"), server.bad("page"), "http://127.0.0.1:9/"):
            with pytest.raises(RemoteAgentError) as refused:
                await session.agents.load(agent(card_url=url, auth=auth))
            said = "".join(traceback.format_exception(refused.value))
            assert [form for form in forms(WRONG) if form in said + caplog.text] == []


@pytest.mark.parametrize("key", ["caf\u00e9-4711", "two\nlines-4711", "bell\a-4711"])
@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@on_virtual_time
async def test_a_credential_that_no_header_may_have_is_not_repeated(
    server: Server, opened: Open, key: str, sessions: bool
) -> None:
    async with opened() as session:
        result = await session.call(
            agent(card_url=server.card("now"), auth={"type": "apiKey", "key": key}),
            "say never",
            sessions=sessions,
        )
    assert "the header X-API-Key have characters that no header may have" in text_of(result)
    assert "4711" not in repr(result)


@on_virtual_time
async def test_the_stack_of_a_failure_has_no_credential(opened: Open) -> None:
    key = "key-0b5e77aa"
    definition = agent(
        card_json=json.dumps({"url": f"ftp://h/{key}"}), auth={"type": "apiKey", "key": key}
    )
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(definition, session.agents, tasks, Conversation())
        await protocol.send(message("x"))
        with pytest.raises(
            AgentConnectionError, match="Connection failed for inline JSON"
        ) as refused:
            await protocol.result()
    assert key not in str(refused.value)
    assert key not in json.dumps([to_wire(event) for event in protocol.events])


@on_virtual_time
async def test_a_card_that_repeats_a_credential_is_masked(opened: Open) -> None:
    card = {"url": "http://127.0.0.1:9/", "description": f"Use {WRONG}!"}
    async with opened() as session:
        found = await session.agents.load(
            agent(card_json=json.dumps(card), auth={"type": "apiKey", "key": WRONG})
        )
    assert found.description == "Use REDACTEDxxxxxxxxxx!"


@on_virtual_time
async def test_an_aborted_call_has_no_credential_in_its_log(
    server: Server, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    abort = AbortController()
    auth = {"type": "http", "scheme": "Bearer", "token": WRONG}
    async with opened() as session:
        await session.call(
            agent(card_url=server.card("now"), auth=auth),
            "wait",
            abort=abort,
            on_show=lambda shown: abort.abort() if "result" in shown else None,
        )
    assert [form for form in forms(WRONG) if form in caplog.text] == []


def test_masks_are_as_long_as_what_they_hide_and_short_texts_are_left() -> None:
    secrets = Secrets()
    assert secrets.masked("abc") == "abc"
    secrets.add("ab", "hunter2222", "hunter2222-and-more")
    assert secrets.masked("ab: hunter2222-and-more, hunter2222") == (
        "ab: REDACTEDxxxxxxxxxxx, REDACTEDxx"
    )
    assert secrets.masked_value({"hunter2222": ["x", 1, None, {"y": "hunter2222"}]}) == {
        "REDACTEDxx": ["x", 1, None, {"y": "REDACTEDxx"}]
    }
