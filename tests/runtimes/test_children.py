"""Children beside their session, whichever engine they run on: aborts, closing, what they share.

What one child does by itself is in `tests/runtimes/children`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import weakref

import pytest

from services.subagents.definition import AgentOutput, TerminateMode

READ = ("read_file", {"file_path": "a.txt"})
ABORTED = AgentOutput(result="", terminate_reason=TerminateMode.ABORTED)


def ended(output: AgentOutput) -> tuple[str, str, int | None]:
    return output.terminate_reason.value, output.result, output.turn_count


async def hang(execution) -> None:
    await execution.signal.wait()
    execution.signal.raise_if_aborted()


def test_recovery_after_the_last_turn_is_not_counted_and_replaces_what_was_to_be_sent(nursery):
    async def script(room):
        output = await room.raised(nursery.agent("read_file", turns=1))
        assert ended(output) == ("GOAL", "late", 1)
        kinds = [next(iter(part)) for c in room.child_requests[1].contents for part in c["parts"]]
        assert kinds == ["text", "functionCall", "text"]
        assert room.child_requests[1].prompt_id.endswith("#1")

    nursery.run(script, [nursery.calls(READ), nursery.done("late")])


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
        assert room.reports[-1] == ("ERROR", "Request cancelled.")
        assert child.events[-1].reason == "aborted"

    nursery.run(script, [nursery.calls(("slow", {}))], yolo=True)


def test_abort_by_a_subscriber_of_a_thought_takes_no_more_of_the_answer(nursery):
    async def script(room):
        child = room.child(nursery.agent("read_file"))

        def stop(event):
            if event.type == "message":
                asyncio.get_running_loop().create_task(child.abort())

        child.subscribe(stop)
        await child.start({"query": "go"})
        output = await child.result()
        assert output.terminate_reason is TerminateMode.ABORTED
        assert [kind for kind, _ in room.reports] == ["THOUGHT_CHUNK"]

    (chunk,) = nursery.calls(thought="Hm")
    nursery.run(script, [[chunk, *nursery.calls(READ)]])


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
        tokens, spoken = state.last_prompt_tokens, room.services.conversation_context.history()
        await room.raised(nursery.agent("read_file"))
        assert room.runtime.transcript() == before
        assert state.last_prompt_tokens == tokens
        assert room.services.conversation_context.history() == spoken

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


@pytest.mark.sampled(2)
def test_child_that_has_ended_is_let_go_of(nursery):
    async def script(room):
        child = room.child(nursery.agent())
        await child.start({"query": "go"})
        await child.result()
        await room.runtime.settled()
        gone = weakref.ref(child)
        del child
        gc.collect()
        assert gone() is None

    nursery.run(script, [nursery.done()])


def test_children_that_have_ended_do_not_go_on_listening(nursery):
    async def script(room):
        heard = (room.services.events._listeners, room.services.steering._listeners)
        before = [len(listeners) for listeners in heard]
        for _ in range(3):
            await room.raised(nursery.agent())
        assert [len(listeners) for listeners in heard] == before

    nursery.run(script, [nursery.done(), nursery.done(), nursery.done()])
