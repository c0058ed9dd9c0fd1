from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.clock import VirtualClock
from services.recording.describing import describe_recording
from services.recording.loading import load_conversation_record
from services.recording.records import ConversationRecord
from services.wire import JsonObject

META: JsonObject = {
    "sessionId": "sess",
    "projectHash": "hash",
    "startTime": "S",
    "lastUpdated": "L",
    "kind": "main",
}


def message(message_id: str, kind: str = "user", content: Any = "hello", **more: Any) -> JsonObject:
    return {"id": message_id, "timestamp": "T", "type": kind, "content": content, **more}


def written(tmp_path: Path, *lines: JsonObject | str) -> Path:
    file = tmp_path / "session.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts), encoding="utf-8")
    return file


def load(tmp_path: Path, *lines: JsonObject | str) -> ConversationRecord | None:
    return load_conversation_record(written(tmp_path, *lines), VirtualClock())


def described(tmp_path: Path, *lines: JsonObject | str) -> JsonObject:
    record = describe_recording(written(tmp_path, *lines), VirtualClock())
    assert record is not None
    assert record.messages == []
    return record.fields


def ids(record: ConversationRecord | None) -> list[str]:
    assert record is not None
    return [found["id"] for found in record.messages]


def test_a_message_that_comes_again_replaces_the_first_at_its_place(tmp_path: Path) -> None:
    lines = (META, message("a"), message("b"), message("a", content="new"), {"$set": {"x": 1}})
    record = load(tmp_path, *lines)

    assert record is not None
    assert ids(record) == ["a", "b"]
    assert record.messages[0]["content"] == "new"
    assert (record.session_id, record.fields["projectHash"]) == ("sess", "hash")
    assert record.fields == META
    assert described(tmp_path, *lines) == {
        **META,
        "messageCount": 3,
        "userMessageCount": 2,
        "firstUserMessage": "hello",
        "hasResumableContent": True,
    }


@pytest.mark.parametrize(("to", "left"), [("b", ["a"]), ("a", []), ("unknown", [])])
def test_a_rewind_drops_a_message_and_what_follows_or_everything(
    tmp_path: Path, to: str, left: list[str]
) -> None:
    lines = (META, message("a"), message("b"), message("c"), {"$rewindTo": to})
    fields = described(tmp_path, *lines)

    assert ids(load(tmp_path, *lines)) == left
    assert fields["messageCount"] == fields["userMessageCount"] == len(left)


@pytest.mark.parametrize("rewound", [False, True])
def test_a_scratchpad_is_stale_once_a_line_follows_it(tmp_path: Path, rewound: bool) -> None:
    noted = {"$set": {"memoryScratchpad": {"n": 1}}}
    later = {"$rewindTo": "a"} if rewound else message("b")

    assert "memoryScratchpadIsStale" not in described(tmp_path, META, message("a"))
    assert described(tmp_path, META, message("a"), noted)["memoryScratchpadIsStale"] is False
    assert described(tmp_path, META, noted, later)["memoryScratchpadIsStale"] is True


def test_a_checkpoint_starts_anew(tmp_path: Path) -> None:
    checkpoint = {"$set": {"messages": [message("x"), {"no": "id"}, message("a")], "summary": "s"}}
    record = load(tmp_path, META, message("a"), message("b"), checkpoint, message("y"))

    assert record is not None
    assert ids(record) == ["x", "a", "y"]
    assert record.fields["summary"] == "s"


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "{",
        "[]",
        "null",
        "7",
        '"text"',
        "   ",
        '{"id":5}',
        '{"$set":null}',
        '{"id":"z","type":"user","content":"a","n":NaN}',
        '{"id":"z","type":"user","content":{"text":5}}',
        '{"id":"z","type":"user","content":[{"functionCall":null}]}',
        "[" * 100_000,
        '{"id":"b","type":"us',
    ],
)
def test_a_line_that_is_no_record_is_skipped(tmp_path: Path, line: str) -> None:
    assert ids(load(tmp_path, META, message("a"), line, message("c"))) == ["a", "c"]
    assert ids(load(tmp_path, META, message("a"), line)) == ["a"]


