"""What a call of a remote agent brings back, over every protocol and transport that we speak."""

from __future__ import annotations

from typing import Any

import pytest

from services.subagents.remote.results import AUTH_REQUIRED, Conversation
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time, text_of

STREAMING = ["now", "old", "rest", "oldrest"]
EVERY = [*STREAMING, *(f"{name}-still" for name in STREAMING)]


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@pytest.mark.parametrize("name", EVERY)
@on_virtual_time
async def test_a_message_is_the_answer(
    server: Server, opened: Open, name: str, sessions: bool
) -> None:
    async with opened() as session:
        result = await session.call(
            agent(card_url=server.card(name)), "say hello", sessions=sessions
        )
    assert text_of(result) == "hello"
    assert result.error is None
    assert result.return_display == {
        "isSubagentProgress": True,
        "agentName": "far",
        "state": "completed",
        "result": "hello",
        "recentActivity": [
            {"id": "msg-0", "type": "thought", "content": "hello", "status": "completed"}
        ],
    }


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@pytest.mark.parametrize("name", STREAMING)
@on_virtual_time
async def test_a_task_is_reassembled_from_its_pieces(
    server: Server, opened: Open, name: str, sessions: bool
) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card(name)), "work", sessions=sessions)
    assert text_of(result) == "Looking. Found it. Done.\n\nArtifact (report):\none two"
    texts = [shown.get("result", "") for shown in session.shown]
    assert texts[0] == ""
    assert "Looking. " in texts
    assert "Looking. Found it. \n\nArtifact (report):\none " in texts


@pytest.mark.parametrize("name", EVERY)
@on_virtual_time
async def test_data_and_files_become_text(server: Server, opened: Open, name: str) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card(name)), "parts")
    assert text_of(result) == (
        'Artifact:\nData: {"a":[true,null,1.5,{"b":1}]}'
        "File: https://example.com/x.pngFile: y.binFile: [binary/unnamed]"
    )


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@pytest.mark.parametrize("name", EVERY)
@on_virtual_time
async def test_an_agent_that_asks_is_answered_in_the_same_task(
    server: Server, opened: Open, name: str, sessions: bool
) -> None:
    definition = agent(card_url=server.card(name))
    key = f"far::{definition.card_url}" if sessions else "far"
    async with opened() as session:
        asked = await session.call(definition, "ask", sessions=sessions)
        open_task = session.agents.conversation(key)
        answered = await session.call(definition, "blue", sessions=sessions)
        ended = session.agents.conversation(key)
        after = await session.call(definition, "say anew", sessions=sessions)
    assert text_of(asked) == "Which colour?"
    assert open_task.task_id
    assert text_of(answered) == "You chose blue."
    assert ended == Conversation(open_task.context_id, None)
    assert text_of(after) == "anew"


@on_virtual_time
async def test_agents_of_one_name_at_two_places_have_conversations_of_their_own_in_sessions(
    server: Server, opened: Open
) -> None:
    async with opened() as session:
        await session.call(agent(card_url=server.card("now")), "ask", sessions=True)
        session.agents.clear()
        other = agent(card_url=server.card("old"))
        result = await session.call(other, "ask", sessions=True)
    assert text_of(result) == "Which colour?"


@pytest.mark.parametrize(
    ("query", "text", "ends"),
    [
        ("fail", "It went wrong.", True),
        ("reject", "Not that.", True),
        ("permit", f"{AUTH_REQUIRED}Sign in first.", False),
    ],
)
@pytest.mark.parametrize("name", ["now", "old"])
@on_virtual_time
async def test_every_state_of_a_task_is_a_result(
    server: Server, opened: Open, name: str, query: str, text: str, ends: bool
) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card(name)), query)
        conversation = session.agents.conversation("far")
    assert text_of(result) == text
    assert result.return_display["state"] == "completed"
    assert (conversation.task_id is None) is ends


@on_virtual_time
async def test_a_server_of_the_older_protocol_that_is_not_the_librarys_is_understood(
    server: Server, opened: Open
) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card("first")), "loud")
        assert session.agents.conversation("far") == Conversation("c-1", None)
    assert text_of(result) == "Artifact (answer):\nLOUD"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dropping", "Half of it\n\nError calling remote agent: {prefix}terminated"),
        (
            "refusing",
            (
                "Error calling remote agent: {prefix}SSE event contained an error: not today "
                "(Code: -32050) Data: {{}}"
            ),
        ),
        (
            "absent",
            (
                "Error calling remote agent: {prefix}HTTP error establishing stream for "
                "SendStreamingMessage: 404 Not Found. Response: Not Found"
            ),
        ),
    ],
)
@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@on_virtual_time
async def test_an_interrupted_response_keeps_its_text_and_reports_the_error(
    server: Server, opened: Open, sessions: bool, name: str, text: str
) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card(name)), "x", sessions=sessions)
    prefix = "[A2AClientManager] sendMessageStream Error [far]: "
    assert text_of(result) == text.format(prefix=prefix)
    assert result.error is None
    assert result.return_display["state"] == "error"
    assert result.return_display["result"] == text_of(result)


@on_virtual_time
async def test_an_interrupted_task_is_continued(server: Server, opened: Open) -> None:
    async with opened() as session:
        await session.call(agent(card_url=server.card("dropping")), "x")
        assert session.agents.conversation("far") == Conversation("c-2", "t-2")


@on_virtual_time
async def test_an_unreadable_answer_affects_only_its_call(server: Server, opened: Open) -> None:
    async with opened() as session:
        result = await session.call(agent(card_url=server.card("nonsense")), "x")
    assert "The agent's answer cannot be read: Failed to parse" in text_of(result)


@on_virtual_time
async def test_no_answer_is_an_error_to_a_direct_call_and_empty_to_a_session(
    server: Server, opened: Open
) -> None:
    definition = agent(card_url=server.card("nothing"))
    async with opened() as session:
        direct = await session.call(definition, "x")
        through = await session.call(definition, "x", sessions=True)
    assert text_of(direct) == "Error calling remote agent: No response from remote agent."
    assert text_of(through) == ""
    assert through.return_display["state"] == "completed"


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@on_virtual_time
async def test_an_unreachable_agent_is_reported_to_the_model(opened: Open, sessions: bool) -> None:
    card = '{"url": "http://127.0.0.1:9/", "capabilities": {"streaming": true}}'
    async with opened() as session:
        result = await session.call(agent(card_json=card), "x", sessions=sessions)
    assert text_of(result) == (
        "Error calling remote agent: [A2AClientManager] sendMessageStream Error [far]: fetch failed"
    )
    activity: Any = result.return_display["recentActivity"]
    assert activity == (
        []
        if sessions
        else [{"id": "pending", "type": "thought", "content": "Working...", "status": "running"}]
    )
