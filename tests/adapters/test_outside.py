"""Agents in other programs: JSON lines, ACP, A2A."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters import a2a_runtime, acp_runtime, process_runtime
from adapters.problems import AgentBroke
from agent_protocol.events import AgentEvent
from parity_tests.stage import answer, message
from tests.adapters.stage import kinds, plain, play, stage
from tests.processes import ends

PROGRAMS = Path(__file__).with_name("programs")
BUSY = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}

pytestmark = pytest.mark.timeout(60)


def command(name: str, *words: str) -> list[str]:
    return [sys.executable, str(PROGRAMS / f"{name}.py"), *words]


LINES = process_runtime(command("lines"))
ACP = acp_runtime(command("acp"))


def said(runtime: Any, *texts: str, steps: tuple[dict[str, Any], ...] = ()) -> list[AgentEvent]:
    """The events of the last of some messages."""
    found: list[AgentEvent] = []

    async def scene() -> None:
        async with stage(runtime, *steps) as on:
            for text in texts:
                found[:] = await on.say(text)

    play(scene)
    return found


def broken(scene: Callable[[], Any]) -> str:
    with pytest.raises((ExceptionGroup, AgentBroke)) as raised:
        play(scene)
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, AgentBroke)
    return str(error)


def test_a_process_and_its_model() -> None:
    async def scene() -> None:
        steps = (answer("Yes.", delay_ms=3_600_000), answer("Again."))
        async with stage(LINES, *steps) as on:
            events = await on.say("hi")
            assert kinds(events) == ["message", "agent_end"]
            assert plain(events[2])["content"] == [{"type": "text", "text": "Yes."}]
            await on.say("more")

            contents: Any = on.requests[1].request.contents
            assert [each["role"] for each in contents] == ["user", "model", "user"]

    play(scene)


def test_a_failure_of_the_model_reaches_the_process() -> None:
    events = said(LINES, "hi", steps=(BUSY,))

    assert plain(events[2])["message"] == "busy"
    assert plain(events[-1]) == {"reason": "failed"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("crash", "ends before it has answered, with exit code 1 (no licence)"),
        ("print", "writes a line that is no JSON object: 'hello'"),
    ],
)
def test_a_process_that_breaks_the_protocol_is_one_sentence(text: str, problem: str) -> None:
    async def scene() -> None:
        async with stage(LINES) as on:
            await on.say(text)

    assert broken(scene) == problem


def test_a_program_that_is_not_there_is_one_sentence() -> None:
    async def scene() -> None:
        async with stage(process_runtime(["/no/such"])):
            raise AssertionError

    assert broken(scene) == "cannot be started: /no/such: No such file or directory"


def test_a_process_is_asked_to_end_an_aborted_answer() -> None:
    async def scene() -> None:
        async with stage(LINES, answer("Yes.")) as on:
            await on.agent.send(message("hang"))
            while on.agent.events[-1].type != "agent_start":
                await on.services.clock.sleep(0)
            await on.agent.abort()
            await on.runtime.settled()
            assert plain(on.agent.events[-1]) == {"reason": "aborted"}
            assert kinds(await on.say("hi")) == ["message", "agent_end"]

    play(scene)


def test_the_children_of_a_process_end_with_it() -> None:
    events = said(LINES, "child", steps=(answer("ok"),))

    assert ends(plain(events[2])["data"]["pid"])


def test_an_agent_over_acp() -> None:
    events = said(ACP, "tea")

    assert kinds(events) == [
        "message",
        "message",
        "tool_request",
        "tool_response",
        "custom",
        "agent_end",
    ]
    thought, text, call, got, plan, end = map(plain, events[2:])
    assert thought["content"] == [{"type": "thought", "thought": "Hm."}]
    assert text["content"] == [{"type": "text", "text": "You said tea."}]
    assert (call["name"], call["args"], call["requestId"]) == ("order", {"item": "tea"}, "c1")
    assert got["data"] == {"chosen": "yes"}
    assert plan["data"] == {"entries": [{"content": "a", "status": "pending"}]}
    assert end == {"reason": "completed"}


def test_the_reason_of_an_acp_agent_is_the_streams() -> None:
    assert plain(said(ACP, "no")[-1]) == {"reason": "refusal"}


def test_an_acp_prompt_can_be_cancelled() -> None:
    async def scene() -> None:
        async with stage(ACP) as on:

            def abort(event: AgentEvent) -> None:
                if event.type == "tool_request":
                    with pytest.raises(StopIteration):
                        on.agent.abort().send(None)

            on.agent.subscribe(abort)
            events = await on.say("wait")
            assert plain(events[-1]) == {"reason": "aborted"}

    play(scene)


def test_an_acp_agent_that_refuses_is_one_sentence() -> None:
    async def scene() -> None:
        async with stage(acp_runtime(command("acp", "refuse"))):
            raise AssertionError

    assert broken(scene) == "refuses: Authentication required (code -32000)"


@pytest.mark.parametrize("how", ["streams", "plain"])
def test_an_agent_over_a2a(how: str) -> None:
    served = a2a_runtime("http://127.0.0.1:{port}", command=command("a2a", "{port}", how))

    events = said(served, "tea")

    assert kinds(events) == ["message", "custom", "message", "agent_end"]
    first, data, last, end = map(plain, events[2:])
    assert first["content"] == [{"type": "text", "text": "You said tea."}]
    assert data == {"kind": "data", "data": {"data": {"n": 1}}}
    assert last["content"] == [{"type": "text", "text": "Done."}]
    assert end == {"reason": "completed"}
    assert sorted(served.traits.channels or ()) == ["cost", "events", "provider", "requests"]


def test_a_failed_task_is_a_failed_stream() -> None:
    served = a2a_runtime("http://127.0.0.1:{port}", command=command("a2a", "{port}"))

    assert plain(said(served, "no")[-1]) == {"reason": "failed"}


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    async def scene() -> None:
        async with stage(a2a_runtime("http://127.0.0.1:1")):
            raise AssertionError

    assert broken(scene).startswith("cannot be reached at http://127.0.0.1:1/.well-known/agent-c")
    assert list(a2a_runtime("http://127.0.0.1:1").traits.channels or ()) == ["events"]
