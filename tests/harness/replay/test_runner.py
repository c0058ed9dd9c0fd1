"""The observation of one run, and how a run can end."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import harness.replay.runner as runner
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.errors import ReplayFailure
from harness.replay.observation import Observation
from harness.replay.runner import observe_cassette, run_cassette
from harness.replay.trace import trace_json
from runtimes import legacy
from runtimes.contract import RuntimeTraits
from runtimes.features import BUILT
from runtimes.registry import UnknownRuntime
from services.bundle import Services
from services.clock import virtual_loop

WRITE = {"functionCall": {"name": "write_file", "args": {"file_path": "new.txt", "content": "n"}}}


def step(*parts: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def cassette(**keys: Any) -> Cassette:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        "model": [{"text": "hi"}],
        **keys,
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def run(runtime: str = "legacy", **keys: Any) -> Observation:
    return run_cassette(cassette(**keys), runtime, deadline_s=20)


def kinds(seen: Observation) -> list[str]:
    return [event["type"] for event in seen.events]


def test_a_run_is_observed_on_every_channel() -> None:
    seen = run(
        files={"old.txt": "o"},
        model=[
            {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}},
            step(WRITE),
            {"text": "done"},
        ],
    )

    assert kinds(seen)[0] == "message"
    assert kinds(seen)[-1] == "agent_end"
    assert [content["role"] for content in seen.transcript] == ["user", "model", "user", "model"]
    assert [request.method for request in seen.requests] == ["generateContentStream"] * 3
    assert [retry.delay_ms for retry in seen.retries] == [5000]
    assert list(seen.tool_states.values()) == [["validating", "scheduled", "executing", "success"]]
    assert seen.workspace_changes == {"new.txt": "n"}
    assert len(seen.recording) == 1
    assert (seen.notes, seen.unused_steps, seen.error, seen.stalled) == ([], [], None, False)


def test_a_recorded_line_may_contain_other_line_separators() -> None:
    seen = run(model=[{"text": "a\u2028b\u0085c"}])

    (lines,) = seen.recording.values()
    assert all(isinstance(line, dict) for line in lines)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run(model=[step(WRITE), {"text": "done"}])

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_stalled_run_differs_from_one_that_ended(runtime: str) -> None:
    seen = run(runtime, model=[{"hang": True}])

    assert seen.stalled
    assert not seen.deadline_passed
    assert "nothing was left to happen" in (seen.error or "")
    assert "agent_start" in kinds(seen)


def test_a_run_that_takes_too_long_is_cut_off() -> None:
    seen = run_cassette(
        cassette(
            model=[step({"functionCall": {"name": "run_shell_command", "args": SLEEP}})],
        ),
        "legacy",
        deadline_s=0.5,
    )

    assert seen.deadline_passed
    assert "deadline of 0.5 s" in (seen.error or "")


SLEEP = {"command": "sleep 60"}


def test_missing_features_are_reported_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy, "TRAITS", RuntimeTraits(features=BUILT - {"plan_mode"}))
    seen = run(model=[step({"functionCall": {"name": "enter_plan_mode", "args": {}}})])

    assert seen.error == "not supported by this build: plan_mode"
    assert (seen.events, seen.requests) == ([], [])


def test_imported_answers_run_whatever_tools_they_call() -> None:
    seen = run(
        provenance={"kind": "imported"},
        model=[
            step({"functionCall": {"name": "invoke_agent", "args": {"agent_name": "x"}}}),
            {"text": "done"},
        ],
    )

    assert seen.error is None
    assert "tool_response" in kinds(seen)


def test_an_unknown_runtime_is_refused() -> None:
    with pytest.raises(UnknownRuntime, match="'absent'"):
        run("absent")


def test_errors_of_a_runtime_are_observations(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def broken(name: str, services: Services) -> AsyncIterator[None]:
        raise ValueError("no engine")
        yield

    monkeypatch.setattr(runner, "open_runtime", broken)

    assert run().error == "ValueError: no engine"


def test_a_run_out_of_memory_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @asynccontextmanager
    async def too_big(name: str, services: Services) -> AsyncIterator[None]:
        raise ExceptionGroup("of tasks", [MemoryError()])
        yield

    monkeypatch.setattr(runner, "open_runtime", too_big)

    with pytest.raises(ReplayFailure, match="Cannot allocate memory"):
        run()


def test_a_request_without_a_step_is_noted_and_left_over_steps_are_listed() -> None:
    short = run(model=[])
    long = run(model=[{"text": "a"}, {"text": "b"}])

    assert len(short.notes) == 1
    assert long.unused_steps == [1]


def test_the_script_can_change_model_mode_and_files() -> None:
    seen = run(
        script=[
            {"send": "x"},
            {"set_model": {"model": "gemini-2.5-pro"}},
            {"set_approval_mode": {"mode": "auto_edit"}},
            {"write_file": {"path": "sub/f.txt", "text": "t"}},
            {"reset": True},
            {"send": "y"},
        ],
        model=[{"text": "a"}, {"text": "b"}],
    )

    assert [request.model for request in seen.requests] == ["gemini-2.5-flash", "gemini-2.5-pro"]
    assert [event["event"] for event in seen.side_events] == [
        "model-changed",
        "approval-mode-changed",
    ]
    assert seen.workspace_changes == {"sub/f.txt": "t"}
    assert len(seen.transcript) == 2


@pytest.mark.parametrize(
    "when",
    [
        {"events": 3},
        {"type": "session_update"},
        {"request": 0},
        {"chunk": "0:0"},
    ],
    ids=str,
)
def test_an_abort_happens_at_its_moment(when: dict[str, Any]) -> None:
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}
        for text in ("a", "b", "c")
    ]
    seen = run(during=[{"when": when, "do": "abort"}], model=[{"stream": chunks}], unused=[0])

    assert seen.events[-1]["reason"] == "aborted"
    assert "'c'" not in str(seen.events)


def test_an_abort_waits_for_the_tool_it_names() -> None:
    seen = run(
        during=[{"when": {"tool": "write_file"}, "do": "abort"}], model=[step(WRITE), {"text": "z"}]
    )

    assert "tool_request" in kinds(seen)
    assert seen.events[-1]["reason"] == "aborted"


def test_a_send_while_a_stream_runs_is_noted_as_rejected() -> None:
    seen = run(
        during=[{"when": {"type": "agent_start"}, "do": {"send": "again"}}],
        model=[{"text": "a", "delay_ms": 20}],
    )

    assert seen.side_events == [{"event": "send-rejected", "kind": "StreamActive"}]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_send_due_after_the_script_is_dropped(runtime: str) -> None:
    late = {"when": {"type": "agent_start"}, "delay_ms": 50, "do": {"send": "again"}}

    seen = run(runtime, during=[late])

    assert (seen.error, kinds(seen).count("agent_end")) == (None, 1)


def test_a_send_of_an_unsupported_kind_is_noted_and_the_script_goes_on() -> None:
    seen = run(script=[{"send": {"action": {"type": "x", "data": 1}}}, {"send": "y"}])

    assert seen.side_events == [{"event": "send-rejected", "kind": "UnsupportedSend"}]
    assert kinds(seen)[-1] == "agent_end"


def test_confirmations_are_answered_in_turn_and_the_last_repeats() -> None:
    def write(name: str) -> dict[str, Any]:
        args = {"file_path": name, "content": "x"}
        return step({"functionCall": {"name": "write_file", "args": args}})

    seen = run(
        session={"model": "gemini-2.5-flash", "interactive": True},
        answers={"confirmations": ["proceed_once", "cancel"]},
        model=[write("a"), write("b"), {"text": "stop"}],
    )

    outcomes = [event["outcome"] for event in seen.side_events]
    assert outcomes == ["proceed_once", "cancel"]
    assert seen.workspace_changes == {"a": "x"}


def asked_about_writing(**keys: Any) -> dict[str, Any]:
    """Keys of a cassette in which the user allows a call after a minute and a half."""
    return {
        "session": {"model": "gemini-2.5-flash", "interactive": True},
        "answers": {"confirmations": [{"outcome": "proceed_once", "delay_ms": 90_000}]},
        "script": [{"send": "x"}, {"send": "y"}],
        **keys,
    }


def seconds(seen: Observation, type: str) -> list[int]:
    """The times of events of a type, from the run's first event."""
    first = datetime.fromisoformat(seen.events[0]["timestamp"])
    found = [event["timestamp"] for event in seen.events if event["type"] == type]
    return [int((datetime.fromisoformat(time) - first).total_seconds()) for time in found]


