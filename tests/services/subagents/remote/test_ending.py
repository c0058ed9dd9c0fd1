"""Ending calls early: the server hears of it, and nothing stays behind here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from services.abort import AbortController
from services.subagents.remote.limits import Limits
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time, text_of


def once_shown(text: str, abort: AbortController) -> Callable[[Any], None]:
    def look(progress: Any) -> None:
        if progress.get("result") == text:
            abort.abort()

    return look


def stuck(server: Server) -> str:
    """The card of an agent that begins a response and never ends it."""
    capabilities = {"streaming": True}
    return json.dumps({"url": f"{server.url}/stuck/rpc", "capabilities": capabilities})


@pytest.mark.parametrize("name", ["now", "old", "rest", "oldrest"])
@pytest.mark.parametrize(
    ("sessions", "text", "state"),
    [
        (
            False,
            (
                "Waiting.\n\nError calling remote agent: [A2AClientManager] "
                "sendMessageStream Error [far]: This operation was aborted"
            ),
            "error",
        ),
        (True, "Operation cancelled by user", "cancelled"),
    ],
    ids=["direct", "session"],
)
@on_virtual_time
async def test_an_abort_cancels_the_task_on_the_server(
    server: Server, opened: Open, name: str, sessions: bool, text: str, state: str
) -> None:
    abort = AbortController()
    definition = agent(card_url=server.card(name))
    before = len(server.seen()["cancelled"])
    async with opened() as session:
        result = await session.call(
            definition,
            "wait",
            sessions=sessions,
            abort=abort,
            on_show=once_shown("Waiting.", abort),
        )
        assert asyncio.all_tasks() == {asyncio.current_task()}
        after = await session.call(definition, "work", sessions=sessions)
    assert text_of(result) == text
    assert result.return_display["state"] == state
    assert len(server.seen()["cancelled"]) == before + 1
    # Not with the task that has ended, which the server would refuse.
    assert text_of(after).startswith("Looking. Found it. Done.")


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@on_virtual_time
async def test_an_abort_before_anything_was_sent_sends_nothing(
    server: Server, opened: Open, sessions: bool
) -> None:
    abort = AbortController()
    abort.abort()
    query = f"say never {sessions}"
    async with opened() as session:
        result = await session.call(
            agent(card_url=server.card("now")), query, sessions=sessions, abort=abort
        )
    assert result.return_display["state"] == ("cancelled" if sessions else "error")
    assert query not in server.seen()["texts"]


@on_virtual_time
async def test_a_call_whose_task_is_cancelled_leaves_nothing_running(
    server: Server, opened: Open
) -> None:
    begun = asyncio.Event()
    async with opened() as session:
        calls = [
            asyncio.get_running_loop().create_task(
                session.call(
                    agent(f"far{number}", card_url=server.card("now")),
                    "wait",
                    sessions=bool(number % 2),
                    on_show=lambda shown: begun.set() if "result" in shown else None,
                )
            )
            for number in range(4)
        ]
        await begun.wait()
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        assert all(call.cancelled() for call in calls)
        assert asyncio.all_tasks() == {asyncio.current_task()}


@on_virtual_time
async def test_a_server_that_cannot_cancel_does_not_hold_the_call(
    server: Server, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    abort = AbortController()
    async with opened(limits=Limits(cancel_s=0.05)) as session:
        result = await session.call(
            agent(card_json=stuck(server)), "x", abort=abort, on_show=once_shown("Stuck.", abort)
        )
        assert session.agents.conversation("far").task_id == "t-3"
    assert text_of(result).startswith("Stuck.\n\n")
    assert "could not be cancelled: the agent did not answer in time" in caplog.text


@on_virtual_time
async def test_an_answer_without_end_is_broken_off(server: Server, opened: Open) -> None:
    async with opened(limits=Limits(answer_bytes=1_000_000)) as session:
        result = await session.call(agent(card_url=server.card("flooding")), "x")
    assert text_of(result).endswith("the answer is larger than 1000000 bytes")


@on_virtual_time
async def test_a_silent_agent_times_out(server: Server, opened: Open) -> None:
    async with opened(limits=Limits(silence_s=0.3)) as session:
        result = await session.call(agent(card_json=stuck(server)), "x")
    assert text_of(result).endswith("sendMessageStream Error [far]: terminated")


@on_virtual_time
async def test_the_sessions_time_stands_still_while_an_agent_works(
    server: Server, opened: Open
) -> None:
    async with opened() as session:
        before = session.clock.now_ms()
        timer = asyncio.get_running_loop().create_task(session.clock.sleep(600_000))
        result = await session.call(agent(card_url=server.card("now")), "work")
        assert not timer.done()
        assert session.clock.now_ms() == before
        timer.cancel()
        await asyncio.wait([timer])
    assert text_of(result).startswith("Looking.")
