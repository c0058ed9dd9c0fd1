"""One send's stream and the agent around it, without a runtime."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_protocol.agent import AgentSend
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from services.abort import AbortError
from services.background import BackgroundTasks, background_tasks
from services.chat import AgentStream, NumberedEvents, StreamingAgent
from services.clock import VirtualClock


def opened(log: EventLog) -> AgentStream:
    return AgentStream(NumberedEvents("s", clock=VirtualClock()), log)


def shown(log: EventLog) -> list[tuple[str, Any]]:
    return [(event.type, getattr(event, "reason", None)) for event in log.events]


@pytest.mark.parametrize(
    ("raised", "aborted", "expected"),
    [
        (ValueError("no"), False, [("error", None), ("agent_end", "failed")]),
        (ValueError("no"), True, [("agent_end", "aborted")]),
        (AbortError(), False, [("agent_end", "aborted")]),
    ],
)
async def test_an_exception_of_the_work_ends_the_stream(raised, aborted, expected):
    log = EventLog()
    stream = opened(log)

    async def work() -> None:
        if aborted:
            stream.controller.abort()
        raise raised

    await stream.run(work)
    assert shown(log) == [("agent_start", None), *expected]
    assert not stream.active


async def test_cancelled_stream_ends_as_aborted_and_stays_cancelled():
    log = EventLog()
    stream = opened(log)

    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await stream.run(work)
    assert shown(log) == [("agent_start", None), ("agent_end", "aborted")]


async def test_only_the_first_end_is_emitted():
    log = EventLog()
    stream = opened(log)

    async def work() -> None:
        stream.end("completed", {"a": 1})
        stream.end("failed")

    await stream.run(work)
    assert shown(log) == [("agent_start", None), ("agent_end", "completed")]


def test_stream_that_never_began_has_a_start_and_an_end():
    log = EventLog()
    opened(log).drop()
    assert shown(log) == [("agent_start", None), ("agent_end", "aborted")]


class Waiting(StreamingAgent):
    """Its streams end when they are aborted."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        super().__init__(tasks)
        self.made = 0

    async def send(self, payload: AgentSend | None = None) -> str:
        self._refuse_second("Waiting")
        self.made += 1
        events = NumberedEvents(f"s{self.made}", clock=VirtualClock())
        self._stream = stream = AgentStream(events, self._log)

        async def work() -> None:
            await stream.controller.signal.wait()
            stream.end("aborted")

        return self._start(stream, work, "waiting")


async def test_agent_has_one_stream_at_a_time_and_abort_ends_it():
    async with background_tasks() as tasks:
        agent = Waiting(tasks)
        await agent.abort()
        assert await agent.send() == "s1"
        with pytest.raises(StreamActive, match=r"Waiting\.send\(\) cannot be called while"):
            await agent.send()
        await agent.abort()
        await tasks.settled()
        assert await agent.send() == "s2"
        await agent.abort()
    ends = [event.stream_id for event in agent.events if event.type == "agent_end"]
    assert ends == ["s1", "s2"]


async def test_agents_stream_that_is_cancelled_before_its_first_step_has_ended():
    async with background_tasks() as tasks:
        agent = Waiting(tasks)
        await agent.send()
        await tasks.end(0)
    assert [event.type for event in agent.events] == ["agent_start", "agent_end"]
