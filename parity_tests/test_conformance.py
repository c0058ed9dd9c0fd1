"""Each runtime alone must keep the promises of `AgentProtocol`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

from agent_protocol.agent import ActionSend, UpdateSend
from agent_protocol.errors import StreamActive, UnsupportedSend
from agent_protocol.events import AgentEvent
from agent_protocol.lifecycle import LifecycleChecker
from agent_protocol.session import AgentSession
from parity_tests.stage import answer, calls, chunks, message, play, stage
from runtimes.registry import Surface, open_session
from services.message_bus import ToolCallsUpdate
from services.scheduler.states import ToolCall
from services.settings import AdkFlags, Settings
from services.settings.hooks import read_hooks
from services.state import ApprovalMode

MCP_SERVER = Path(__file__).parents[1] / "cassettes" / "mcp_server.py"
RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
OUR_RUNTIMES = pytest.mark.parametrize("runtime", ["adk", "legacy"])
"""For what the published core does not keep: `test_upstream` leaves these out."""


def kinds(events: list[AgentEvent]) -> list[str]:
    return [event.type for event in events]


@RUNTIMES
def test_send_returns_before_the_streams_start(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, answer("hi")) as on:
            stream_id = await on.agent.send(message("x"))

            assert kinds(list(on.agent.events)) == ["message"]
            await on.runtime.settled()
            assert {event.stream_id for event in on.agent.events} == {stream_id}
            assert kinds(list(on.agent.events)) == [
                "message",
                "agent_start",
                "session_update",
                "message",
                "agent_end",
            ]

    play(scene)


@RUNTIMES
@pytest.mark.contract("P-001")
def test_every_stream_keeps_the_lifecycle(runtime: str) -> None:
    async def scene() -> None:
        read = calls(("list_directory", {"dir_path": "."}))
        async with stage(runtime, read, answer("ok"), answer("again")) as on:
            checker = LifecycleChecker()
            on.agent.subscribe(checker.feed)
            for text in ("one", "two"):
                assert kinds(await on.say(text))[-1] == "agent_end"

    play(scene)


@RUNTIMES
@pytest.mark.contract("P-004")
def test_a_second_send_while_a_stream_runs_is_refused_and_changes_nothing(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, answer("hi", delay_ms=50), answer("later")) as on:
            await on.agent.send(message("x"))

            with pytest.raises(StreamActive, match="while a stream is active"):
                await on.agent.send(message("y"))

            await on.runtime.settled()
            assert [event.type for event in on.agent.events].count("agent_start") == 1
            assert kinds(await on.say("z"))[-1] == "agent_end"

    play(scene)


@RUNTIMES
@pytest.mark.parametrize(
    "payload",
    [UpdateSend(model="other"), ActionSend(type="do", data=1)],
    ids=["update", "action"],
)
def test_a_send_of_another_kind_is_refused(runtime: str, payload: UpdateSend | ActionSend) -> None:
    async def scene() -> None:
        async with stage(runtime, answer("hi")) as on:
            with pytest.raises(UnsupportedSend, match="only supports message sends"):
                await on.agent.send(payload)

            assert list(on.agent.events) == []

    play(scene)


@RUNTIMES
def test_a_subscriber_that_raises_does_not_disturb_the_others(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, answer("hi"), answer("again")) as on:
            heard: list[str] = []

            def throw(event: AgentEvent) -> None:
                raise RuntimeError(event.type)

            on.agent.subscribe(throw)
            on.agent.subscribe(lambda event: heard.append(event.type))

            events = await on.say("x")

            assert heard == kinds(events)
            assert kinds(await on.say("y"))[-1] == "agent_end"

    play(scene)


@RUNTIMES
def test_unsubscribing_during_delivery_takes_effect_with_the_next_event(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, chunks("a", "b")) as on:
            heard: list[str] = []

            def once(event: AgentEvent) -> None:
                heard.append(event.type)
                off()

            off = on.agent.subscribe(once)
            others: list[str] = []
            on.agent.subscribe(lambda event: others.append(event.type))

            events = await on.say("x")

            assert heard == ["message"]
            assert others == kinds(events)

    play(scene)


@RUNTIMES
def test_a_stream_can_be_attached_to_in_the_middle_and_is_seen_whole(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, chunks("a", "b", "c")) as on:
            session = AgentSession(on.agent)
            seen: dict[str, list[str]] = {"whole": [], "rest": []}

            async def read(name: str, **where: str) -> None:
                async with aclosing(session.stream(**where)) as events:
                    async for event in events:
                        seen[name].append(event.id)

            async with asyncio.TaskGroup() as group:

                def attach(event: AgentEvent) -> None:
                    if event.type == "session_update":
                        group.create_task(read("whole", stream_id=event.stream_id))
                        group.create_task(read("rest", event_id=event.id))

                on.agent.subscribe(attach)
                await on.say("x")

            ids = [event.id for event in on.agent.events]
            assert seen == {"whole": ids[1:], "rest": ids[3:]}

    play(scene)


@RUNTIMES
@pytest.mark.contract("P-173", "P-174")
def test_abort_ends_the_stream_and_the_next_send_works(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, {"hang": True}, answer("fine")) as on:
            await on.agent.send(message("x"))
            await on.services.clock.sleep(40)
            await on.agent.abort()
            await on.runtime.settled()

            assert [e.reason for e in on.agent.events if e.type == "agent_end"] == ["aborted"]
            assert kinds(await on.say("y"))[-2:] == ["message", "agent_end"]

    play(scene)


@RUNTIMES
@pytest.mark.contract("P-181")
def test_abort_when_idle_does_nothing(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, answer("hi")) as on:
            await on.agent.abort()

            assert kinds(await on.say("x"))[-1] == "agent_end"

    play(scene)


@RUNTIMES
def test_leaving_the_runtime_ends_what_runs(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, {"hang": True}) as on:
            await on.agent.send(message("x"))
            await asyncio.sleep(0)
            agent = on.agent
        assert [event.type for event in agent.events][-1] == "agent_end"
        assert len(asyncio.all_tasks()) == 1

    play(scene)


@RUNTIMES
def test_several_sessions_at_once_do_not_hear_each_other(runtime: str) -> None:
    async def talk(name: str, delay_ms: float) -> None:
        steps = [
            {**calls(("write_file", {"file_path": "f", "content": name})), "delay_ms": delay_ms},
            answer(f"answer to {name}", delay_ms=delay_ms),
            answer(f"second of {name}", delay_ms=delay_ms),
        ]
        async with stage(runtime, *steps, mode=ApprovalMode.YOLO) as on:
            await on.say(f"from {name}")
            await on.say("more")

            assert (on.services.workspace.root / "f").read_text() == name
            texts = [
                part.text
                for event in on.agent.events
                if event.type == "message"
                for part in event.content
                if part.type == "text"
            ]
            assert texts == [f"from {name}", f"answer to {name}", "more", f"second of {name}"]
            assert on.model.notes == []

    async def scene() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(6):
                group.create_task(talk(f"s{number}", delay_ms=10 * (number % 3) + 1))

    play(scene)


@RUNTIMES
def test_what_a_client_raises_inside_the_runtime_comes_out_as_it_is(runtime: str) -> None:
    async def scene() -> None:
        async with stage(runtime, {"hang": True}) as on:
            await on.agent.send(message("x"))
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        play(scene)


@OUR_RUNTIMES
@pytest.mark.sampled(2)
def test_a_hook_that_never_lets_an_agent_end_is_heeded_a_hundred_times(runtime: str) -> None:
    command = """printf x >> asked; printf '{"decision":"block","reason":"more"}'"""
    blocks = [{"hooks": [{"type": "command", "command": command}]}]
    settings = Settings(hooks=read_hooks({"AfterAgent": blocks}), disable_loop_detection=True)

    async def scene() -> None:
        steps = [answer(f"answer {number}") for number in range(101)]
        async with stage(runtime, *steps, settings=settings) as on:
            events = await on.say("x")

            assert kinds(events).count("error") == 100
            assert [event.reason for event in events if event.type == "agent_end"] == ["max_turns"]
            assert on.model.unused_steps() == [100]
            assert (on.services.workspace.root / "asked").read_text() == "x" * 100

    play(scene)


@OUR_RUNTIMES
@pytest.mark.contract("P-150")
def test_progress_that_a_server_reports_for_a_call_is_shown(runtime: str) -> None:
    server = {"command": sys.executable, "args": [str(MCP_SERVER)], "trust": True}
    settings = Settings(mcp_servers={"calc": server})
    shown: list[Any] = []

    async def scene() -> None:
        wait = calls(("mcp_calc_wait", {"ms": 20}))
        async with stage(runtime, wait, answer("ok"), settings=settings) as on:
            on.services.bus.subscribe(
                ToolCallsUpdate,
                lambda update: shown.extend(
                    cast("ToolCall", call).progress for call in update.calls
                ),
            )
            await on.say("x")

    play(scene)
    assert [each.done for each in shown if each is not None] == [5, 10]


@pytest.mark.parametrize(
    ("enabled", "own", "runtime"),
    [
        (False, False, "legacy"),
        (True, False, "legacy"),
        (False, True, "legacy"),
        (True, True, "adk"),
    ],
)
def test_the_session_factory_opens_what_the_flags_say(
    enabled: bool, own: bool, runtime: str
) -> None:
    flags = AdkFlags(runtime_enabled=enabled, agent_session_noninteractive_enabled=own)

    async def scene() -> None:
        async with (
            stage("legacy", settings=Settings(adk=flags)) as on,
            open_session(Surface.NONINTERACTIVE, on.services) as engine,
        ):
            assert type(engine).__module__ == f"runtimes.{runtime}.runtime"

    play(scene)
