"""A remote agent behind the agent protocol: its events, its result, one stream at a time."""

from __future__ import annotations

import asyncio

import pytest

from agent_protocol.agent import ActionSend, MessageSend, UpdateSend
from agent_protocol.codec import to_wire
from agent_protocol.content import MediaPart, TextPart
from agent_protocol.errors import StreamActive
from agent_protocol.lifecycle import LifecycleChecker
from services.background import background_tasks
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.protocol import RemoteSubagentProtocol
from services.subagents.remote.results import Conversation
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time


def message(text: str) -> MessageSend:
    return MessageSend(content=(TextPart(text=text),))


def emitted(protocol: RemoteSubagentProtocol) -> list[tuple[str, str]]:
    """Types of events, with what messages and errors say."""
    wires = [to_wire(event) for event in protocol.events]
    return [
        (
            wire["type"],
            "".join(part["text"] for part in wire.get("content", []))
            or wire.get("message")
            or wire.get("reason", ""),
        )
        for wire in wires
    ]


@on_virtual_time
async def test_new_text_is_emitted_as_messages(server: Server, opened: Open) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("now")), session.agents, tasks, Conversation()
        )
        stream = await protocol.send(message("work"))
        assert list(protocol.events) == []
        result = await protocol.result()
    assert emitted(protocol) == [
        ("agent_start", ""),
        ("message", "Looking. "),
        ("message", "Found it. "),
        ("message", "\n\nArtifact (report):\none "),
        ("message", "two"),
        # The last message stands before the artifact, which is what moves.
        ("message", "e two"),
        ("agent_end", "completed"),
    ]
    assert [event.id for event in protocol.events] == [f"{stream}-{n}" for n in range(7)]
    assert result.return_display == protocol.latest_progress
    checker = LifecycleChecker()
    for event in protocol.events:
        checker.feed(event)
    checker.finish()


@on_virtual_time
async def test_a_failure_is_emitted_and_raised(server: Server, opened: Open) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("dropping")), session.agents, tasks, Conversation()
        )
        await protocol.send(message("x"))
        with pytest.raises(RemoteAgentError, match="terminated"):
            await protocol.result()
    words = "[A2AClientManager] sendMessageStream Error [far]: terminated"
    assert emitted(protocol) == [
        ("agent_start", ""),
        ("message", "Half of it"),
        ("error", f"Error calling remote agent: {words}"),
        ("agent_end", "failed"),
    ]
    error = to_wire(protocol.events[2])
    assert error["fatal"] is True
    assert error["status"] == "INTERNAL"
    assert error["_meta"]["errorName"] == "Error"
    assert "RemoteAgentError" in error["_meta"]["stack"]
    assert protocol.latest_progress is not None
    assert protocol.latest_progress["result"] == "Half of it"


@on_virtual_time
async def test_an_abort_ends_the_stream_with_an_empty_result(server: Server, opened: Open) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("now")), session.agents, tasks, Conversation()
        )
        await protocol.abort()
        begun = asyncio.Event()
        protocol.subscribe(lambda event: begun.set() if event.type == "message" else None)
        await protocol.send(message("wait"))
        await begun.wait()
        await protocol.abort()
        result = await protocol.result()
    assert emitted(protocol)[-1] == ("agent_end", "aborted")
    assert result.llm_content == [{"text": ""}]


@on_virtual_time
async def test_one_stream_at_a_time_and_the_next_goes_on_with_the_conversation(
    server: Server, opened: Open
) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("now")), session.agents, tasks, Conversation()
        )
        with pytest.raises(RuntimeError, match="No active or completed stream"):
            await protocol.result()
        first = await protocol.send(message("ask"))
        with pytest.raises(StreamActive, match="cannot be called while a stream is active"):
            await protocol.send(message("again"))
        await protocol.result()
        second = await protocol.send(message("blue"))
        await protocol.result()
    assert first != second
    assert emitted(protocol) == [
        ("agent_start", ""),
        ("message", "Which colour?"),
        ("agent_end", "completed"),
        ("agent_start", ""),
        ("message", "You chose blue."),
        ("agent_end", "completed"),
    ]


@on_virtual_time
async def test_anything_but_a_message_is_acknowledged_only(server: Server, opened: Open) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("first")), session.agents, tasks, Conversation()
        )
        assert await protocol.send(UpdateSend(config={"query": "x"})) is None
        assert await protocol.send(ActionSend(type="x")) is None
        await protocol.send(MessageSend(content=(MediaPart(data="eA==", mime_type="a/b"),)))
        await protocol.result()
    assert emitted(protocol)[1] == ("message", "Artifact (answer):\nGET STARTED!")


@on_virtual_time
async def test_a_stream_whose_engine_ends_is_aborted(server: Server, opened: Open) -> None:
    async with opened() as session, background_tasks() as tasks:
        protocol = RemoteSubagentProtocol(
            agent(card_url=server.card("now")), session.agents, tasks, Conversation()
        )
        await protocol.send(message("wait"))
        await tasks.end(0)
    assert emitted(protocol)[-1] == ("agent_end", "aborted")
