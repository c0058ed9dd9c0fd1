"""Limits that end a stream before the model is asked."""

from __future__ import annotations

from agent_protocol.agent import MessageSend
from agent_protocol.content import MediaPart, TextPart
from tests.runtimes.kit import Kit


def test_limit_of_zero_turns_ends_before_the_model_is_asked(kit: Kit) -> None:
    played = kit.play([], max_session_turns=0)
    assert played.kinds == ["message", "agent_start", "agent_end"]
    assert played.ends == [
        ("max_turns", {"code": "MAX_TURNS_EXCEEDED", "maxTurns": 0, "turnCount": 0})
    ]
    assert len(played.transcript) == 1


def test_limit_of_a_send_counts_tool_rounds(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = kit.play([[ask]], max_session_turns=1)
    assert played.kinds[-3:] == ["tool_request", "tool_response", "agent_end"]
    assert played.ends[0][1] == {"code": "MAX_TURNS_EXCEEDED", "maxTurns": 1, "turnCount": 1}
    assert kit.shape(played.transcript[-1]) == "model:functionCall"


def test_limit_of_the_session_counts_over_sends(kit: Kit) -> None:
    answer = [kit.text("x", "STOP")]
    played = kit.play([answer, answer], "one", "two", "three", max_session_turns=2)
    assert played.ends[2] == ("max_turns", {"code": "MAX_TURNS_EXCEEDED"})
    assert len(played.transcript) == 4


def test_request_that_would_not_fit_is_not_sent(kit: Kit) -> None:
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


def test_early_stop_leaves_no_trace_in_history(kit: Kit) -> None:
    played = kit.play([[kit.text("x", "STOP")]], "one", "two", max_session_turns=1)
    assert played.ends[1][0] == "max_turns"
    assert [kit.shape(content) for content in played.transcript] == ["user:text+text", "model:text"]
    assert [line["type"] for line in played.lines if "type" in line] == ["user", "gemini"]


def test_media_is_counted_by_the_model_before_it_is_sent(kit: Kit) -> None:
    payload = MessageSend(
        content=(TextPart(text="look"), MediaPart(data="AAAA", mime_type="image/png"))
    )
    played = kit.play([], payload)
    assert played.model.counted == 1
    assert played.errors[0].message.startswith("Context window will overflow (estimated: 5000000,")
    assert played.model.requests == []
