import pytest

from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.model.errors import InvalidStreamError
from services.model.parts import response_texts
from services.model.stream import CallIds, StreamAssembler, retry_nudge
from services.wire import JsonObject, Part


def chunk(*parts: Part, finish: str | None = None, **more: object) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def assemble(
    *chunks: JsonObject, after_tools: bool = False, context_management: bool = False
) -> StreamAssembler:
    assembler = StreamAssembler(
        after_function_response=after_tools, context_management=context_management
    )
    for one in chunks:
        assembler.feed(one)
    return assembler


THOUGHT = {"text": "**Plan** it", "thought": True}
CALL = {"functionCall": {"name": "t", "args": {}, "id": "7"}}


def test_neighbouring_texts_merge_and_thoughts_stay_out() -> None:
    turn = assemble(
        chunk({"text": "a"}, THOUGHT, {"text": "b"}),
        chunk({"text": "c"}),
        chunk(CALL),
        chunk({"text": "d"}),
        chunk({"text": "e"}, finish="STOP"),
    ).finish()

    assert [part.get("text", "call") for part in turn.parts] == ["abc", "call", "de"]
    assert turn.has_thoughts


def test_a_merged_text_keeps_the_first_ones_fields_only() -> None:
    turn = assemble(
        chunk({"text": "a", "thoughtSignature": "s1"}),
        chunk({"text": "b", "thoughtSignature": "s2"}, finish="STOP"),
    ).finish()

    assert turn.parts == [{"text": "ab", "thoughtSignature": "s1"}]


def test_the_chunk_of_a_merged_text_has_the_whole_text_afterwards() -> None:
    first, second = chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")

    assemble(first, second).finish()

    assert response_texts([first, second]) == ["ab", "b"]


def test_an_invalid_answer_changes_its_chunks_too() -> None:
    first, second = chunk({"text": "a"}), chunk({"text": "b"})

    with pytest.raises(InvalidStreamError):
        assemble(first, second).finish()

    assert response_texts([first, second]) == ["ab", "b"]


def test_under_context_management_chunks_stay_as_they_came() -> None:
    first, second = chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")

    turn = assemble(first, second, context_management=True).finish()

    assert turn.parts == [{"text": "ab"}]
    assert response_texts([first, second]) == ["a", "b"]


def test_thought_is_read_from_the_first_part_of_its_chunk() -> None:
    turn = assemble(chunk(THOUGHT), chunk({"text": "x"}, finish="STOP")).finish()

    assert [(t.subject, t.description) for t in turn.thoughts] == [("Plan", "it")]


def test_the_last_finish_reason_and_usage_win() -> None:
    turn = assemble(
        chunk({"text": "x"}, finish="MAX_TOKENS", usageMetadata={"promptTokenCount": 1}),
        chunk({"text": "y"}, finish="STOP", usageMetadata={"promptTokenCount": 2}),
    ).finish()

    assert (turn.finish_reason, turn.usage) == ("STOP", {"promptTokenCount": 2})


def test_one_bad_part_spoils_its_whole_chunk() -> None:
    with pytest.raises(InvalidStreamError) as raised:
        assemble(chunk({"text": ""}, CALL, finish="STOP")).finish()

    assert raised.value.type == "NO_RESPONSE_TEXT"


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        pytest.param([chunk({"text": "x"})], "NO_FINISH_REASON", id="no finish"),
        pytest.param(
            [chunk({"text": "x"}, finish="MALFORMED_FUNCTION_CALL")],
            "MALFORMED_FUNCTION_CALL",
            id="malformed, even with text",
        ),
        pytest.param(
            [chunk(finish="UNEXPECTED_TOOL_CALL")], "UNEXPECTED_TOOL_CALL", id="unexpected call"
        ),
        pytest.param([chunk(finish="MAX_TOKENS")], "MAX_TOKENS_EXCEEDED", id="max tokens"),
        pytest.param([chunk(finish="SAFETY")], "SAFETY_BLOCKED", id="safety"),
        pytest.param([chunk(finish="RECITATION")], "RECITATION_BLOCKED", id="recitation"),
        pytest.param([chunk(finish="OTHER")], "OTHER_BLOCKED", id="other"),
        pytest.param([chunk(THOUGHT, finish="STOP")], "THINKING_ONLY_RESPONSE", id="thought"),
        pytest.param(
            [chunk(THOUGHT, {"text": ""}, finish="STOP")], "NO_RESPONSE_TEXT", id="spoilt thought"
        ),
        pytest.param([chunk(finish="BLOCKLIST")], "NO_RESPONSE_TEXT", id="other reasons"),
        pytest.param(
            [chunk({"text": "<!-- <!-- x --> -->\u200b"}, finish="STOP")],
            None,
            id="what is left of nested comments shows",
        ),
        pytest.param(
            [chunk({"text": "<!-- x -->\u200b "}, finish="STOP")], "NO_RESPONSE_TEXT", id="unseen"
        ),
    ],
)
def test_an_invalid_response_has_its_own_type(chunks: list[JsonObject], kind: str | None) -> None:
    if kind is None:
        assert assemble(*chunks).finish().response_text == "-->"
        return
    with pytest.raises(InvalidStreamError) as raised:
        assemble(*chunks).finish()

    assert raised.value.type == kind


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([], id="nothing at all"),
        pytest.param([chunk(finish="STOP")], id="empty"),
        pytest.param([chunk({"text": "x"})], id="no finish reason"),
    ],
)
def test_after_a_tool_response_an_empty_answer_is_valid(chunks: list[JsonObject]) -> None:
    assemble(*chunks, after_tools=True).finish()


def test_only_an_entirely_empty_answer_is_no_message() -> None:
    empty = assemble(chunk(finish="STOP"), after_tools=True).finish()
    text = assemble(chunk({"text": "x"}, finish="STOP")).finish()

    assert (empty.recorded_as_message, text.recorded_as_message) == (False, True)


def test_ids_are_prefixed_once_and_made_where_missing() -> None:
    clock = VirtualClock()
    ids = CallIds(clock)
    calls: list[JsonObject] = [
        {"name": " t "},
        {"name": "t", "id": "7"},
        {"name": "t", "id": "t__8"},
        {"id": None},
        {"name": "t", "id": ""},
    ]

    assert [ids.assign(call) for call in calls] == [
        f"t__t_{VIRTUAL_EPOCH_MS}_0",
        "t__7",
        "t__8",
        f"generic_tool__generic_tool_{VIRTUAL_EPOCH_MS}_1",
        "t__",
    ]
    assert calls[1]["id"] == "t__7"


def test_feeding_prefixes_the_ids_that_calls_have() -> None:
    one = chunk({"functionCall": {"name": "t", "args": {}, "id": "7"}}, finish="STOP")
    turn = assemble(one).finish()

    assert turn.parts[0]["functionCall"]["id"] == "t__7"


def test_only_silent_answers_are_nudged() -> None:
    assert retry_nudge(None) is None
    assert retry_nudge(InvalidStreamError("", "SAFETY_BLOCKED")) is None
    assert "previously generated thoughts" in (
        retry_nudge(InvalidStreamError("", "THINKING_ONLY_RESPONSE")) or ""
    )
    assert "empty response" in (retry_nudge(InvalidStreamError("", "NO_RESPONSE_TEXT")) or "")
