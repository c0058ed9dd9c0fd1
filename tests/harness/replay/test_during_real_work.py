"""`during` actions while a child process stops virtual time."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from harness.cassette.load import build_cassette
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": "c", "name": name, "args": args}}


def observe(tmp_path: Path, **keys: Any) -> Observation:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        **keys,
    }
    return run_cassette(
        build_cassette(document, tmp_path / "family" / "case.yaml", tmp_path), "legacy"
    )


def test_a_command_is_interrupted_when_the_delay_has_passed_in_real_time(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        during=[{"when": {"tool": "run_shell_command"}, "delay_ms": 50, "do": "abort"}],
        model=[answer(call("run_shell_command", command="sleep 40")), {"text": "never"}],
    )

    assert seen.events[-1]["reason"] == "aborted"
    assert seen.tool_states["run_shell_command__c"][-1] == "cancelled"
    assert list(seen.unused_steps) == [1]


def test_a_delay_does_not_interrupt_a_short_command(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        during=[{"when": {"tool": "run_shell_command"}, "delay_ms": 50, "do": "abort"}],
        model=[answer(call("run_shell_command", command="true")), {"hang": True}],
    )

    assert seen.events[-1]["reason"] == "aborted"
    assert seen.tool_states["run_shell_command__c"][-1] == "success"


def test_two_calls_of_one_id_in_a_wave_leave_one_row_of_states(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        files={"a.txt": "a", "b.txt": "b"},
        model=[
            answer(call("read_file", file_path="a.txt"), call("read_file", file_path="b.txt")),
            {"text": "done"},
        ],
    )

    assert seen.tool_states == {"read_file__c": ["validating", "scheduled", "executing", "success"]}


def test_a_path_beside_the_workspace_is_masked_alike_in_every_run(tmp_path: Path) -> None:
    keys = {"model": [answer(call("read_file", file_path="../q")), {"text": "done"}]}
    first, second = observe(tmp_path, **keys), observe(tmp_path, **keys)

    assert trace_json(first) == trace_json(second)
    assert 'Attempted path \\"<WS>/../q\\" resolves outside' in trace_json(first)


def test_a_delay_counts_from_the_event_whatever_runs_before_its_task(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        during=[{"when": {"type": "tool_request"}, "delay_ms": 700, "do": "abort"}],
        model=[answer(call("no_such_tool")), {"text": "too late", "delay_ms": 5_000}],
    )

    asked = next(event for event in seen.events if event["type"] == "tool_request")
    ended = seen.events[-1]
    waited = [datetime.fromisoformat(event["timestamp"]) for event in (asked, ended)]
    assert ended["reason"] == "aborted"
    assert waited[1] - waited[0] == timedelta(milliseconds=700)
