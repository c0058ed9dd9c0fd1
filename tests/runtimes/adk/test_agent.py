"""What a client sees of `AdkAgentProtocol`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent_protocol.agent import MessageSend, UpdateSend
from agent_protocol.errors import StreamActive, UnsupportedSend
from runtimes.adk import open_runtime
from services.abort import AbortError
from services.model.errors import ApiError, NetworkError, UnauthorizedError
from services.state import ApprovalMode
from services.tools.contract import ToolErrorType

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}


def test_text_turn_is_told_in_legacys_order(kit):
    played = kit.play([[kit.text("Hel"), kit.text("lo", "STOP", usageMetadata=USAGE)]])
    assert played.kinds == [
        "message", "agent_start", "session_update", "message", "message", "usage", "agent_end",
    ]  # fmt: skip
    assert played.texts == ["Hel", "lo"]
    usage = played.events[5]
    assert (usage.model, usage.input_tokens, usage.output_tokens) == ("gemini-2.5-flash", 7, 3)
    assert played.ends == [("completed", None)]


def test_event_ids_are_dense_per_stream_and_times_are_the_clocks(kit):
    played = kit.play([[kit.text("a", "STOP")], [kit.text("b", "STOP")]], "one", "two")
    streams = {event.stream_id for event in played.events}
    assert len(streams) == 2
    for stream in streams:
        ids = [event.id for event in played.events if event.stream_id == stream]
        assert ids == [f"{stream}-{number}" for number in range(len(ids))]
    assert played.events[0].timestamp == "2026-01-01T00:00:00.000Z"
    assert played.events[3].timestamp == "2026-01-01T00:00:00.001Z"


def test_user_message_is_told_before_send_returns_and_start_after(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        stream_id = await agent.send(kit.message("hello", "shown"))
        assert played.kinds == ["message"]
        assert played.events[0].content[0].text == "shown"
        assert played.events[0].stream_id == stream_id
        await runtime.settled()

    played = kit.run(script, [[kit.text("hi", "STOP")]])
    assert played.kinds[1] == "agent_start"
    assert played.model.requests[0].contents[-1]["parts"][-1] == {"text": "hello"}


def test_second_stream_of_a_prompt_id_announces_no_model_and_counts_under_unknown(kit):
    answer = [kit.text("x", "STOP", usageMetadata=USAGE)]
    played = kit.play([answer, answer], "one", "two")
    assert played.kinds.count("session_update") == 1
    assert [e.model for e in played.events if e.type == "usage"] == ["gemini-2.5-flash", "unknown"]


def test_new_prompt_id_announces_the_model_again(kit):
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", own_prompt_ids=True)
    assert played.kinds.count("session_update") == 2
    assert [r.prompt_id for r in played.model.requests] == ["prompt-0", "prompt-1"]


def test_agents_of_one_runtime_share_the_conversation(kit):
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", own_prompt_ids=True)
    assert played.shapes == [["user:text+text"], ["user:text+text", "model:text", "user:text"]]


def test_usage_without_finish_reason_is_not_told(kit):
    chunks = [kit.text("x", usageMetadata=USAGE), kit.text("y", "STOP")]
    assert "usage" not in kit.play([chunks]).kinds


def test_citations_come_sorted_before_the_finish(kit):
    cited = kit.text("x", "STOP", usageMetadata=USAGE)
    cited["candidates"][0]["citationMetadata"] = {
        "citations": [{"uri": "http://b"}, {"uri": "http://a", "title": "A"}, {"title": "none"}]
    }
    played = kit.play([[cited]])
    assert played.texts == ["x", "Citations:\n(A) http://a\nhttp://b"]
    assert played.events[4].meta == {"source": "agent", "citation": True}
    assert played.kinds[5] == "usage"


def test_thought_is_told_with_its_subject(kit):
    chunk = kit.parts_chunk(
        {"text": "**Plan** look", "thought": True}, {"text": "x"}, finish="STOP"
    )
    played = kit.play([[chunk]])
    thought = played.events[3]
    assert thought.content[0].thought == "look"
    assert thought.meta == {"source": "agent", "subject": "Plan"}
    assert all("thought" not in part for part in played.transcript[-1]["parts"])


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("MAX_TOKENS", "max_budget"), ("SAFETY", "refusal"), ("OTHER", "failed"), ("ODD", "failed")],
)
def test_finish_reason_decides_the_end(kit, finish, reason):
    assert kit.play([[kit.text("x", finish)]]).ends == [(reason, None)]


def test_tool_round_goes_back_to_the_model(kit):
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


def test_calls_of_one_turn_are_answered_in_one_request(kit):
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


def test_call_of_a_failed_attempt_is_told_and_run_as_well(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}))
    broken = [ask, NetworkError("terminated", code="ECONNRESET")]
    again = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.play([broken, [again], [kit.text("done", "STOP")]])
    asked = [event.request_id for event in played.events if event.type == "tool_request"]
    assert [name.rsplit("_", 1)[1] for name in asked] == ["0", "1"]
    assert [e.request_id for e in played.events if e.type == "tool_response"] == asked
    assert played.shapes[2][1:] == ["model:functionCall", "user:functionResponse+functionResponse"]


def test_calls_only_a_failed_attempt_asked_for_are_run_before_the_stream_ends(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}, id="x"))
    broken = [ask, NetworkError("terminated", code="ECONNRESET")]
    played = kit.play([broken, [kit.text("said", "STOP")], [kit.text("done", "STOP")]])
    assert played.texts == ["said", "done"]
    assert played.kinds.count("tool_response") == 1
    assert played.shapes[2] == ["user:text+text", "model:text", "user:functionResponse"]


def test_empty_answer_after_tools_is_nudged_once(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    empty = [kit.text("", "STOP")]
    played = kit.play([[ask], empty, [kit.text(" ", "STOP"), kit.text("words", "STOP")]])
    assert len(played.model.requests) == 3
    last = played.model.requests[2].contents[-1]["parts"][-1]["text"]
    assert last.startswith("[System: You successfully executed a tool")
    assert played.kinds.count("agent_start") == 1
    assert played.ends == [("completed", None)]


def test_nudge_is_not_repeated(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    blank = [kit.parts_chunk({"text": "t", "thoughtSignature": "s"}, finish="STOP")]
    played = kit.play([[ask], [kit.text("", "STOP")], blank])
    assert len(played.model.requests) == 3
    assert played.ends == [("completed", None)]


def test_limit_of_zero_turns_ends_before_the_model_is_asked(kit):
    played = kit.play([], max_session_turns=0)
    assert played.kinds == ["message", "agent_start", "agent_end"]
    assert played.ends == [
        ("max_turns", {"code": "MAX_TURNS_EXCEEDED", "maxTurns": 0, "turnCount": 0})
    ]
    assert len(played.transcript) == 1


def test_limit_of_a_send_counts_tool_rounds(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.play([[ask]], max_session_turns=1)
    assert played.kinds[-3:] == ["tool_request", "tool_response", "agent_end"]
    assert played.ends[0][1] == {"code": "MAX_TURNS_EXCEEDED", "maxTurns": 1, "turnCount": 1}
    assert kit.shape(played.transcript[-1]) == "model:functionCall"


def test_limit_of_the_session_counts_over_sends(kit):
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", "three", max_session_turns=2)
    assert played.ends[2] == ("max_turns", {"code": "MAX_TURNS_EXCEEDED"})
    assert len(played.transcript) == 4


def test_request_that_would_not_fit_is_not_sent(kit):
    big = {"promptTokenCount": 1_048_576}
    played = kit.play(
        [[kit.text("x", "STOP", usageMetadata=big)]], "one", "two words", compression_threshold=2
    )
    error = played.errors[0]
    assert error.status == "RESOURCE_EXHAUSTED"
    assert error.message == "Context window will overflow (estimated: 2, remaining: 0)"
    assert played.ends[1] == ("failed", None)
    assert len(played.model.requests) == 1
    assert len(played.transcript) == 2


def test_api_error_ends_the_stream_as_failed_and_takes_the_message_back(kit):
    refused = ApiError.from_parts(400, "bad", "INVALID_ARGUMENT")
    played = kit.play([refused, [kit.text("x", "STOP")]], "one", "two")
    error = played.errors[0]
    assert (error.status, error.fatal) == ("INVALID_ARGUMENT", True)
    assert error.message == str(refused)
    assert played.ends == [("failed", None), ("completed", None)]
    assert [part["text"] for part in played.model.requests[1].contents[0]["parts"]][1:] == ["two"]


def test_invalid_stream_is_told_once_all_attempts_failed(kit):
    played = kit.play([[kit.text("", "STOP")]] * 4)
    error = played.errors[0]
    assert error.message == "Model stream ended with empty response text."
    assert error.meta["code"] == "INVALID_STREAM"
    assert error.meta["errorType"] == "NO_RESPONSE_TEXT"
    assert [retry.delay_ms for retry in played.retries] == [1000, 2000, 4000]
    assert played.ends == [("failed", None)]


def test_refused_credentials_are_an_unexpected_failure(kit):
    played = kit.play([UnauthorizedError("who are you")])
    assert played.errors[0].meta["errorName"] == "UnauthorizedError"
    assert played.errors[0].message == "who are you"
    assert played.ends == [("failed", None)]


def test_tool_response_stays_in_history_when_its_answer_fails(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    refused = ApiError.from_parts(400, "bad", "INVALID_ARGUMENT")
    played = kit.play([[ask], refused, [kit.text("x", "STOP")]], "one", "two")
    assert played.shapes[2] == [
        "user:text+text", "model:functionCall", "user:functionResponse", "model:text", "user:text",
    ]  # fmt: skip
    placeholder = played.model.requests[2].contents[3]["parts"][0]["text"]
    assert placeholder == "[The previous response was interrupted before it completed.]"


def test_abort_inside_a_chunk_discards_the_rest_of_it(kit):
    chunk = kit.parts_chunk({"text": "t", "thought": True}, {"text": "never"}, finish="STOP")

    def stop(event, agent):
        if event.type == "message" and event.role == "agent":
            kit.abort(agent)

    played = kit.play([[chunk]], on_event=stop)
    assert played.kinds[3:] == ["message", "agent_end"]
    assert played.ends == [("aborted", None)]
    assert played.model.open_streams == 0
    assert [e.id.rsplit("-", 1)[1] for e in played.events] == ["0", "1", "2", "3", "4"]


def test_abort_takes_the_whole_prompt_back(kit):
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")

    def stop(event, agent):
        if event.type == "message" and event.role == "agent" and event.content[0].text == "two":
            kit.abort(agent)

    steps = [[kit.text("r0", "STOP")], [ask], [kit.text("two"), kit.text("three", "STOP")]]
    played = kit.play(steps, "zero", "one", on_event=stop, own_prompt_ids=True)
    assert [kit.shape(content) for content in played.transcript] == ["user:text+text", "model:text"]
    assert played.ends[1] == ("aborted", None)


def test_abort_while_the_model_hangs_ends_at_once(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await played.services.clock.sleep(40)
        await agent.abort()
        assert "agent_end" not in played.kinds
        await runtime.settled()
        assert agent.events[-1].timestamp == "2026-01-01T00:00:00.040Z"

    played = kit.run(script, [[kit.text("a"), kit.HANG]])
    assert played.kinds[-1] == "agent_end"
    assert played.ends == [("aborted", None)]
    assert len(played.transcript) == 1
    assert (
        played.lines[-1]["$set"]["messages"][0]["id"]
        == played.lines[1]["$set"]["messages"][0]["id"]
    )
    assert len(played.lines[-1]["$set"]["messages"]) == 1


def test_abort_during_a_batch_tells_no_response(kit):
    ask = kit.parts_chunk(kit.call("run_shell_command", {"command": "sleep 30"}), finish="STOP")

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        for _ in range(100):
            await asyncio.sleep(0)
        assert played.kinds[-1] == "tool_request"
        await agent.abort()
        await runtime.settled()

    played = kit.run(script, [[ask]], approval_mode=ApprovalMode.YOLO)
    assert "tool_response" not in played.kinds
    assert played.ends == [("aborted", None)]
    assert kit.shape(played.transcript[-1]) == "model:functionCall"


def test_abort_of_an_idle_agent_does_nothing(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.abort()
        await agent.send(kit.message("x"))
        await runtime.settled()

    assert kit.run(script, [[kit.text("a", "STOP")]]).ends == [("completed", None)]


def test_send_while_a_stream_is_active_is_refused_and_changes_nothing(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        with pytest.raises(StreamActive, match="while a stream is active"):
            await agent.send(kit.message("y"))
        await runtime.settled()
        await agent.send(kit.message("z"))
        await runtime.settled()

    played = kit.run(script, [[kit.text("a", "STOP")], [kit.text("b", "STOP")]])
    assert played.ends == [("completed", None)] * 2
    assert len(played.model.requests) == 2


def test_send_of_another_kind_is_refused_even_while_active(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        with pytest.raises(UnsupportedSend, match="only supports message sends"):
            await agent.send(UpdateSend(title="t"))
        await runtime.settled()

    assert kit.run(script, [[kit.text("a", "STOP")]]).kinds.count("message") == 2


def test_subscriber_that_raises_changes_nothing(kit, caplog):
    def fail(event, agent):
        raise ValueError("mine")

    played = kit.play([[kit.text("a", "STOP")]], on_event=fail)
    assert played.ends == [("completed", None)]
    assert "mine" in caplog.text


def test_leaving_the_runtime_aborts_what_runs(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await played.services.clock.sleep(1)

    played = kit.run(script, [[kit.HANG]])
    assert played.ends == [("aborted", None)]
    assert played.model.open_streams == 0


def test_reset_leaves_only_the_environments_context(kit):
    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()
        await runtime.reset()
        assert [kit.shape(content) for content in runtime.transcript()] == ["user:text"]
        await agent.send(kit.message("y"))
        await runtime.settled()

    played = kit.run(script, [[kit.text("a", "STOP")], [kit.text("b", "STOP")]])
    assert played.shapes[1] == ["user:text+text"]
    assert played.kinds.count("session_update") == 1


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        (ToolErrorType.STOP_EXECUTION, "enough", "completed"),
        (ToolErrorType.NO_SPACE_LEFT, "disk full", "failed"),
        (ToolErrorType.NO_SPACE_LEFT, None, "failed"),
    ],
)
def test_tool_may_end_the_stream_once_its_response_is_told(kit, kind, message, reason):
    async def script(played, runtime):
        schedule = played.services.scheduler.schedule

        async def ending(requests, signal):
            calls = await schedule(requests, signal)
            return [
                replace(c, response=replace(c.response, error=message, error_type=kind))
                for c in calls
            ]

        played.services.scheduler.schedule = ending
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()
        await agent.send(kit.message("y"))
        await runtime.settled()

    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    played = kit.run(script, [[ask], [kit.text("z", "STOP")]])
    assert played.kinds[4:6] == ["tool_response", "agent_end"]
    assert played.errors == []
    assert played.ends == [(reason, None), ("completed", None)]
    assert played.shapes[1] == ["user:text+text", "model:functionCall", "user:text"]


def test_stop_without_an_error_is_an_answer_like_any_other(kit):
    async def script(played, runtime):
        schedule = played.services.scheduler.schedule

        async def marked(requests, signal):
            kind = ToolErrorType.STOP_EXECUTION
            return [
                replace(c, response=replace(c.response, error_type=kind))
                for c in await schedule(requests, signal)
            ]

        played.services.scheduler.schedule = marked
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()

    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    played = kit.run(script, [[ask], [kit.text("z", "STOP")]])
    assert played.texts == ["z"]


def test_unexpected_failure_in_the_loop_is_told_with_its_stack(kit):
    async def script(played, runtime):
        async def broken(requests, signal):
            raise LookupError("no scheduler today")

        played.services.scheduler.schedule = broken
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()

    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.run(script, [[ask]])
    error = played.errors[0]
    assert (error.message, error.status) == ("no scheduler today", "INTERNAL")
    assert error.meta["errorName"] == "LookupError"
    assert "no scheduler today" in error.meta["stack"]
    assert played.ends == [("failed", None)]


def test_cancellation_that_is_not_ours_is_a_failure_not_a_success(kit):
    played = kit.play([asyncio.CancelledError()])
    assert [end[0] for end in played.ends] == ["failed"]
    assert len(played.errors) == 1


def test_abort_error_from_the_model_without_an_abort_is_told_as_its_error(kit):
    played = kit.play([AbortError("gone")])
    assert played.errors[0].message == "gone"
    assert [end[0] for end in played.ends] == ["failed"]


def test_message_without_parts_is_refused_by_the_conversation(kit):
    played = kit.play([[kit.text("a", "STOP")]], MessageSend(content=()), "then this")
    assert played.errors[0].message == "partOrString cannot be an empty array"
    assert [end[0] for end in played.ends] == ["failed", "completed"]


def test_two_runs_give_the_same_events(kit):
    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    steps = [[ask], [kit.text("x"), kit.text("y", "STOP", usageMetadata=USAGE)]]
    first, second = kit.play(steps), kit.play(steps)
    assert first.kinds == second.kinds
    assert [(e.id, e.timestamp) for e in first.events] == [
        (e.id, e.timestamp) for e in second.events
    ]


def test_agents_at_once_in_one_conversation_ask_one_after_the_other(kit):
    async def script(played, runtime):
        for number, words in enumerate(("left", "right")):
            agent = runtime.agent(prompt_id=f"p{number}")
            kit.listen(agent, played)
            await agent.send(kit.message(words))
        await runtime.settled()

    steps = [[kit.text("l1"), kit.text("l2", "STOP")], [kit.text("r1"), kit.text("r2", "STOP")]]
    played = kit.run(script, steps)
    assert played.ends == [("completed", None)] * 2
    assert [content["parts"][-1]["text"] for content in played.transcript] == [
        "left",
        "l1l2",
        "right",
        "r1r2",
    ]


def test_sessions_at_once_do_not_disturb_each_other(kit):
    async def one(name: str) -> Any:
        ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
        steps = [
            [kit.text(f"{name}1"), kit.text(f"{name}2", "STOP")],
            [ask],
            [kit.text(name, "STOP")],
        ]
        async with kit.services(steps) as played, open_runtime(played.services) as runtime:
            agent = runtime.agent()
            kit.listen(agent, played)
            for words in ("one", "two"):
                await agent.send(kit.message(f"{name} {words}"))
                await runtime.settled()
            played.transcript = runtime.transcript()
            return played

    async def both() -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(name)) for name in ("left", "right")]
        return [task.result() for task in tasks]

    left, right = kit.in_loop(both)
    assert left.texts == ["left1", "left2", "left"]
    assert right.texts == ["right1", "right2", "right"]
    assert left.kinds == right.kinds
    assert "right" not in str(left.transcript)
