"""Turns that call tools: what the client sees, what goes back to the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runtimes.contract import Runtime
from services.abort import AbortSignal
from services.model.errors import NetworkError
from services.tools.contract import ToolErrorType
from tests.runtimes.kit import Kit, Played


def test_tool_round_goes_back_to_the_model(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.play([[ask], [kit.text("done", "STOP")]])
    assert played.kinds[3:] == ["tool_request", "tool_response", "message", "agent_end"]
    request, response = played.events[3:5]
    assert request.request_id == "read_file__read_file_1767225600001_0"
    assert response.request_id == request.request_id
    assert (response.name, response.is_error) == ("read_file", False)
    assert response.display.name == "ReadFile"
    assert played.shapes[1] == ["user:text+text", "model:functionCall", "user:functionResponse"]
    sent = played.model.requests[1].contents
    assert sent[1]["parts"][0]["functionCall"]["id"] == "read_file_1767225600001_0"
    assert sent[1]["parts"][0]["thoughtSignature"] == "skip_thought_signature_validator"


def test_calls_of_one_turn_are_answered_in_one_request(kit: Kit) -> None:
    ask = kit.parts_chunk(
        kit.call("read_file", {"file_path": "a.txt"}, id="one"),
        kit.call("list_directory", {"dir_path": "."}, id="two"),
        kit.call("no_such_tool", {}, id="three"),
        finish="STOP",
    )
    played = kit.play([[ask], [kit.text("done", "STOP")]])
    assert played.kinds.count("tool_response") == 3
    assert kit.shape(played.model.requests[1].contents[-1]) == (
        "user:functionResponse+functionResponse+functionResponse"
    )


def test_call_of_a_failed_attempt_is_emitted_and_run_as_well(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}))
    broken = [ask, NetworkError("terminated", code="ECONNRESET")]
    again = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.play([broken, [again], [kit.text("done", "STOP")]])
    asked = [event.request_id for event in played.events if event.type == "tool_request"]
    assert [name.rsplit("_", 1)[1] for name in asked] == ["0", "1"]
    assert [e.request_id for e in played.events if e.type == "tool_response"] == asked
    assert played.shapes[2][1:] == ["model:functionCall", "user:functionResponse+functionResponse"]


def test_calls_only_a_failed_attempt_asked_for_are_run_before_the_stream_ends(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}, id="x"))
    broken = [ask, NetworkError("terminated", code="ECONNRESET")]
    played = kit.play([broken, [kit.text("said", "STOP")], [kit.text("done", "STOP")]])
    assert played.texts == ["said", "done"]
    assert played.kinds.count("tool_response") == 1
    assert played.shapes[2] == ["user:text+text", "model:text", "user:functionResponse"]


def test_empty_answer_after_tools_is_nudged_once(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    empty = [kit.text("", "STOP")]
    played = kit.play([[ask], empty, [kit.text(" ", "STOP"), kit.text("words", "STOP")]])
    assert len(played.model.requests) == 3
    last = played.model.requests[2].contents[-1]["parts"][-1]["text"]
    assert last.startswith("[System: You successfully executed a tool")
    assert played.kinds.count("agent_start") == 1
    assert played.ends == [("completed", None)]


def test_nudge_is_not_repeated(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    blank = [kit.parts_chunk({"text": "t", "thoughtSignature": "s"}, finish="STOP")]
    played = kit.play([[ask], [kit.text("", "STOP")], blank])
    assert len(played.model.requests) == 3
    assert played.ends == [("completed", None)]


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        (ToolErrorType.STOP_EXECUTION, "enough", "completed"),
        (ToolErrorType.NO_SPACE_LEFT, "disk full", "failed"),
        (ToolErrorType.NO_SPACE_LEFT, None, "failed"),
    ],
)
def test_tool_may_end_the_stream_once_its_response_is_emitted(
    inner_kit: Kit,
    monkeypatch: pytest.MonkeyPatch,
    kind: ToolErrorType,
    message: str | None,
    reason: str,
) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        schedule = played.services.scheduler.schedule

        async def ending(requests: Any, signal: AbortSignal) -> Any:
            calls = await schedule(requests, signal)
            return [
                replace(c, response=replace(c.response, error=message, error_type=kind))
                for c in calls
            ]

        monkeypatch.setattr(played.services.scheduler, "schedule", ending)
        agent = runtime.agent()
        inner_kit.listen(agent, played)
        await agent.send(inner_kit.message("x"))
        await runtime.settled()
        await agent.send(inner_kit.message("y"))
        await runtime.settled()

    ask = inner_kit.parts_chunk(inner_kit.call("glob", {"pattern": "*"}), finish="STOP")
    played = inner_kit.run(script, [[ask], [inner_kit.text("z", "STOP")]])
    assert played.kinds[4:6] == ["tool_response", "agent_end"]
    assert played.errors == []
    assert played.ends == [(reason, None), ("completed", None)]
    assert played.shapes[1] == ["user:text+text", "model:functionCall", "user:text"]


def test_stop_without_an_error_is_an_answer_like_any_other(
    inner_kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        schedule = played.services.scheduler.schedule

        async def marked(requests: Any, signal: AbortSignal) -> Any:
            kind = ToolErrorType.STOP_EXECUTION
            return [
                replace(c, response=replace(c.response, error_type=kind))
                for c in await schedule(requests, signal)
            ]

        monkeypatch.setattr(played.services.scheduler, "schedule", marked)
        agent = runtime.agent()
        inner_kit.listen(agent, played)
        await agent.send(inner_kit.message("x"))
        await runtime.settled()

    ask = inner_kit.parts_chunk(inner_kit.call("glob", {"pattern": "*"}), finish="STOP")
    played = inner_kit.run(script, [[ask], [inner_kit.text("z", "STOP")]])
    assert played.texts == ["z"]