def test_a_confirmation_may_be_delayed() -> None:
    seen = run(**asked_about_writing(model=[step(WRITE), {"text": "a"}, {"text": "b"}]))

    assert seconds(seen, "tool_response") == [90]
    assert [event["outcome"] for event in seen.side_events] == ["proceed_once"]
    assert seen.workspace_changes == {"new.txt": "n"}


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_question_withdrawn_by_an_abort_gets_no_answer(runtime: str) -> None:
    keys = asked_about_writing(
        during=[{"when": {"tool": "write_file"}, "delay_ms": 5000, "do": "abort"}],
        model=[step(WRITE), {"text": "b", "delay_ms": 200_000}],
    )

    async def observe() -> tuple[Observation, int]:
        seen = await observe_cassette(cassette(**keys), runtime, deadline_s=20)
        return seen, len(asyncio.all_tasks())

    with asyncio.Runner(loop_factory=virtual_loop) as loop:
        seen, tasks = loop.run(observe())

    assert seconds(seen, "agent_end") == [5, 205]
    assert [event["outcome"] for event in seen.side_events] == [None]
    assert list(seen.tool_states.values()) == [["validating", "awaiting_approval", "cancelled"]]
    assert (seen.workspace_changes, seen.error, tasks) == ({}, None, 1)


def test_each_send_may_have_an_agent_and_prompt_id_of_its_own() -> None:
    seen = run(
        session={"model": "gemini-2.5-flash", "new_session_per_send": True},
        script=[{"send": "x"}, {"send": "y"}],
        model=[{"text": "a"}, {"text": "b"}],
    )

    assert kinds(seen).count("session_update") == 2
    assert len(seen.transcript) == 4


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_observations_do_not_show_the_places_of_packages(runtime: str) -> None:
    seen = run(runtime, script=[{"send": {"content": []}}], model=[{"text": "x"}], unused=[0])

    text = trace_json(seen)
    stacks = [event["_meta"]["stack"] for event in seen.events if "stack" in event.get("_meta", {})]
    assert any(str(Path(runner.__file__).parents[2]) in stack for stack in stacks)
    assert "<CODE>/" in text
    assert str(Path(runner.__file__).parents[2]) not in text
    assert sys.prefix not in text
