"""Hints, compression, retries and thoughts of a running agent, on every engine."""

from __future__ import annotations

from collections.abc import Callable

from services.model.errors import ApiError
from services.model.generator import LlmRole
from services.steering import InjectionSource
from services.subagents.activity import ActivityType
from services.subagents.definition import AgentPrompt, RunLimits
from services.tools.contract import ToolExecution, ToolResult
from services.wire import JsonObject
from tests.runtimes.children.child_stage import (
    Played,
    Scene,
    StandInTool,
    agent,
    call,
    complete,
    said,
)

Play = Callable[..., Played]


def test_hints_and_completions_go_before_the_answers_completions_first(played: Play) -> None:
    tool = StandInTool("look")

    async def enter(scene: Scene) -> None:
        async def body(_: JsonObject, __: ToolExecution) -> ToolResult:
            steering = scene.services.steering
            steering.add("hurry", InjectionSource.USER_STEERING)
            steering.add("exit 0", InjectionSource.BACKGROUND_COMPLETION)
            return ToolResult(llm_content="ok")

        tool.body = body

    seen = played(
        [call("look")],
        [complete()],
        definition=agent(tools=(tool,)),
        model_steering=True,
        meanwhile=enter,
    )
    completion, hint, response = seen.message(1)
    assert completion["text"].startswith("Background execution update:\n<background_output>\nexit")
    assert hint["text"].startswith("User hints:\n<user_input>\n- hurry\n")
    assert "functionResponse" in response


def test_hints_during_the_last_turn_are_not_part_of_the_recovery(played: Play) -> None:
    tool = StandInTool("look")

    async def enter(scene: Scene) -> None:
        async def body(_: JsonObject, __: ToolExecution) -> ToolResult:
            scene.services.steering.add("hurry", InjectionSource.USER_STEERING)
            return ToolResult(llm_content="ok")

        tool.body = body

    limits = RunLimits(max_turns=1)
    seen = played(
        [call("look")],
        [complete()],
        definition=agent(tools=(tool,), limits=limits),
        model_steering=True,
        meanwhile=enter,
    )
    assert [part["text"][:24] for part in seen.message(1)] == ["You have exceeded the ma"]


def test_the_subject_of_a_thought_is_an_activity(played: Play) -> None:
    thought = {"text": "**Weighing** the options", "thought": True}
    seen = played([thought, complete()])
    assert seen.thoughts == ["Weighing"]


def test_calls_of_an_attempt_that_broke_off_are_made_as_well(played: Play) -> None:
    tool = StandInTool("look")
    busy = ApiError(503, "busy")
    seen = played(
        busy, [call("look")], [complete()], definition=agent(tools=(tool,)), max_attempts=3
    )
    assert len(tool.ran) == 1
    assert seen.ended.result == "done"


def test_an_agent_without_instructions_sends_none(played: Play) -> None:
    opening = ({"role": "user", "parts": [{"text": "About ${query}."}]},)
    prompt = AgentPrompt(initial_messages=opening)
    seen = played([complete()], definition=agent(prompt=prompt))
    assert not seen.requests[0].config.get("systemInstruction")
    texts = [part["text"] for each in seen.requests[0].contents for part in each["parts"]]
    assert texts == ["About go.", "Get Started!"]


def test_an_agent_with_nothing_to_say_fails(played: Play) -> None:
    seen = played(definition=agent(prompt=AgentPrompt()))
    message = "PromptConfig must define either `systemPrompt` or `initialMessages`."
    assert str(seen.error) == message
    assert seen.errors == [f"Error: {message}"]
    assert seen.recordings == {
        name: lines for name, lines in seen.recordings.items() if "/" not in name
    }


def test_an_input_that_is_missing_fails_the_agent(played: Play) -> None:
    seen = played(inputs={"other": 1})
    assert str(seen.error) == (
        "Template validation failed: Missing required input parameters: query. "
        "Available inputs: other, cliVersion, activeModel, today"
    )


def test_the_model_the_day_and_the_version_are_inputs(played: Play) -> None:
    prompt = AgentPrompt(system="x", query="${activeModel} ${today} ${cliVersion}")
    seen = played([complete()], definition=agent(prompt=prompt), inputs={"today": "never"})
    assert seen.message(0) == [{"text": "gemini-2.5-flash 1/1/2026 unknown"}]


def talk(turns: int) -> AgentPrompt:
    """An agent that begins with a conversation."""
    said = {"parts": [{"text": "word " * 500}]}
    history = tuple({"role": role, **said} for _ in range(turns) for role in ("user", "model"))
    return AgentPrompt(system="x", initial_messages=history, query="${query}")


def test_a_history_that_is_too_long_is_summed_up(played: Play) -> None:
    seen = played(
        [complete()],
        definition=agent(prompt=talk(4)),
        compression_threshold=0.000001,
        summaries=["<state_snapshot>short</state_snapshot>"] * 2,
    )
    assert "<state_snapshot>short" in str(seen.requests[0].contents[0])
    [lines] = [lines for name, lines in seen.recordings.items() if "/" in name]
    assert any("messages" in line.get("$set", {}) for line in lines)


def test_after_a_summary_that_is_longer_there_is_no_second_one(played: Play) -> None:
    seen = played(
        [call("look")],
        [call("look")],
        [complete()],
        definition=agent(prompt=talk(4), tools=(LOOK,)),
        compression_threshold=0.000001,
        summaries=["<state_snapshot>" + "long " * 90_000] * 6,
        counted=2000,
    )
    assert seen.ended.turn_count == 3
    assert [request.role for request in seen.others] == [LlmRole.UTILITY_COMPRESSOR] * 2


def test_the_agent_may_look_at_its_chat_before_each_turn(played: Play) -> None:
    turns: list[object] = []

    async def look(chat: object) -> None:
        turns.append(chat)

    seen = played(
        [call("look")], [complete()], definition=agent(tools=(LOOK,), on_before_turn=look)
    )
    assert len(turns) == len(seen.requests) == 2


def test_words_beside_calls_are_no_result(played: Play) -> None:
    seen = played([said("by the way"), complete("the result")])
    assert seen.ended.result == "the result"
    assert [each.type for each in seen.activities] == [
        ActivityType.TOOL_CALL_START,
        ActivityType.TOOL_CALL_END,
    ]


LOOK = StandInTool("look")
