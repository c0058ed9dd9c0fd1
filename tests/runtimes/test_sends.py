"""Which sends an agent takes, and what agents and sessions share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_protocol.agent import UpdateSend
from agent_protocol.errors import StreamActive, UnsupportedSend
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from tests.runtimes.kit import Kit, Played


def test_send_while_a_stream_is_active_is_refused_and_changes_nothing(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        with pytest.raises(StreamActive, match="while a stream is active"):
            await agent.send(kit.message("y"))
        await runtime.settled()
        await agent.send(kit.message("z"))
        await runtime.settled()

    played = kit.run(script, [[kit.text("a", "STOP")], [kit.text("b", "STOP")]])
    assert played.ends == [("completed", None)] * 2
    assert len(played.model.requests) == 2


def test_send_of_another_kind_is_refused_even_while_active(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        with pytest.raises(UnsupportedSend, match="only supports message sends"):
            await agent.send(UpdateSend(title="t"))
        await runtime.settled()

    assert kit.run(script, [[kit.text("a", "STOP")]]).kinds.count("message") == 2


def test_agents_of_one_runtime_share_the_conversation(kit: Kit) -> None:
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", own_prompt_ids=True)
    assert played.shapes == [["user:text+text"], ["user:text+text", "model:text", "user:text"]]


def test_agents_at_once_in_one_conversation_ask_one_after_the_other(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        for number, words in enumerate(("left", "right")):
            agent = runtime.agent(prompt_id=f"p{number}")
            kit.listen(agent, played)
            await agent.send(kit.message(words))
        await runtime.settled()

    steps = [[kit.text("l1"), kit.text("l2", "STOP")], [kit.text("r1"), kit.text("r2", "STOP")]]
    played = kit.run(script, steps)
    assert played.ends == [("completed", None)] * 2
    assert [content["parts"][-1]["text"] for content in played.transcript] == [
        "left",
        "l1l2",
        "right",
        "r1r2",
    ]


def test_sessions_at_once_do_not_disturb_each_other(kit: Kit) -> None:
    async def one(name: str) -> Any:
        ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
        steps = [
            [kit.text(f"{name}1"), kit.text(f"{name}2", "STOP")],
            [ask],
            [kit.text(name, "STOP")],
        ]
        async with (
            kit.services(steps) as played,
            open_runtime(kit.engine, played.services) as runtime,
        ):
            agent = runtime.agent()
            kit.listen(agent, played)
            for words in ("one", "two"):
                await agent.send(kit.message(f"{name} {words}"))
                await runtime.settled()
            played.transcript = runtime.transcript()
            return played

    async def both() -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(name)) for name in ("left", "right")]
        return [task.result() for task in tasks]

    left, right = kit.in_loop(both)
    assert left.texts == ["left1", "left2", "left"]
    assert right.texts == ["right1", "right2", "right"]
    assert left.kinds == right.kinds
    assert "right" not in str(left.transcript)


def test_reset_leaves_only_the_environments_context(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()
        await runtime.reset()
        await runtime.settled()
        assert [kit.shape(content) for content in runtime.transcript()] == ["user:text"]
        await agent.send(kit.message("y"))
        await runtime.settled()

    played = kit.run(script, [[kit.text("a", "STOP")], [kit.text("b", "STOP")]])
    assert played.shapes[1] == ["user:text+text"]
    assert played.kinds.count("session_update") == 1
