"""What a child does, whichever engine it runs on.

Source of what is expected: core `agents/local-executor.ts` and `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_protocol.agent import ActionSend, MessageSend, UpdateSend
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive
from services.model.errors import ApiError
from services.steering import InjectionSource
from services.subagents.definition import AgentOutput, TerminateMode
from services.tools.contract import ConfirmationOutcome

READ = ("read_file", {"file_path": "a.txt"})
STOPPED = "Agent stopped calling tools but did not call 'complete_task' to finalize the session."
LAST_CHANCE = "Attempting one final recovery turn with a grace period."
TAIL = (
    " You have one final chance to complete the task with a short grace period. You MUST call "
    "`complete_task` immediately with your best answer and explain that your investigation was "
    "interrupted. Do not call any other tools."
)
ABORTED = AgentOutput(result="", terminate_reason=TerminateMode.ABORTED)


def ended(output: AgentOutput) -> tuple[str, str, int | None]:
    return output.terminate_reason.value, output.result, output.turn_count


async def hang(execution) -> None:
    await execution.signal.wait()
    execution.signal.raise_if_aborted()


def test_task_is_done_when_complete_task_says_so(nursery):
    async def script(room):
        output = await room.raised(nursery.agent("read_file"))
        assert ended(output) == ("GOAL", "the result", 2)
        assert room.told == [
            ("THOUGHT_CHUNK", "Looking"),
            ("TOOL_CALL_START", "read_file"),
            ("TOOL_CALL_END", "read_file"),
            ("TOOL_CALL_START", "complete_task"),
            ("TOOL_CALL_END", "complete_task"),
        ]
        assert room.last_texts(0) == ["go"]
        assert room.last_texts(1) == ['{"output": "alpha\\n"}']
        assert len(room.model.requests) == 2

    nursery.run(script, [nursery.calls(READ, thought="Looking"), nursery.done()])


def test_each_activity_is_told_before_its_event_and_events_are_numbered(nursery):
    async def script(room):
        child = room.child(nursery.agent("read_file"))
        await child.start({"query": "go"})
        await child.result()
        assert room.order == [
            "agent_start",
            *("TOOL_CALL_START", "tool_request", "TOOL_CALL_END", "tool_response"),
            *("TOOL_CALL_START", "tool_request", "TOOL_CALL_END", "tool_response"),
            "agent_end",
        ]
        numbers = [event.id.rpartition("-") for event in child.events]
        assert [number for _, _, number in numbers] == [str(n) for n in range(len(numbers))]
        assert {stream for stream, _, _ in numbers} == {child.events[0].stream_id}
        assert child.events[-1].reason == "completed"

    nursery.run(script, [nursery.calls(READ), nursery.done()])


def test_calls_without_ids_stay_so_and_their_answers_are_numbered_by_turn(nursery):
    async def script(room):
        child = room.child(nursery.agent("read_file"))
        await child.start({"query": "go"})
        await child.result()
        call, answer = room.child_requests[1].contents[1:]
        assert "id" not in call["parts"][0]["functionCall"]
        assert answer["parts"][0]["functionResponse"]["id"] == f"{child.agent_id}#0-0"
        assert [r.prompt_id for r in room.child_requests] == [
            f"{child.agent_id}#0",
            f"{child.agent_id}#1",
        ]

    nursery.run(script, [nursery.calls(READ), nursery.done()])


def test_recovery_after_the_last_turn_is_not_counted_and_replaces_what_was_to_be_sent(nursery):
    async def script(room):
        output = await room.raised(nursery.agent("read_file", turns=1))
        assert ended(output) == ("GOAL", "late", 1)
        warning = f"You have exceeded the maximum number of turns.{TAIL}"
        assert room.last_texts(1) == [warning]
        kinds = [next(iter(part)) for c in room.child_requests[1].contents for part in c["parts"]]
        assert kinds == ["text", "functionCall", "text"]
        assert room.child_requests[1].prompt_id.endswith("#1")
        assert room.told[2] == (
            "THOUGHT_CHUNK",
            f"Execution limit reached (MAX_TURNS). {LAST_CHANCE}",
        )
        assert room.told[-1] == ("THOUGHT_CHUNK", "Graceful recovery succeeded.")

    nursery.run(script, [nursery.calls(READ), nursery.done("late")])


def test_recovery_that_only_calls_other_tools_has_failed(nursery):
    async def script(room):
        tool = nursery.Tool("probe")
        output = await room.raised(nursery.agent(tool, turns=1))
        assert ended(output) == ("MAX_TURNS", "Agent reached max turns limit (1).", 1)
        assert tool.ran == 2
        assert room.told[-2:] == [
            ("ERROR", "Graceful recovery attempt failed. Reason: continue"),
            ("ERROR", "Agent reached max turns limit (1)."),
        ]
        assert room.order[-1] == "agent_end"

    steps = [nursery.calls(("probe", {}))] * 2
    nursery.run(script, steps, yolo=True)


def test_stopping_twice_without_completing_is_a_failure(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.start({"query": "go"})
        output = await child.result()
        assert ended(output) == (
            "ERROR_NO_COMPLETE_TASK_CALL",
            "Agent stopped calling tools but did not call 'complete_task'.",
            1,
        )
        assert [text for _, text in room.told] == [
            STOPPED,
            f"Execution limit reached (ERROR_NO_COMPLETE_TASK_CALL). {LAST_CHANCE}",
            STOPPED,
            "Graceful recovery attempt failed. Reason: stop",
            "Agent stopped calling tools but did not call 'complete_task'.",
        ]
        assert room.last_texts(1) == [f"You have stopped calling tools without finishing.{TAIL}"]
        assert child.events[-1].reason == "failed"

    nursery.run(script, [nursery.says("hm"), nursery.says("hm")])


def test_time_that_is_up_while_the_model_answers_leads_to_recovery(nursery):
    async def script(room):
        output = await room.raised(nursery.agent(minutes=2))
        assert ended(output) == ("GOAL", "late", 1)
        assert output.duration_ms == 120_000
        assert room.last_texts(1) == [f"You have exceeded the time limit.{TAIL}"]

    nursery.run(script, [[nursery.HANG], nursery.done("late")])


def test_grace_that_is_over_as_well_ends_in_the_time_limit(nursery):
    async def script(room):
        child = room.child(nursery.agent(minutes=0.5))
        await child.start({"query": "go"})
        output = await child.result()
        assert ended(output) == ("TIMEOUT", "Agent timed out after 0.5 minutes.", 1)
        assert output.duration_ms == 30_000 + 60_000
        assert [text for _, text in room.told[-2:]] == [
            "Graceful recovery attempt failed: AbortError: The operation was aborted.",
            "Agent timed out after 0.5 minutes.",
        ]
        assert child.events[-1].reason == "max_time"
        assert room.model.open_streams == 0

    nursery.run(script, [[nursery.HANG], [nursery.HANG]])


def test_time_that_is_up_while_a_tool_runs_aborts_the_child(nursery):
    async def script(room):
        output = await room.raised(nursery.agent(nursery.Tool("slow", hang), minutes=1))
        assert ended(output) == ("ABORTED", "Agent execution was terminated before completion.", 1)
        assert room.told[-1] == ("ERROR", "Request cancelled.")

    nursery.run(script, [nursery.calls(("slow", {}))], yolo=True)


def test_waiting_for_a_person_is_not_counted_as_time(nursery):
    async def script(room):
        room.answer_questions(ConfirmationOutcome.PROCEED_ONCE, after_ms=300_000)
        tool = nursery.Tool("risky")
        output = await room.raised(nursery.agent(tool, minutes=1))
        assert ended(output) == ("GOAL", "the result", 2)
        assert output.duration_ms >= 300_000
        assert tool.ran == 1

    nursery.run(script, [nursery.calls(("risky", {})), nursery.done()], interactive=True)


def test_persons_no_is_told_to_the_model_and_the_child_goes_on(nursery):
    async def script(room):
        room.answer_questions(ConfirmationOutcome.CANCEL)
        output = await room.raised(nursery.agent(nursery.Tool("risky")))
        assert ended(output) == ("GOAL", "the result", 2)
        (answer,) = room.last_texts(1)
        assert json.loads(answer)["error"].startswith("User rejected this operation. Please")
        assert room.activities[1].data["errorType"] == "REJECTED"

    nursery.run(script, [nursery.calls(("risky", {})), nursery.done()], interactive=True)


def test_first_of_two_completions_counts_and_other_calls_of_the_turn_are_made(nursery):
    async def script(room):
        tool = nursery.Tool("probe")
        output = await room.raised(nursery.agent(tool))
        assert ended(output) == ("GOAL", "first", 1)
        assert tool.ran == 1

    completions = [("complete_task", {"result": text}) for text in ("first", "second")]
    steps = [nursery.calls(completions[0], ("probe", {}), completions[1])]
    nursery.run(script, steps, yolo=True)


def test_completion_that_is_not_valid_is_told_to_the_model_and_may_be_mended(nursery):
    async def script(room):
        output = await room.raised(nursery.agent())
        assert ended(output) == ("GOAL", "the result", 2)
        assert "Missing required" in room.last_texts(1)[0]
        assert room.told[1][0] == "ERROR"

    nursery.run(script, [nursery.done("  "), nursery.done()])


def test_tool_that_the_agent_does_not_have_is_refused(nursery):
    async def script(room):
        await room.raised(nursery.agent("list_directory"))
        error = "Unauthorized tool call: 'read_file' is not available to this agent."
        assert json.loads(room.last_texts(1)[0]) == {"error": error}
        assert room.told[:2] == [("TOOL_CALL_START", "read_file"), ("ERROR", error)]

    nursery.run(script, [nursery.calls(READ), nursery.done()])


def test_completions_come_before_hints_and_both_before_the_answers(nursery):
    async def script(room):
        steering = room.services.steering

        async def say(_execution):
            steering.add("mind the gap", InjectionSource.USER_STEERING)
            steering.add("all built", InjectionSource.BACKGROUND_COMPLETION)

        steering.add("too early", InjectionSource.USER_STEERING)
        await room.raised(nursery.agent(nursery.Tool("probe", say)))
        completion, hint, answer = room.last_texts(1)
        assert "all built" in completion
        assert "- mind the gap" in hint
        assert json.loads(answer) == {"output": "did it"}
        assert not any("too early" in text for n in (0, 1) for text in room.last_texts(n))

    steps = [nursery.calls(("probe", {})), nursery.done()]
    nursery.run(script, steps, yolo=True, model_steering=True)


def test_what_is_said_while_it_recovers_is_not_heard(nursery):
    async def script(room):
        def say():
            room.services.steering.add("late", InjectionSource.BACKGROUND_COMPLETION)

        room.model._scripts["*"] = [nursery.says("hm"), [say, *nursery.done()]]
        output = await room.raised(nursery.agent())
        assert output.terminate_reason is TerminateMode.GOAL
        assert len(room.child_requests) == 2

    nursery.run(script)


def test_abort_while_the_model_answers_gives_an_empty_output_and_leaves_nothing(nursery):
    async def script(room):
        before = asyncio.all_tasks()
        child = room.child(nursery.agent())
        await child.start({"query": "go"})
        await room.model.hangs.wait()
        await child.abort()
        assert await child.result() == ABORTED
        await room.runtime.settled()
        assert room.model.open_streams == 0
        assert [event.type for event in child.events][-1] == "agent_end"
        assert child.events[-1].reason == "aborted"
        assert asyncio.all_tasks() == before

    nursery.run(script, [[nursery.HANG]])


def test_abort_while_a_tool_runs_ends_the_tool_and_keeps_the_runs_own_output(nursery):
    async def script(room):
        runs = asyncio.Event()

        async def slow(execution):
            runs.set()
            await hang(execution)

        child = room.child(nursery.agent(nursery.Tool("slow", slow)))
        await child.start({"query": "go"})
        await runs.wait()
        await child.abort()
        assert ended(await child.result())[0] == "ABORTED"
        assert room.told[-1] == ("ERROR", "Request cancelled.")
        assert child.events[-1].reason == "aborted"

    nursery.run(script, [nursery.calls(("slow", {}))], yolo=True)


def test_abort_by_who_hears_of_a_thought_takes_no_more_of_the_answer(nursery):
    async def script(room):
        child = room.child(nursery.agent("read_file"))

        def stop(event):
            if event.type == "message":
                asyncio.get_running_loop().create_task(child.abort())

        child.subscribe(stop)
        await child.start({"query": "go"})
        output = await child.result()
        assert output.terminate_reason is TerminateMode.ABORTED
        assert [kind for kind, _ in room.told] == ["THOUGHT_CHUNK"]

    (chunk,) = nursery.calls(thought="Hm")
    nursery.run(script, [[chunk, *nursery.calls(READ)]])


def test_fault_of_the_model_is_told_and_is_what_the_result_raises(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.start({"query": "go"})
        with pytest.raises(ApiError, match="no such thing"):
            await child.result()
        assert [kind for kind, _ in room.told] == ["ERROR"]
        assert room.told[0][1].startswith("ApiError: ")
        fault, end = child.events[-2:]
        assert (fault.type, fault.fatal, fault.meta["errorName"]) == ("error", True, "ApiError")
        assert (end.type, end.reason) == ("agent_end", "failed")

    nursery.run(script, [ApiError.from_parts(400, "no such thing")])


def test_folder_that_no_agent_may_have_ends_the_stream_before_it_does_anything(nursery):
    async def script(room):
        child = room.child(nursery.agent(workspace_directories=("/",)))
        await child.start({"query": "go"})
        with pytest.raises(ValueError, match='Cannot add filesystem root "/"'):
            await child.result()
        assert [event.type for event in child.events] == ["agent_start", "error", "agent_end"]
        assert room.model.requests == []

    nursery.run(script)


def test_input_that_a_template_wants_and_nobody_gave_ends_the_run(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.start({})
        with pytest.raises(ValueError, match="Missing required input parameters: query"):
            await child.result()
        assert room.model.requests == []

    nursery.run(script)


def test_updates_are_gathered_and_the_messages_text_is_the_query(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        assert await child.send(UpdateSend(config={"query": "old", "other": 1})) is None
        assert await child.send(ActionSend(type="whatever")) is None
        text = (TextPart(text="n"), TextPart(text="ew"))
        stream_id = await child.send(MessageSend(content=text))
        assert len(child.events) == 0
        await child.result()
        assert child.events[0].stream_id == stream_id
        assert room.last_texts(0) == ["new"]

    nursery.run(script, [nursery.done()])


def test_message_without_text_leaves_the_query_as_it_was(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.send(UpdateSend(config={"query": "old"}))
        await child.send(MessageSend(content=()))
        await child.result()
        assert room.last_texts(0) == ["old"]

    nursery.run(script, [nursery.done()])


def test_second_stream_at_once_is_refused(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.send(MessageSend(content=(TextPart(text="go"),)))
        with pytest.raises(StreamActive, match="while a stream is active"):
            await child.send(MessageSend(content=(TextPart(text="go"),)))
        await child.result()
        assert len(room.model.requests) == 1

    nursery.run(script, [nursery.done()])


def test_child_that_was_sent_nothing_has_no_result(nursery):
    async def script(room):
        with pytest.raises(RuntimeError, match="No active or completed stream"):
            await room.child(nursery.agent()).result()

    nursery.run(script)


def test_two_children_at_once_do_not_see_each_other(nursery):
    async def script(room):
        both = [room.child(nursery.agent("read_file"), call_id) for call_id in ("c1", "c2")]
        for child, query in zip(both, ("one", "two"), strict=True):
            await child.start({"query": query})
        outputs = [await child.result() for child in both]
        assert [output.result for output in outputs] == ["first", "second"]
        assert [output.turn_count for output in outputs] == [2, 1]
        assert len({child.agent_id for child in both}) == 2
        for child in both:
            assert {event.stream_id for event in child.events} == {child.events[0].stream_id}

    scripts = {"one": [nursery.calls(READ), nursery.done("first")], "two": [nursery.done("second")]}
    nursery.run(script, scripts=scripts)


def test_recording_is_a_file_of_its_own_in_its_parents_folder(nursery):
    async def script(room):
        child = room.child(nursery.agent("read_file"))
        await child.start({"query": "go"})
        await child.result()
        chats = room.services.workspace.project_temp / "chats"
        file = chats / room.services.state.session_id / f"{child.agent_id}.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        first = lines[0]
        assert (first["kind"], first["sessionId"]) == ("subagent", child.agent_id)
        assert first["directories"] == [str(room.services.workspace.root)]
        assert lines[-1] == {"$set": {"summary": "the result"}}

    nursery.run(script, [nursery.calls(READ), nursery.done()])


def test_session_knows_nothing_of_a_childs_conversation(nursery):
    async def script(room):
        before = room.runtime.transcript()
        state = room.services.state
        tokens, spoken = state.last_prompt_tokens, room.services.spoken.history()
        await room.raised(nursery.agent("read_file"))
        assert room.runtime.transcript() == before
        assert state.last_prompt_tokens == tokens
        assert room.services.spoken.history() == spoken

    (chunk,) = nursery.calls(READ)
    counted = {**chunk, "usageMetadata": {"promptTokenCount": 77, "totalTokenCount": 80}}
    nursery.run(script, [[counted], nursery.done()])


def test_engine_that_is_closed_ends_its_children(nursery):
    kept = []

    async def script(room):
        child = room.child(nursery.agent())
        await child.start({"query": "go"})
        await room.model.hangs.wait()
        kept.extend((child, room))

    nursery.run(script, [[nursery.HANG]])
    child, room = kept
    assert child.events[-1].reason == "aborted"
    assert room.model.open_streams == 0
