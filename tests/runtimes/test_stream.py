"""What a client sees of one stream: its events, their order, their ids and times."""

from __future__ import annotations

from typing import Any

import pytest

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from tests.runtimes.kit import Kit, Played

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}


def test_text_turn_gives_its_events_in_one_order(kit: Kit) -> None:
    played = kit.play([[kit.text("Hel"), kit.text("lo", "STOP", usageMetadata=USAGE)]])
    assert played.kinds == [
        "message", "agent_start", "session_update", "message", "message", "usage", "agent_end",
    ]  # fmt: skip
    assert played.texts == ["Hel", "lo"]
    usage = played.events[5]
    assert (usage.model, usage.input_tokens, usage.output_tokens) == ("gemini-2.5-flash", 7, 3)
    assert played.ends == [("completed", None)]


def test_event_ids_are_dense_per_stream_and_times_are_the_clocks(kit: Kit) -> None:
    played = kit.play([[kit.text("a", "STOP")], [kit.text("b", "STOP")]], "one", "two")
    streams = {event.stream_id for event in played.events}
    assert len(streams) == 2
    for stream in streams:
        ids = [event.id for event in played.events if event.stream_id == stream]
        assert ids == [f"{stream}-{number}" for number in range(len(ids))]
    assert played.events[0].timestamp == "2026-01-01T00:00:00.000Z"
    assert played.events[3].timestamp == "2026-01-01T00:00:00.001Z"


def test_user_message_is_emitted_before_send_returns_and_start_after(kit: Kit) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
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


def test_second_stream_of_a_prompt_id_announces_no_model_and_counts_under_unknown(kit: Kit) -> None:
    answer = [kit.text("x", "STOP", usageMetadata=USAGE)]
    played = kit.play([answer, answer], "one", "two")
    assert played.kinds.count("session_update") == 1
    assert [e.model for e in played.events if e.type == "usage"] == ["gemini-2.5-flash", "unknown"]


def test_new_prompt_id_announces_the_model_again(kit: Kit) -> None:
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", own_prompt_ids=True)
    assert played.kinds.count("session_update") == 2
    assert [r.prompt_id for r in played.model.requests] == ["prompt-0", "prompt-1"]


def test_usage_without_finish_reason_is_not_emitted(kit: Kit) -> None:
    chunks = [kit.text("x", usageMetadata=USAGE), kit.text("y", "STOP")]
    assert "usage" not in kit.play([chunks]).kinds


def test_citations_come_sorted_before_the_finish(kit: Kit) -> None:
    cited = kit.text("x", "STOP", usageMetadata=USAGE)
    cited["candidates"][0]["citationMetadata"] = {
        "citations": [{"uri": "http://b"}, {"uri": "http://a", "title": "A"}, {"title": "none"}]
    }
    played = kit.play([[cited]])
    assert played.texts == ["x", "Citations:\n(A) http://a\nhttp://b"]
    assert played.events[4].meta == {"source": "agent", "citation": True}
    assert played.kinds[5] == "usage"


def test_thought_is_emitted_with_its_subject(kit: Kit) -> None:
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
def test_finish_reason_decides_the_end(kit: Kit, finish: str, reason: str) -> None:
    assert kit.play([[kit.text("x", finish)]]).ends == [(reason, None)]


def test_two_runs_give_the_same_events(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    steps = [[ask], [kit.text("x"), kit.text("y", "STOP", usageMetadata=USAGE)]]
    first, second = kit.play(steps), kit.play(steps)
    assert first.kinds == second.kinds
    assert [(e.id, e.timestamp) for e in first.events] == [
        (e.id, e.timestamp) for e in second.events
    ]


def test_subscriber_that_raises_changes_nothing(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: Any, agent: AgentProtocol) -> None:
        raise ValueError("mine")

    played = kit.play([[kit.text("a", "STOP")]], on_event=fail)
    assert played.ends == [("completed", None)]
    assert "mine" in caplog.text
