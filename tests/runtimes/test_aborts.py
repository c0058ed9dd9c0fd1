"""How a stream ends that its client aborts."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from services.state import ApprovalMode
from tests.runtimes.kit import Kit, Played


def test_abort_inside_a_chunk_discards_the_rest_of_it(kit: Kit) -> None:
    chunk = kit.parts_chunk({"text": "t", "thought": True}, {"text": "never"}, finish="STOP")

    def stop(event: Any, agent: AgentProtocol) -> None:
        if event.type == "message" and event.role == "agent":
            kit.abort(agent)

    played = kit.play([[chunk]], on_event=stop)
    assert played.kinds[3:] == ["message", "agent_end"]
    assert played.ends == [("aborted", None)]
    assert played.model.open_streams == 0
    assert [e.id.rsplit("-", 1)[1] for e in played.events] == ["0", "1", "2", "3", "4"]


def test_abort_takes_the_whole_prompt_back(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")

    def stop(event: Any, agent: AgentProtocol) -> None:
        if event.type == "message" and event.role == "agent" and event.content[0].text == "two":
            kit.abort(agent)

    steps = [[kit.text("r0", "STOP")], [ask], [kit.text("two"), kit.text("three", "STOP")]]
    played = kit.play(steps, "zero", "one", on_event=stop, own_prompt_ids=True)
    assert [kit.shape(content) for content in played.transcript] == ["user:text+text", "model:text"]
    assert played.ends[1] == ("aborted", None)


def test_abort_while_the_model_hangs_ends_at_once(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await played.services.clock.sleep(40)
        await agent.abort()
        assert "agent_end" not in played.kinds
        await runtime.settled()
        assert agent.events[-1].timestamp == "2026-01-01T00:00:00.040Z"

    played = kit.run(script, [[kit.text("a"), kit.HANG]])
    assert played.kinds[-1] == "agent_end"
    assert played.ends == [("aborted", None)]
    assert len(played.transcript) == 1
    assert (
        played.lines[-1]["$set"]["messages"][0]["id"]
        == played.lines[1]["$set"]["messages"][0]["id"]
    )
    assert len(played.lines[-1]["$set"]["messages"]) == 1


def test_abort_during_a_batch_emits_no_response(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("run_shell_command", {"command": "sleep 30"}), finish="STOP")

    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        asked = asyncio.Event()

        def note(event: Any, agent: AgentProtocol) -> None:
            if event.type == "tool_request":
                asked.set()

        kit.listen(agent, played, note)
        await agent.send(kit.message("x"))
        await asked.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        await agent.abort()
        await runtime.settled()

    played = kit.run(script, [[ask]], approval_mode=ApprovalMode.YOLO)
    assert "tool_response" not in played.kinds
    assert played.ends == [("aborted", None)]
    assert kit.shape(played.transcript[-1]) == "model:functionCall"


def test_abort_of_an_idle_agent_does_nothing(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.abort()
        await agent.send(kit.message("x"))
        await runtime.settled()

    assert kit.run(script, [[kit.text("a", "STOP")]]).ends == [("completed", None)]


def test_leaving_the_runtime_aborts_what_runs(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await played.services.clock.sleep(1)

    played = kit.run(script, [[kit.HANG]])
    assert played.ends == [("aborted", None)]
    assert played.model.open_streams == 0
