"""What is said over the pipes, in which order, and when virtual time may pass."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from runtimes.contract import CommandFailed
from runtimes.upstream.connection import Connection
from runtimes.upstream.process import DriverBroken
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop

Message = dict[str, Any]


class Pipes:
    """Both ends of a driver's pipes: its process as the connection sees it, and its own side."""

    def __init__(self) -> None:
        self.sent = 0
        self._inbox, self.inbox = os.pipe()
        self.outbox, self._outbox = os.pipe()
        self._replies, self.replies = os.pipe()
        for descriptor in (self.inbox, self.outbox, self.replies):
            os.set_blocking(descriptor, False)
        self._heard = {self._inbox: b"", self._replies: b""}

    def error_tail(self) -> str:
        return "the tail"

    def ended(self) -> str:
        return "has ended"

    def say(self, *messages: object) -> None:
        """Say these as the driver, in one write."""
        data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        while data:
            data = data[os.write(self._outbox, data) :]

    def heard(self) -> Message:
        """The next message of the inbox."""
        return self._line(self._inbox)

    def reply(self) -> Message:
        """The next reply to a call."""
        return self._line(self._replies)

    def _line(self, descriptor: int) -> Message:
        while b"\n" not in self._heard[descriptor]:
            self._heard[descriptor] += os.read(descriptor, 1 << 16)
        line, _, self._heard[descriptor] = self._heard[descriptor].partition(b"\n")
        message: Message = json.loads(line)
        return message

    def hang_up(self) -> None:
        os.close(self._outbox)
        self._outbox = -1

    def stop_listening(self) -> None:
        os.close(self._inbox)
        self._inbox = -1

    def close(self) -> None:
        mine = (self.inbox, self.outbox, self.replies)
        for descriptor in (*mine, self._inbox, self._outbox, self._replies):
            if descriptor >= 0:
                os.close(descriptor)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


def talk(pipes: Pipes, scene: Callable[[Connection, VirtualClock], Awaitable[None]]) -> None:
    """Play a scene with a connection, in virtual time and a loop of its own."""

    async def whole() -> None:
        clock = VirtualClock()
        connection = Connection(pipes, clock)  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(30):
                await scene(connection, clock)
        finally:
            connection.detach()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(whole())


async def turns() -> None:
    """Let the loop turn until what lies in the pipes has been dealt with."""
    for _ in range(8):
        await asyncio.sleep(0)


