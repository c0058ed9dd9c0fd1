import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from agent_protocol.agent import AgentProtocol, AgentSend, MessageSend, Subscriber, Unsubscribe
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive, StreamNotFound
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart, Message, SessionUpdate
from agent_protocol.session import AgentSession

HELLO = MessageSend(content=(TextPart(text="hi"),))


class ScriptedAgent:
    """Emits what a test passes to it; counts its subscribers."""

    def __init__(self, *events: AgentEvent) -> None:
        self.log = EventLog()
        self.log.emit(events)
        self.sent: list[AgentSend] = []
        self.aborts = 0
        self.listeners = 0
        self.answer: Callable[[], str | None] = lambda: None
        self.on_read: Callable[[], None] = lambda: None

    @property
    def events(self) -> Sequence[AgentEvent]:
        self.on_read()
        return self.log.events

    async def send(self, payload: AgentSend) -> str | None:
        self.sent.append(payload)
        return self.answer()

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        off = self.log.subscribe(callback)
        self.listeners += 1

        def unsubscribe() -> None:
            self.listeners -= 1
            off()

        return unsubscribe

    async def abort(self) -> None:
        self.aborts += 1

    def emit(self, *events: AgentEvent) -> None:
        self.log.emit(events)


def make(build: type, event_id: str, **own: Any) -> Any:
    stream = event_id.split("-")[0]
    return build(id=event_id, stream_id=stream, timestamp="t", **own)


def user(event_id: str) -> Message:
    return make(Message, event_id, role="user", content=())


def said(event_id: str) -> Message:
    return make(Message, event_id, role="agent", content=())


def start(event_id: str) -> AgentStart:
    return make(AgentStart, event_id)


def end(event_id: str) -> AgentEnd:
    return make(AgentEnd, event_id, reason="completed")


def whole(stream: str) -> list[AgentEvent]:
    return [
        user(f"{stream}-0"),
        start(f"{stream}-1"),
        said(f"{stream}-2"),
        end(f"{stream}-3"),
    ]


async def ids(events: AsyncGenerator[AgentEvent, None]) -> list[str]:
    return [event.id async for event in events]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_four_members_pass_through() -> None:
    agent = ScriptedAgent(*whole("a"))
    session, seen = AgentSession(agent), list[AgentEvent]()
    agent.answer = lambda: "b"
    off = session.subscribe(seen.append)
    assert await session.send(HELLO) == "b"
    await session.abort()
    agent.emit(user("b-0"))
    off()
    agent.emit(start("b-1"))
    assert agent.sent == [HELLO]
    assert agent.aborts == 1
    assert seen == [user("b-0")]
    assert session.events is agent.log.events


async def test_a_session_can_be_wrapped_as_any_agent() -> None:
    protocol: AgentProtocol = AgentSession(ScriptedAgent(*whole("a")))
    assert await ids(AgentSession(protocol).stream(stream_id="a")) == ["a-1", "a-2", "a-3"]


async def test_send_stream_sends_when_the_first_event_is_asked_for() -> None:
    agent = ScriptedAgent()

    def answer() -> str:
        agent.emit(user("a-0"))
        asyncio.get_running_loop().call_soon(agent.emit, *whole("a")[1:])
        return "a"

    agent.answer = answer
    events = AgentSession(agent).send_stream(HELLO)
    await settle()
    assert agent.sent == []
    assert agent.listeners == 0
    assert await ids(events) == ["a-1", "a-2", "a-3"]
    assert agent.sent == [HELLO]
    assert agent.listeners == 0


async def test_send_stream_of_a_send_without_activity_is_empty() -> None:
    agent = ScriptedAgent()
    assert await ids(AgentSession(agent).send_stream(HELLO)) == []
    assert agent.sent == [HELLO]


async def test_send_stream_sees_events_that_came_before_send_resolved() -> None:
    agent = ScriptedAgent()

    def answer() -> str:
        agent.emit(*whole("a"))
        return "a"

    agent.answer = answer
    assert await ids(AgentSession(agent).send_stream(HELLO)) == ["a-1", "a-2", "a-3"]


async def test_send_stream_ignores_other_streams() -> None:
    agent = ScriptedAgent()

    def answer() -> str:
        agent.emit(start("b-1"), *whole("a")[:3], said("b-2"), end("b-3"), end("a-3"))
        return "a"

    agent.answer = answer
    assert await ids(AgentSession(agent).send_stream(HELLO)) == ["a-1", "a-2", "a-3"]


