"""Hooks around prompts and model calls."""

from __future__ import annotations

import json

from runtimes.contract import Runtime
from services.wire import JsonObject
from tests.runtimes.kit import Kit, Played

READ = ("read_file", {"file_path": "a.txt"})
BLOCK = {"decision": "block", "reason": "do more", "systemMessage": " shown "}


def hooks(**events: JsonObject | None) -> JsonObject:
    """Each event's hooks log their input; one with an output gives it the first time only."""
    found: JsonObject = {}
    for event, output in events.items():
        said = f"printf '%s' '{json.dumps(output)}'" if output else ":"
        command = f"[ -e {event} ] || {said}; cat >> {event}; echo >> {event}"
        found[event] = [{"hooks": [{"type": "command", "command": command}]}]
    return found


def inputs(played: Played, event: str) -> list[JsonObject]:
    """What the hooks of an event were given."""
    log = played.services.workspace.root / event
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_a_prompt_with_a_tool_round_fires_before_and_after_agent_once(kit: Kit) -> None:
    asked = kit.parts_chunk({"text": "a look"}, kit.call(*READ), finish="STOP")
    steps = [[asked], [kit.text("done", "STOP")]]
    played = kit.play(steps, hooks=hooks(BeforeAgent=None, AfterAgent=None))
    (before,) = inputs(played, "BeforeAgent")
    (after,) = inputs(played, "AfterAgent")
    assert before["prompt"] == after["prompt"] == "hello"
    assert after["prompt_response"] == "a look\ndone"
    assert before["transcript_path"].endswith(".jsonl")


def test_after_agent_gets_the_first_fragment_whole_and_a_blank_for_a_thought(kit: Kit) -> None:
    thought = kit.parts_chunk({"text": "hm", "thought": True})
    played = kit.play(
        [[thought, kit.text("Hel"), kit.text("lo", "STOP")]], hooks=hooks(AfterAgent=None)
    )
    (after,) = inputs(played, "AfterAgent")
    assert after["prompt_response"] == " Hello lo"
    assert played.texts[-2:] == ["Hel", "lo"]


def test_a_blocked_end_goes_on_in_the_same_stream_with_its_reason(kit: Kit) -> None:
    steps = [[kit.text("one", "STOP")], [kit.text("two", "STOP")]]
    played = kit.play(steps, hooks=hooks(AfterAgent=BLOCK))
    (error,) = played.errors
    assert (error.status, error.message, error.fatal) == ("PERMISSION_DENIED", "shown", False)
    assert played.texts == ["one", "two"]
    assert played.model.requests[1].contents[-1]["parts"] == [{"text": "do more"}]
    assert [each["stop_hook_active"] for each in inputs(played, "AfterAgent")] == [False, True]
    assert played.ends == [("completed", None)]


def test_a_blocked_end_that_clears_the_context_goes_on_in_a_new_chat(kit: Kit) -> None:
    clear = {**BLOCK, "hookSpecificOutput": {"clearContext": True}}
    steps = [[kit.text("one", "STOP")], [kit.text("two", "STOP")]]
    played = kit.play(steps, hooks=hooks(AfterAgent=clear))
    assert "hello" not in str(played.model.requests[1].contents)
    assert "hello" not in str(played.transcript)


def test_a_stopped_prompt_stays_in_history_and_asks_no_model(kit: Kit) -> None:
    stop = {"continue": False, "stopReason": "halt"}
    played = kit.play([], hooks=hooks(BeforeAgent=stop))
    assert played.ends == [("completed", {"message": "halt"})]
    assert played.transcript[-1]["parts"][-1] == {"text": "hello"}
    assert played.model.requests == []


def test_a_call_that_a_hook_hides_from_clients_is_not_run(kit: Kit) -> None:
    instead = {
        "candidates": [{"content": {"role": "model", "parts": ["other"]}, "finishReason": "STOP"}]
    }
    output = {"hookSpecificOutput": {"llm_response": instead}}
    steps = [[kit.parts_chunk(kit.call(*READ), finish="STOP")]]
    played = kit.play(steps, hooks=hooks(AfterModel=output))
    assert played.texts == ["other"]
    assert "tool_response" not in played.kinds
    assert kit.shape(played.transcript[-1]) == "model:functionCall"
    assert played.ends == [("completed", None)]


def test_an_attempt_that_a_hook_blocks_is_neither_repeated_nor_taken_back(kit: Kit) -> None:
    synthetic = {
        "candidates": [{"content": {"role": "model", "parts": ["made up"]}, "finishReason": "STOP"}]
    }
    output = {**BLOCK, "hookSpecificOutput": {"llm_response": synthetic}}
    played = kit.play([], hooks=hooks(BeforeModel=output))
    assert [error.message for error in played.errors] == ["do more"]
    assert played.texts == ["made up"]
    assert "hello" in str(played.transcript[-1])
    assert played.transcript[-1]["role"] == "user"
    assert len(inputs(played, "BeforeModel")) == 1
    assert played.ends == [("completed", None)]


def test_an_earlier_prompt_id_that_comes_back_is_a_new_prompt(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        for prompt_id in ("blocked", "other", "blocked"):
            agent = runtime.agent(prompt_id=prompt_id)
            kit.listen(agent, played)
            await agent.send(kit.message(prompt_id))
            await runtime.settled()

    steps = [[kit.text("one", "STOP")], [kit.text("two", "STOP")]]
    played = kit.run(script, steps, hooks=hooks(BeforeAgent=BLOCK, AfterAgent=None))
    assert [each["prompt"] for each in inputs(played, "BeforeAgent")] == [
        "blocked",
        "other",
        "blocked",
    ]
    assert [each["prompt_response"] for each in inputs(played, "AfterAgent")] == ["one", "two"]
