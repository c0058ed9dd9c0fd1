"""What an agent calls and is answered, on every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.state import ApprovalMode
from services.subagents.activity import ActivityType
from services.subagents.definition import OutputConfig, TerminateMode
from services.tools.contract import (
    ConfirmationOutcome,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolResult,
)
from services.wire import JsonObject, Part
from tests.runtimes.children.child_stage import (
    Played,
    StandInTool,
    agent,
    call,
    complete,
)
from tests.runtimes.children.test_time import confirming

Play = Callable[..., Played]


def responses(message: list[Part]) -> list[JsonObject]:
    return [part["functionResponse"] for part in message if "functionResponse" in part]


def test_a_call_without_an_id_is_answered_under_one_that_says_turn_and_place(played: Play) -> None:
    seen = played([call("look"), call("look")], [complete()], definition=agent(tools=(LOOK,)))
    own = seen.child.agent_id
    assert [each["id"] for each in responses(seen.message(1))] == [f"{own}#0-0", f"{own}#0-1"]
    asked = [part["functionCall"] for part in seen.requests[1].contents[1]["parts"]]
    assert all("id" not in each for each in asked)


def test_a_call_with_an_id_is_answered_under_that(played: Play) -> None:
    seen = played([call("look", id="7")], [complete()], definition=agent(tools=(LOOK,)))
    assert [each["id"] for each in responses(seen.message(1))] == ["7"]
    assert seen.of(ActivityType.TOOL_CALL_START)[0]["callId"] == "look__7"


def test_a_call_of_a_tool_that_is_not_the_agents_is_reported_and_then_refused(
    played: Play,
) -> None:
    seen = played([call("read_file", {"file_path": "a"})], [complete()])
    error = "Unauthorized tool call: 'read_file' is not available to this agent."
    assert responses(seen.message(1))[0]["response"] == {"error": error}
    assert [each.type for each in seen.activities[:2]] == [
        ActivityType.TOOL_CALL_START,
        ActivityType.ERROR,
    ]
    assert seen.activities[0].data == {
        "name": "read_file",
        "displayName": "read_file",
        "args": {"file_path": "a"},
        "callId": f"{seen.child.agent_id}#0-0",
    }
    assert seen.activities[1].data["context"] == "tool_call_unauthorized"


def test_arguments_as_text_are_read(played: Play) -> None:
    tool = StandInTool("look")
    seen = played([call("look", '{"at": 1}')], [complete()], definition=agent(tools=(tool,)))
    assert tool.ran == [{"at": 1}]
    assert seen.of(ActivityType.TOOL_CALL_START)[0]["description"] == "doing look"


@pytest.mark.parametrize("text", ["[1]", "1", "null"])
def test_arguments_as_text_of_something_else_are_none(played: Play, text: str) -> None:
    tool = StandInTool("look")
    played([call("look", text)], [complete()], definition=agent(tools=(tool,)))
    assert tool.ran == [{}]


@pytest.mark.parametrize("text", ['{"at": NaN}', "-Infinity", "[" * 100_000])
def test_what_only_python_takes_for_json_is_refused(played: Play, text: str) -> None:
    tool = StandInTool("look")
    seen = played([call("look", text)], [complete()], definition=agent(tools=(tool,)))
    assert tool.ran == []
    assert "Failed to parse JSON arguments" in seen.errors[0]


def test_arguments_that_are_no_json_are_refused_before_any_activity(played: Play) -> None:
    seen = played([call("look", "{")], [complete()], definition=agent(tools=(LOOK,)))
    error = (
        'Failed to parse JSON arguments for tool "look": {. Ensure you provide a valid JSON object.'
    )
    assert responses(seen.message(1))[0]["response"] == {"error": error}
    assert seen.activities[0].type is ActivityType.ERROR
    assert len(seen.of(ActivityType.TOOL_CALL_START)) == 1


def test_a_failing_tool_is_reported_and_the_agent_goes_on(played: Play) -> None:
    async def fail(_: JsonObject, __: ToolExecution) -> ToolResult:
        failure = ToolFailure(message="no luck", type=ToolErrorType.EXECUTION_FAILED)
        return ToolResult(llm_content="", error=failure)

    seen = played(
        [call("try")], [complete("yes")], definition=agent(tools=(StandInTool("try", fail),))
    )
    assert seen.errors == ["no luck"]
    assert seen.of(ActivityType.ERROR)[0]["context"] == "tool_call"
    assert seen.ended.result == "yes"


def test_the_first_of_two_completions_counts(played: Play) -> None:
    seen = played([complete("first"), complete("second")])
    assert seen.ended.result == "first"
    assert len(seen.of(ActivityType.TOOL_CALL_END)) == 2


def test_calls_beside_a_completion_run_too(played: Play) -> None:
    tool = StandInTool("look")
    seen = played([complete("first"), call("look")], definition=agent(tools=(tool,)))
    assert seen.ended.terminate_reason is TerminateMode.GOAL
    assert len(tool.ran) == 1


def test_an_invalid_output_is_refused_and_a_valid_one_taken(played: Play) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    output = OutputConfig(name="report", description="The report.", schema=schema)
    seen = played(
        [call("complete_task", {"report": {}})],
        [call("complete_task", {"report": {"n": 1}})],
        definition=agent(output=output, process_output=lambda value: f"n={value['n']}"),
    )
    assert "error" in responses(seen.message(1))[0]["response"]
    assert seen.ended.result == "n=1"
    assert seen.ended.turn_count == 2


def test_a_persons_no_goes_to_the_model_and_the_agent_goes_on(played: Play) -> None:
    tool = StandInTool("risk")
    seen = played(
        [call("risk")],
        [complete("another way")],
        definition=agent(tools=(tool,)),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([0], [ConfirmationOutcome.CANCEL]),
    )
    rejected = (
        "User rejected this operation. Please acknowledge this, rethink your strategy, and try a "
        "different approach. If you cannot proceed without the rejected operation, summarize the "
        "issue and use `complete_task` to report your findings and the blocker."
    )
    assert responses(seen.message(1))[0]["response"] == {"error": rejected}
    assert seen.of(ActivityType.ERROR)[0]["errorType"] == "REJECTED"
    assert seen.ended.result == "another way"


def test_a_no_cancels_what_waits_behind_it_and_with_that_the_agent(played: Play) -> None:
    later = call("write", {"wait_for_previous": True})
    seen = played(
        [call("risk"), later],
        definition=agent(tools=(StandInTool("risk"), StandInTool("write"))),
        mode=ApprovalMode.DEFAULT,
        interactive=True,
        meanwhile=confirming([0], [ConfirmationOutcome.CANCEL]),
    )
    assert seen.ended.terminate_reason is TerminateMode.ABORTED
    kinds = [data["errorType"] for data in seen.of(ActivityType.ERROR)]
    assert kinds == ["CANCELLED", "REJECTED"]


def test_only_the_first_part_of_an_answer_goes_to_the_model(played: Play) -> None:
    async def picture(_: JsonObject, __: ToolExecution) -> ToolResult:
        blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
        return ToolResult(llm_content=["see", blob])

    seen = played(
        [call("look")],
        [complete()],
        definition=agent(tools=(StandInTool("look", picture),)),
        model="gemini-2.5-flash",
    )
    assert len(seen.message(1)) == 1


def test_the_completed_calls_are_in_the_agents_recording(played: Play) -> None:
    seen = played([call("look")], [complete("x")], definition=agent(tools=(LOOK,)))
    [lines] = [lines for name, lines in seen.recordings.items() if "/" in name]
    recorded = [line["toolCalls"][0]["name"] for line in lines if "toolCalls" in line]
    assert recorded == ["look", "complete_task"]
    assert lines[0]["kind"] == "subagent"
    assert lines[0]["sessionId"] == seen.child.agent_id
    assert [folder.rpartition("/")[2] for folder in lines[0]["directories"]] == ["ws"]


def test_a_tool_that_needs_a_question_is_not_the_agents(played: Play) -> None:
    seen = played(
        [call("look")], [complete()], definition=agent(tools=(LOOK,)), mode=ApprovalMode.DEFAULT
    )
    assert seen.errors == ["Unauthorized tool call: 'look' is not available to this agent."]


LOOK = StandInTool("look")
