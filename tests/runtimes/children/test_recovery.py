"""The last turn of an agent that stops without a result, on every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.chat_recording import ChatRecording
from services.subagents.activity import ActivityType
from services.subagents.definition import RunLimits, TerminateMode
from tests.runtimes.children.child_stage import Played, StandInTool, agent, call, complete, said

Play = Callable[..., Played]
READ = StandInTool("look")
ONE_TURN = agent(tools=(READ,), limits=RunLimits(max_turns=1))
LAST_CHANCE = (
    " You have one final chance to complete the task with a short grace period. You MUST call "
    "`complete_task` immediately with your best answer and explain that your investigation was "
    "interrupted. Do not call any other tools."
)
ANNOUNCED = (
    "Execution limit reached (MAX_TURNS). Attempting one final recovery turn with a grace period."
)


def test_an_agent_out_of_turns_is_warned_and_may_still_complete(played: Play) -> None:
    seen = played([call("look")], [complete("late")], definition=ONE_TURN)
    warning = {"text": f"You have exceeded the maximum number of turns.{LAST_CHANCE}"}
    assert seen.message(1) == [warning]
    assert seen.ended.result == "late"
    assert seen.ended.terminate_reason is TerminateMode.GOAL
    assert seen.thoughts == [ANNOUNCED, "Graceful recovery succeeded."]


def test_the_recovery_turn_is_not_counted(played: Play) -> None:
    seen = played([call("look")], [complete()], definition=ONE_TURN)
    assert seen.ended.turn_count == 1


def test_the_recovery_turn_has_the_prompt_id_of_the_next_turn(played: Play) -> None:
    seen = played([call("look")], [complete()], definition=ONE_TURN)
    own = seen.child.agent_id
    assert [request.prompt_id for request in seen.requests] == [f"{own}#0", f"{own}#1"]


def test_an_agent_that_works_on_in_its_last_turn_has_reached_its_limit(played: Play) -> None:
    seen = played([call("look")], [call("look")], definition=ONE_TURN)
    assert seen.ended.result == "Agent reached max turns limit (1)."
    assert seen.ended.terminate_reason is TerminateMode.MAX_TURNS
    assert seen.errors == [
        "Graceful recovery attempt failed. Reason: continue",
        "Agent reached max turns limit (1).",
    ]
    assert [data["context"] for data in seen.of(ActivityType.ERROR)] == [
        "recovery_turn",
        "max_turns",
    ]


def test_an_agent_that_only_talks_is_warned(played: Play) -> None:
    seen = played([said("I am done.")], [complete("after all")])
    assert seen.message(1)[0]["text"].startswith(
        "You have stopped calling tools without finishing."
    )
    assert seen.errors == [
        "Agent stopped calling tools but did not call 'complete_task' to finalize the session."
    ]
    assert seen.ended.result == "after all"


def test_an_agent_that_only_talks_twice_has_no_result(played: Play) -> None:
    seen = played([said("I am done.")], [said("Really.")])
    assert seen.ended.terminate_reason is TerminateMode.ERROR_NO_COMPLETE_TASK_CALL
    assert seen.ended.result == "Agent stopped calling tools but did not call 'complete_task'."
    unfinished = (
        "Agent stopped calling tools but did not call 'complete_task' to finalize the session."
    )
    assert seen.errors == [
        unfinished,
        unfinished,
        "Graceful recovery attempt failed. Reason: stop",
        "Agent stopped calling tools but did not call 'complete_task'.",
    ]


def test_a_failing_model_in_the_last_turn_is_reported(played: Play) -> None:
    refused = RuntimeError("no more")
    seen = played([said("I am done.")], refused)
    assert "Graceful recovery attempt failed: Error: no more" in seen.errors
    assert seen.ended.terminate_reason is TerminateMode.ERROR_NO_COMPLETE_TASK_CALL


def test_the_result_is_the_recordings_summary_200_characters_at_most(played: Play) -> None:
    seen = played([complete("é" * 201)])
    [(name, lines)] = [item for item in seen.recordings.items() if "/" in item[0]]
    assert lines[-1] == {"$set": {"summary": "é" * 197 + "..."}}
    assert name == f"the-session/{seen.child.agent_id}.jsonl"


def test_a_result_of_200_characters_is_its_own_summary(played: Play) -> None:
    seen = played([complete("x" * 200)])
    [lines] = [lines for name, lines in seen.recordings.items() if "/" in name]
    assert lines[-1] == {"$set": {"summary": "x" * 200}}


def test_a_run_without_result_leaves_no_summary(played: Play) -> None:
    seen = played([said("Done.")], [said("Done.")])
    [lines] = [lines for name, lines in seen.recordings.items() if "/" in name]
    assert not any("summary" in line.get("$set", {}) for line in lines)


def test_a_summary_that_cannot_be_written_costs_no_result(
    played: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: ChatRecording, summary: str) -> None:
        raise OSError(f"no room for {summary}")

    monkeypatch.setattr(ChatRecording, "save_summary", broken)
    seen = played([complete("found it")])
    assert seen.ended.result == "found it"
    assert seen.errors == []