def test_a_command_carries_the_time_and_its_result_comes_back(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        clock.advance(40)
        result = connection.command("send", agent=1)
        heard = pipes.heard()
        pipes.say({"t": "done", "id": heard["id"], "value": "s"})

        assert heard == {"now": VIRTUAL_EPOCH_MS + 40, "t": "send", "id": 1, "agent": 1}
        assert await result == "s"

    talk(pipes, scene)


def test_a_refusal_of_the_core_is_raised_with_its_message(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        result = connection.command("rewind", to=3)
        error = {"name": "TypeError", "message": "there is nothing"}
        pipes.say({"t": "failed", "id": pipes.heard()["id"], **error})

        with pytest.raises(CommandFailed, match="rewind: there is nothing") as failed:
            await result
        assert (failed.value.name, failed.value.message) == ("TypeError", "there is nothing")

    talk(pipes, scene)


def test_an_order_that_the_core_refuses_breaks_the_session(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        connection.order("hint", text="left", source="user_steering")
        pipes.say({"t": "done", "id": pipes.heard()["id"]})
        await turns()
        assert not connection.broken.done()

        connection.order("setModel", model="m")
        error = {"name": "TypeError", "message": "I will not"}
        pipes.say({"t": "failed", "id": pipes.heard()["id"], **error})

        assert str(await connection.broken) == (
            "the core refused a command that it never should: setModel: I will not; "
            "its last words: the tail"
        )

    talk(pipes, scene)


def test_time_stands_still_until_the_driver_is_idle(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        assert not clock.held
        connection.send({"t": "fire"})
        assert clock.held

        pipes.say({"t": "idle", "received": 1})
        await connection.until_idle()

        assert not clock.held

    talk(pipes, scene)


def test_an_idle_that_does_not_know_of_all_that_was_said_does_not_count(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        connection.send({"t": "fire"})
        connection.send({"t": "fire"})
        settled = asyncio.create_task(connection.until_idle())

        pipes.say({"t": "idle", "received": 1})
        await turns()
        assert clock.held
        assert not settled.done()

        pipes.say({"t": "idle", "received": 2})
        await settled
        assert not clock.held

    talk(pipes, scene)


def test_a_message_after_idle_holds_the_clock_again(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        connection.handlers["news"] = lambda message: None
        pipes.say({"t": "idle", "received": 0}, {"t": "news"})
        await turns()
        settled = asyncio.create_task(connection.until_idle())
        await turns()

        assert clock.held
        assert not settled.done()
        pipes.say({"t": "idle", "received": 0})
        await settled

    talk(pipes, scene)


def test_commands_given_during_a_call_travel_with_its_reply_in_order(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        def handler(message: Message) -> None:
            connection.command("abort", agent=0)
            connection.command("hint", text="a")
            asyncio.get_running_loop().create_task(later())

        async def later() -> None:
            connection.command("setModel", model="m")

        connection.handlers["event"] = handler
        pipes.say({"t": "event", "reply": True})
        await turns()

        reply = pipes.reply()
        assert [command["t"] for command in reply["commands"]] == ["abort", "hint", "setModel"]
        assert reply["now"] == VIRTUAL_EPOCH_MS
        connection.command("send")
        assert pipes.heard()["t"] == "send"
        assert pipes.sent == 1

    talk(pipes, scene)


def test_a_call_without_commands_is_answered_too(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        connection.handlers["event"] = lambda message: None
        pipes.say({"t": "event", "reply": True})
        await turns()

        assert pipes.reply() == {"now": VIRTUAL_EPOCH_MS, "commands": []}

    talk(pipes, scene)


def test_nothing_is_handled_before_a_call_is_answered(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        heard: list[str] = []

        def event(message: Message) -> None:
            heard.append("event")
            asyncio.get_running_loop().create_task(reaction())

        async def reaction() -> None:
            heard.append("reaction")

        connection.handlers["event"] = event
        connection.handlers["news"] = lambda message: heard.append("news")
        pipes.say({"t": "event", "reply": True}, {"t": "news"}, {"t": "news"})
        await turns()

        assert heard == ["event", "reaction", "news", "news"]

    talk(pipes, scene)


@pytest.mark.parametrize("outcome", ["done", "failed"])
def test_a_result_reaches_who_waits_for_it_before_what_was_said_next(
    pipes: Pipes, outcome: str
) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        heard: list[str] = []
        connection.handlers["news"] = lambda message: heard.append("news")
        result = connection.command("send")

        async def wait() -> None:
            with suppress(CommandFailed):
                await result
            heard.append("result")

        waiting = asyncio.create_task(wait())
        await turns()
        pipes.say({"t": outcome, "id": 1}, {"t": "news"})
        await waiting
        await turns()

        assert heard == ["result", "news"]

    talk(pipes, scene)


def test_a_result_of_no_command_changes_nothing(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        pipes.say({"t": "done", "id": 9, "value": 1}, {"t": "idle", "received": 0})

        await connection.until_idle()

        assert not connection.broken.done()

    talk(pipes, scene)


def test_both_may_say_more_than_a_pipe_holds_at_once(pipes: Pipes) -> None:
    text = "x" * 1_000_000
    heard: list[Message] = []

    def driver() -> None:
        pipes.say({"t": "news", "text": text})
        heard.append(pipes.heard())
        pipes.say({"t": "event", "reply": True, "text": text})
        heard.append(pipes.reply())
        pipes.say({"t": "done", "id": 1})

    async def scene(connection: Connection, clock: VirtualClock) -> None:
        news: list[Message] = []
        connection.handlers["news"] = news.append

        def event(message: Message) -> None:
            news.append(message)
            connection.command("hint", text=text)

        connection.handlers["event"] = event
        result = connection.command("send", text=text)
        other = threading.Thread(target=driver)
        other.start()
        await result
        other.join()

        assert [message["text"] for message in news] == [text, text]

    talk(pipes, scene)
    assert heard[0]["text"] == text
    assert heard[1]["commands"][0]["text"] == text


def test_the_driver_can_be_talked_to_in_one_loop_after_another(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        result = connection.command("open")
        pipes.say({"t": "done", "id": pipes.heard()["id"]})
        pipes.say({"t": "idle", "received": pipes.sent})
        await result
        await connection.until_idle()

    talk(pipes, scene)
    talk(pipes, scene)
    assert pipes.sent == 2


def test_a_message_between_two_loops_is_not_the_next_ones_idle(pipes: Pipes) -> None:
    async def first(connection: Connection, clock: VirtualClock) -> None:
        connection.send({"t": "fire"})

    async def second(connection: Connection, clock: VirtualClock) -> None:
        connection.send({"t": "open"})
        await turns()
        assert clock.held

    talk(pipes, first)
    pipes.say({"t": "idle", "received": 1})
    talk(pipes, second)


def test_leaving_the_loop_lets_go_of_the_clock_and_of_those_who_wait(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        result = connection.command("send")
        assert clock.held

        connection.detach()

        assert not clock.held
        assert result.cancelled()

    talk(pipes, scene)


def test_its_end_fails_every_pending_command(pipes: Pipes) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        result = connection.command("send")
        settled = asyncio.create_task(connection.until_idle())
        await turns()

        pipes.hang_up()

        for waiting in (result, settled):
            with pytest.raises(
                DriverBroken, match="the driver has ended; its last words: the tail"
            ):
                await waiting
        with pytest.raises(DriverBroken):
            await connection.command("send")
        assert not clock.held

    talk(pipes, scene)


def test_writing_to_a_driver_that_closed_its_pipe_raises_nothing(
    pipes: Pipes,
) -> None:
    async def scene(connection: Connection, clock: VirtualClock) -> None:
        pipes.stop_listening()
        connection.send({"t": "fire"})
        pipes.hang_up()

        with pytest.raises(DriverBroken, match="has ended"):
            await connection.until_idle()

    talk(pipes, scene)