async def test_send_stream_passes_a_refusal_on_and_never_subscribes() -> None:
    agent = ScriptedAgent()

    def refuse() -> str:
        raise StreamActive("busy")

    agent.answer = refuse
    with pytest.raises(StreamActive, match="busy"):
        await anext(AgentSession(agent).send_stream(HELLO))
    assert agent.listeners == 0


async def test_closing_send_stream_early_unsubscribes_at_once() -> None:
    agent = ScriptedAgent(*whole("a")[:3])
    agent.answer = lambda: "a"
    async with aclosing(AgentSession(agent).send_stream(HELLO)) as events:
        assert (await anext(events)).id == "a-1"
        assert agent.listeners == 1
    assert agent.listeners == 0


async def test_closing_stream_early_unsubscribes() -> None:
    agent = ScriptedAgent(*whole("a"))
    events = AgentSession(agent).stream(stream_id="a")
    assert (await anext(events)).id == "a-1"
    await events.aclose()
    assert agent.listeners == 0


async def test_a_consumer_that_raises_unsubscribes() -> None:
    agent = ScriptedAgent(*whole("a"))

    async def consume() -> None:
        async with aclosing(AgentSession(agent).stream(stream_id="a")) as events:
            async for _ in events:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await consume()
    assert agent.listeners == 0


async def test_a_consumer_cancelled_while_waiting_unsubscribes() -> None:
    agent = ScriptedAgent()
    waiting = asyncio.create_task(ids(AgentSession(agent).stream()))
    await settle()
    assert agent.listeners == 1
    waiting.cancel()
    await asyncio.wait([waiting])
    assert agent.listeners == 0


async def test_an_iterator_left_behind_unsubscribes_when_it_is_collected() -> None:
    agent = ScriptedAgent(*whole("a"))
    async for _ in AgentSession(agent).stream(stream_id="a"):
        break
    gc.collect()
    await settle()
    assert agent.listeners == 0


async def test_stream_subscribes_when_first_advanced_and_finds_the_rest_in_the_replay() -> None:
    agent = ScriptedAgent()
    events = AgentSession(agent).stream(stream_id="a")
    agent.emit(*whole("a"))
    assert agent.listeners == 0
    assert await ids(events) == ["a-1", "a-2", "a-3"]


async def test_both_errors_surface_at_the_first_step_and_unsubscribe() -> None:
    agent = ScriptedAgent(user("a-0"))
    unknown = AgentSession(agent).stream(event_id="nope")
    early = AgentSession(agent).stream(event_id="a-0")
    with pytest.raises(StreamNotFound, match=r"^Unknown eventId: nope$"):
        await anext(unknown)
    with pytest.raises(
        StreamNotFound,
        match=r"^Cannot resume from eventId a-0 before agent_start for stream a$",
    ):
        await anext(early)
    assert agent.listeners == 0


@pytest.mark.parametrize(
    ("event_id", "expected"),
    [
        ("a-2", ["a-3"]),
        ("a-3", []),
        ("a-0", ["a-1", "a-2", "a-3"]),
        ("a-1", ["a-2", "a-3"]),
    ],
)
async def test_resuming_a_finished_stream_from_an_event(event_id: str, expected: list[str]) -> None:
    agent = ScriptedAgent(*whole("a"), *whole("b"))
    assert await ids(AgentSession(agent).stream(event_id=event_id)) == expected
    assert agent.listeners == 0


async def test_events_before_agent_start_are_never_yielded_even_after_the_cursor() -> None:
    update = make(SessionUpdate, "a-9", model="m")
    agent = ScriptedAgent(user("a-0"), update, *whole("a")[1:])
    assert await ids(AgentSession(agent).stream(event_id="a-0")) == ["a-1", "a-2", "a-3"]


async def test_an_event_id_overrides_the_stream_id() -> None:
    agent = ScriptedAgent(*whole("a"), *whole("b"))
    events = AgentSession(agent).stream(event_id="a-1", stream_id="b")
    assert await ids(events) == ["a-2", "a-3"]


async def test_resuming_from_an_event_follows_its_own_stream_live() -> None:
    agent = ScriptedAgent(*whole("a")[:3], start("b-1"), said("b-2"))
    task = asyncio.create_task(ids(AgentSession(agent).stream(event_id="a-1")))
    await settle()
    agent.emit(said("b-3"), said("a-9"), end("b-4"))
    await settle()
    agent.emit(end("a-3"))
    assert await task == ["a-2", "a-9", "a-3"]


async def test_resuming_after_the_last_event_waits_for_the_next() -> None:
    agent = ScriptedAgent(*whole("a")[:3])
    task = asyncio.create_task(ids(AgentSession(agent).stream(event_id="a-2")))
    await settle()
    agent.emit(end("a-3"))
    assert await task == ["a-3"]


