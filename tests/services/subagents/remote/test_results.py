"""How the pieces of an answer become one text."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role, StreamResponse
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from services.subagents.remote.cards import target_url
from services.subagents.remote.chunks import chunk_of
from services.subagents.remote.invocation import remote_invocation
from services.subagents.remote.results import (
    AUTH_REQUIRED,
    Conversation,
    ResultReassembler,
    is_terminal,
)
from services.tools.contract import InvalidToolParams
from tests.services.subagents.remote.conftest import Open, agent, on_virtual_time


def text(words: str) -> dict[str, Any]:
    return {"kind": "text", "text": words}


def said(words: str, role: str = "agent") -> dict[str, Any]:
    return {"kind": "message", "role": role, "parts": [text(words)]}


def status(state: str, words: str | None = None) -> dict[str, Any]:
    inner = {"state": state, "message": None if words is None else said(words)}
    return {"kind": "status-update", "taskId": "t", "contextId": "c", "status": inner}


def artifact(words: str, *, key: str = "a", name: str = "", append: bool = False) -> dict[str, Any]:
    inner = {"artifactId": key, "name": name, "parts": [text(words)]}
    return {"kind": "artifact-update", "artifact": inner, "append": append}


def of(*chunks: dict[str, Any]) -> ResultReassembler:
    found = ResultReassembler()
    for chunk in chunks:
        found.update(chunk)
    return found


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], ""),
        ([{}, {"kind": "unknown"}], ""),
        ([said("one"), said("two")], "onetwo"),
        ([said("one"), said("one"), said("two"), said("one")], "onetwoone"),
        ([said("mine", "user"), said("yours")], "yours"),
        ([said(""), said("x")], "x"),
        ([status("working", "a"), status("completed", "b")], "ab"),
        ([artifact("x")], "Artifact:\nx"),
        ([artifact("x", name="n"), artifact("y", append=True)], "Artifact (n):\nxy"),
        ([artifact("x", name="n"), artifact("y", name="m")], "Artifact (m):\ny"),
        ([artifact("x", append=True)], "Artifact:\nx"),
        (
            [artifact("x"), said("m"), artifact("y", key="b", name="n")],
            "m\n\nArtifact:\nx\n\nArtifact (n):\ny",
        ),
        ([status("auth-required"), status("auth-required", "so")], f"{AUTH_REQUIRED}so"),
    ],
)
def test_messages_come_first_then_every_artifact(
    chunks: list[dict[str, Any]], expected: str
) -> None:
    assert of(*chunks).text() == expected


def task(state: str, **given: Any) -> dict[str, Any]:
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}, **given}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([task("completed", history=[said("a"), said("b"), said("u", "user")])], "b"),
        ([task("working", history=[said("a")])], ""),
        ([said("m"), task("completed", history=[said("a")])], "m"),
        ([artifact("x"), task("completed", history=[said("a")])], "Artifact:\nx"),
        ([task("failed", history=[said("u", "user")])], ""),
        (
            [artifact("x"), task("completed", artifacts=[artifact("y", name="n")["artifact"]])],
            "Artifact (n):\ny",
        ),
    ],
)
def test_a_task_without_a_last_message_answers_from_its_history(
    chunks: list[dict[str, Any]], expected: str
) -> None:
    assert of(*chunks).text() == expected


def test_progress_shows_work_until_the_first_message() -> None:
    def item(key: str, content: str, state: str) -> dict[str, str]:
        return {"id": key, "type": "thought", "content": content, "status": state}

    assert of().activity() == [item("pending", "Working...", "running")]
    assert of(artifact("x")).activity() == [item("pending", "Working...", "running")]
    assert of(said(" a \n"), said("b")).activity() == [
        item("msg-0", "a", "completed"),
        item("msg-1", "b", "completed"),
    ]
    assert of(status("auth-required")).activity() == [
        item("auth-required", AUTH_REQUIRED, "running"),
        item("msg-0", AUTH_REQUIRED, "completed"),
    ]


def test_a_conversation_keeps_its_context_and_drops_ended_tasks() -> None:
    begun = Conversation().after(task("working"))
    assert begun == Conversation("c", "t")
    assert begun.after({}) == begun
    assert begun.after(said("x")) == begun
    assert begun.after(artifact("x")) == begun
    assert begun.after({**said("x"), "contextId": "d", "taskId": "u"}) == Conversation("d", "u")
    for state in ("completed", "failed", "canceled", "rejected"):
        assert is_terminal(state)
        assert begun.after(status(state)) == Conversation("c", None)
        assert begun.after(task(state)) == Conversation("c", None)
    for state in ("working", "submitted", "input-required", "auth-required", "unknown"):
        assert begun.after(status(state)) == begun


def test_data_has_one_order_whatever_table_it_comes_from() -> None:
    value = ParseDict({"c": {"z": 1, "y": [{"b": None, "a": False}]}, "b": "x"}, Value())
    answer = StreamResponse(message=Message(role=Role.ROLE_AGENT, parts=[Part(data=value), Part()]))
    assert of(chunk_of(answer)).text() == ('Data: {"b":"x","c":{"y":[{"a":false,"b":null}],"z":1}}')
    assert chunk_of(StreamResponse()) == {}


@on_virtual_time
async def test_a_call_is_always_confirmed_and_says_whom_it_calls(opened: Open) -> None:
    definition = agent(display_name="Far Away", card_url="https://h/card")
    async with opened() as session:
        for sessions in (False, True):
            call = remote_invocation(
                definition,
                {"query": "buy it"},
                agents=session.agents,
                host=session.host,
                sessions=sessions,
            )
            details = call.confirmation_details()
            assert details is not None
            assert (details.type, details.title) == ("info", "Call Remote Agent: Far Away")
            assert details.fields == {"prompt": 'Calling remote agent: "buy it"'}
            assert call.description() == "Calling remote agent Far Away"
            assert call.params == {"query": "buy it"}


@on_virtual_time
async def test_a_query_is_a_text_or_the_default(opened: Open) -> None:
    async with opened() as session:
        given = {"agents": session.agents, "host": session.host, "sessions": False}
        assert remote_invocation(agent(), {}, **given).params == {"query": "Get Started!"}
        assert remote_invocation(agent(), {"query": ""}, **given).params == {"query": ""}
        with pytest.raises(
            InvalidToolParams, match="Remote agent 'far' requires a string 'query' input"
        ):
            remote_invocation(agent(), {"query": 7}, **given)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({"card_url": "https://h/card"}, "https://h/card"),
        ({"card_json": '{"url": "https://h/"}'}, "https://h/"),
        ({"card_json": '{"url": ""}'}, None),
        ({"card_json": "["}, None),
        ({"card_json": "[]"}, None),
        ({}, None),
    ],
)
def test_credentials_are_for_the_cards_address(given: dict[str, str], url: str | None) -> None:
    assert target_url(agent(**given)) == url