def test_lines_end_where_node_ends_them(tmp_path: Path) -> None:
    text = json.dumps(message("a", content="one\u2028line\x85"), ensure_ascii=False)
    file = tmp_path / "s.jsonl"
    file.write_bytes((json.dumps(META) + "\r\n" + text + "\r" + json.dumps(message("b"))).encode())

    assert ids(load_conversation_record(file, VirtualClock())) == ["a", "b"]


def test_bytes_that_are_no_utf8_do_not_end_the_reading(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    line = json.dumps(message("a", content="@@")).encode().replace(b"@@", b"\xff\xfe")
    file.write_bytes(json.dumps(META).encode() + b"\n" + line + b"\n")

    record = load_conversation_record(file, VirtualClock())

    assert record is not None
    assert record.messages[0]["content"] == "\ufffd\ufffd"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_of_an_old_version_is_read_whole(tmp_path: Path, indent: int | None) -> None:
    document = {**META, "messages": [message("a", content="/help"), message("b", "gemini")]}
    text = json.dumps(document, indent=indent)

    assert ids(load(tmp_path, text)) == ["a", "b"]
    assert described(tmp_path, text) == {
        **META,
        "messageCount": 2,
        "userMessageCount": 1,
        "hasResumableContent": True,
    }


def test_an_old_document_with_a_content_that_cannot_be_read_gives_none(tmp_path: Path) -> None:
    messages = [message("a"), message("b", content={"text": 5})]

    assert load(tmp_path, json.dumps({**META, "messages": messages}, indent=2)) is None


@pytest.mark.parametrize("lines", [("garbage",), (), ({"sessionId": 1},), (message("a"),)])
def test_a_file_that_is_no_recording_gives_none(tmp_path: Path, lines: tuple[Any, ...]) -> None:
    record = load(tmp_path, *lines)

    assert record is None or not record.fields.get("projectHash")
    assert load_conversation_record(tmp_path / "nowhere", VirtualClock()) is None
    assert load_conversation_record(tmp_path, VirtualClock()) is None


@pytest.mark.parametrize(
    ("content", "first", "resumable"),
    [
        ("words", "words", True),
        ([{"text": "two "}, {"text": "parts"}], "two parts", True),
        ("/help", "/help", False),
        ("?", "?", False),
        ("  ", "  ", False),
        ("<session_context>\n", None, False),
        ("<hook_context>", None, False),
        ([{"functionResponse": {"name": "t"}}], "", True),
    ],
)
def test_commands_and_injected_context_are_no_conversation(
    tmp_path: Path, content: Any, first: str | None, resumable: bool
) -> None:
    fields = described(tmp_path, META, message("a", content=content))

    assert fields["hasResumableContent"] is resumable
    assert fields.get("firstUserMessage") == (first if resumable else None)


@pytest.mark.parametrize(
    ("more", "resumable"),
    [
        ({"content": ""}, False),
        ({"content": "", "toolCalls": [], "thoughts": []}, False),
        ({"content": "", "toolCalls": [{"id": "c"}]}, True),
        ({"content": "", "thoughts": [{"subject": "s"}]}, True),
        ({"content": "answer"}, True),
    ],
)
def test_an_answer_is_conversation_if_there_is_anything_in_it(
    tmp_path: Path, more: JsonObject, resumable: bool
) -> None:
    fields = described(tmp_path, META, {**message("a", "gemini"), **more})

    assert fields["hasResumableContent"] is resumable


def test_a_recording_that_does_not_say_when_is_of_now(tmp_path: Path) -> None:
    record = load(tmp_path, {"sessionId": "s", "projectHash": "h"})

    assert record is not None
    assert record.fields["startTime"] == "2026-01-01T00:00:00.000Z"