async def test_a_finished_stream_is_replayed_whole_by_its_id_though_newer_ones_run() -> None:
    agent = ScriptedAgent(*whole("a"), *whole("b")[:3])
    assert await ids(AgentSession(agent).stream(stream_id="a")) == ["a-1", "a-2", "a-3"]


async def test_a_stream_id_that_has_not_started_is_waited_for() -> None:
    agent = ScriptedAgent(user("a-0"))
    task = asyncio.create_task(ids(AgentSession(agent).stream(stream_id="a")))
    await settle()
    agent.emit(*whole("b"))
    await settle()
    assert not task.done()
    agent.emit(make(SessionUpdate, "a-5", model="m"), *whole("a")[1:])
    assert await task == ["a-1", "a-2", "a-3"]


async def test_without_options_the_latest_stream_that_has_not_ended_is_taken() -> None:
    agent = ScriptedAgent(*whole("a")[:3], *whole("b")[:3], *whole("c"))
    task = asyncio.create_task(ids(AgentSession(agent).stream()))
    await settle()
    agent.emit(end("a-3"))
    await settle()
    assert not task.done()
    agent.emit(end("b-3"))
    assert await task == ["b-1", "b-2", "b-3"]


async def test_without_options_and_nothing_running_the_next_start_is_waited_for() -> None:
    agent = ScriptedAgent(*whole("a"))
    task = asyncio.create_task(ids(AgentSession(agent).stream()))
    await settle()
    agent.emit(user("b-0"), start("b-1"), start("c-1"), said("c-2"), end("b-3"))
    assert await task == ["b-1", "b-3"]


@pytest.mark.parametrize("options", [{"event_id": ""}, {"stream_id": ""}])
async def test_empty_strings_count_as_not_given(options: dict[str, str]) -> None:
    agent = ScriptedAgent(*whole("a")[:3])
    task = asyncio.create_task(ids(AgentSession(agent).stream(**options)))
    await settle()
    agent.emit(end("a-3"))
    assert await task == ["a-1", "a-2", "a-3"]


async def test_nothing_after_agent_end_is_yielded_and_everything_before_is() -> None:
    agent = ScriptedAgent(start("a-1"))
    events = AgentSession(agent).stream(stream_id="a")
    assert (await anext(events)).id == "a-1"
    agent.emit(said("a-2"), end("a-3"), said("a-4"))
    agent.emit(said("a-5"))
    assert await ids(events) == ["a-2", "a-3"]


async def test_an_end_that_comes_while_the_replay_is_consumed_is_not_lost() -> None:
    agent = ScriptedAgent(*whole("a")[:3])
    events = AgentSession(agent).stream(stream_id="a")
    assert (await anext(events)).id == "a-1"
    agent.emit(end("a-3"))
    assert await ids(events) == ["a-2", "a-3"]


async def test_events_emitted_while_the_history_is_read_come_once_and_in_order() -> None:
    agent = ScriptedAgent(start("a-1"))

    def emit_once() -> None:
        agent.on_read = lambda: None
        agent.emit(said("a-2"))

    agent.on_read = emit_once
    task = asyncio.create_task(ids(AgentSession(agent).stream(stream_id="a")))
    await settle()
    agent.emit(end("a-3"))
    assert await task == ["a-1", "a-2", "a-3"]


async def test_events_set_aside_during_the_replay_follow_it() -> None:
    agent = ScriptedAgent(start("a-1"))
    frozen = tuple(agent.log.events)

    class Snapshots(ScriptedAgent):
        """Hands out its history as it was, and speaks while doing so."""

        @property
        def events(self) -> Sequence[AgentEvent]:
            self.emit(said("a-2"), end("a-3"), said("a-4"))
            return frozen

    snapshots = Snapshots(*frozen)
    assert await ids(AgentSession(snapshots).stream()) == ["a-1", "a-2", "a-3"]


async def test_two_iterators_follow_one_stream_each_at_its_own_pace() -> None:
    agent = ScriptedAgent(start("a-1"))
    session = AgentSession(agent)
    slow = session.stream(stream_id="a")
    assert (await anext(slow)).id == "a-1"
    fast = asyncio.create_task(ids(session.stream(event_id="a-1")))
    await settle()
    agent.emit(said("a-2"), end("a-3"))
    assert await fast == ["a-2", "a-3"]
    assert await ids(slow) == ["a-2", "a-3"]
    assert agent.listeners == 0
