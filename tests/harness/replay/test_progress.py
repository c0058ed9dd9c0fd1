"""What a run's calls show, as it is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.replay.progress import SeenProgress, settled_output
from harness.replay.runner import run_cassette
from services.progress import (
    AgentActivity,
    CallKey,
    CallMoved,
    CallOutput,
    CallProcess,
    CallQuestion,
    CallReport,
    Notice,
    Thought,
)
from services.tools.contract import CallProgress, ConfirmationDetails
from services.tools.live_output import KEPT_OUTPUT

CALL = CallKey(call_id="c")


class Seen:
    def __init__(self) -> None:
        self.moved: list[str] = []
        self.showed: list[str] = []
        self.progress = SeenProgress(self.moved.append, self.showed.append)

    def take(self, *notices: Notice) -> list[dict[str, Any]]:
        self.progress.take(CallMoved(call=CALL, name="t", status="executing"))
        for notice in notices:
            self.progress.take(notice)
        return self.progress.shown.get("c", [])


def agent(*contents: str, state: str = "running", **more: Any) -> AgentActivity:
    listed = [{"id": str(number), "content": each} for number, each in enumerate(contents)]
    return AgentActivity(call=CALL, agent="helper", state=state, activities=listed, **more)


def test_each_notice_of_a_call_is_recorded_in_order() -> None:
    details = ConfirmationDetails(type="exec", title="Run?", fields={"command": "ls"})

    assert Seen().take(
        CallQuestion(call=CALL, correlation_id="1", details=details),
        CallProcess(call=CALL, process_id=7),
        CallReport(call=CALL, progress=CallProgress(done=1, message="half")),
        CallOutput(call=CALL, output="a"),
        Thought(text="in the events"),
    ) == [
        {"question": {"command": "ls", "type": "exec", "title": "Run?"}},
        {"process": 7},
        {"reported": {"done": 1, "message": "half"}},
        {"output": "a"},
    ]


def test_an_agents_activities_are_recorded_when_they_are_new_or_changed() -> None:
    ended = agent("A", "C", state="completed", result="D", terminate_reason="GOAL")

    shown = [each["agent"] for each in Seen().take(agent("A"), agent("A", "B"), ended)]

    assert [each["listed"] for each in shown] == [1, 2, 2]
    assert [[item["content"] for item in each["changed"]] for each in shown] == [
        ["A"],
        ["B"],
        ["C"],
    ]
    assert (shown[2]["result"], shown[2]["terminateReason"]) == ("D", "GOAL")
    assert "result" not in shown[1]


def test_a_listener_hears_what_a_call_shows_while_it_runs() -> None:
    seen = Seen()
    question = CallQuestion(call=CALL, correlation_id="1", details=None)

    seen.take(question, CallProcess(call=CALL, process_id=7))
    assert (seen.moved, seen.showed) == (["c"], [])
    seen.progress.take(CallOutput(call=CALL, output="a"))
    seen.progress.take(CallReport(call=CALL, progress=CallProgress(done=1)))
    seen.progress.take(agent("A"))
    assert seen.showed == ["t", "t", "t"]


def test_calls_that_show_nothing_are_not_listed() -> None:
    seen = Seen()

    assert seen.take() == []
    assert seen.progress.states == {"c": ["executing"]}
    assert seen.progress.shown == {}


def out(*texts: str) -> list[dict[str, Any]]:
    return [{"output": text} for text in texts]


def test_a_record_has_the_settled_output() -> None:
    texts = [CallOutput(call=CALL, output=text) for text in ("a", "ab")]

    assert Seen().take(*texts) == [{"output": "ab"}]


def test_of_a_stretch_of_texts_the_last_one_settles() -> None:
    process, report = {"process": 1}, {"reported": {"done": 1}}

    assert settled_output([process, *out("a", "ab", "abc")]) == [process, *out("abc")]
    assert settled_output([*out("a", "ab"), report, *out("b")]) == [*out("ab"), report, *out("b")]
    rows = [{"output": {"rows": 1}}, {"output": {"rows": 2}}]
    assert settled_output(rows) == rows


def test_a_text_that_does_not_continue_the_one_before_shows() -> None:
    assert settled_output(out("a", "b", "bc")) == [{"output": "bc", "rewritten": True}]


def test_a_text_at_its_limit_may_lose_its_beginning() -> None:
    long = "b" * KEPT_OUTPUT

    assert settled_output(out("a", long)) == out(long)
    assert settled_output(out("a", long[2:])) == [{"output": long[2:], "rewritten": True}]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_an_action_at_the_first_output_comes_while_the_call_runs(
    tmp_path: Path, runtime: str
) -> None:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "echo one; sleep 40"}}
    content = {"role": "model", "parts": [{"functionCall": call}]}
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        "during": [{"when": {"output": "run_shell_command"}, "do": "abort"}],
        "model": [{"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}],
    }
    cassette = build_cassette(document, tmp_path / "family" / "case.yaml", tmp_path)

    seen = run_cassette(cassette, runtime)

    assert seen.events[-1]["reason"] == "aborted"
    assert seen.tool_states["run_shell_command__c"][-1] == "cancelled"
    assert seen.progress == {"run_shell_command__c": [{"process": 4242}, {"output": "one\n"}]}
