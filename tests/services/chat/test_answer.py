"""`AnswerReader`: what a request's answer has shown, delta by delta."""

from __future__ import annotations

from typing import Any

from services.chat import AnswerReader, Delta
from services.scheduler.calls import ToolCallRequest


def chunk(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, **candidate}]}


def requested(call: dict[str, Any]) -> ToolCallRequest:
    return ToolCallRequest(call_id=call["id"], name=call["name"], args={}, prompt_id="p")


CALL = {"functionCall": {"id": "1", "name": "f"}}
THOUGHT = {"text": "hm", "thought": True}


def test_a_chunk_gives_thoughts_text_calls_and_the_end_in_this_order() -> None:
    reader = AnswerReader()
    seen = chunk(CALL, {"text": "a"}, THOUGHT, {"text": "b"}, finishReason="STOP")
    call = requested(CALL["functionCall"])
    assert list(reader.deltas(seen, requested)) == [
        Delta(part=THOUGHT),
        Delta(part={"text": "ab"}, index=1),
        Delta(part=CALL, request=call, index=2, finish_reason="STOP"),
    ]
    assert (reader.calls, reader.asked) == ([call], True)
    assert (reader.text, reader.visible_text, reader.finish_reason) == ("ab", True, "STOP")


def test_an_empty_chunk_gives_one_delta() -> None:
    reader = AnswerReader()
    assert list(reader.deltas({"usageMetadata": {}}, requested)) == [Delta()]
    assert reader.visible_text is False


def test_sources_come_sorted_with_the_next_finish_reason_and_once() -> None:
    reader = AnswerReader()
    cited = [{"uri": "b"}, {"uri": "a"}]
    first = chunk({"text": "x"}, citationMetadata={"citations": cited})
    closing = [
        *reader.deltas(first, requested),
        *reader.deltas(chunk(finishReason="STOP"), requested),
    ]
    assert [delta.citations for delta in closing] == [(), ("a", "b")]
    (again,) = reader.deltas(chunk(finishReason="STOP"), requested)
    assert again.citations == ()


def test_deltas_that_are_not_consumed_do_not_count() -> None:
    reader = AnswerReader()
    deltas = reader.deltas(chunk(THOUGHT, CALL, finishReason="STOP"), requested)
    assert next(deltas).part == THOUGHT
    assert (reader.calls, reader.asked, reader.finish_reason) == ([], False, None)


def test_a_withdrawn_delta_keeps_the_fact_that_tools_were_requested() -> None:
    reader = AnswerReader()
    list(reader.deltas(chunk(CALL, finishReason="STOP"), requested))
    reader.withdraw()
    assert (reader.calls, reader.asked, reader.finish_reason) == ([], True, None)
