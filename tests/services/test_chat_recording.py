import errno
import json
from pathlib import Path

import pytest

from agent_protocol.events import ToolDisplay
from services.chat_recording import DISK_FULL, ChatRecording
from services.clock import VirtualClock
from services.recording import rewriting, session_file
from services.recording.loading import load_conversation_record
from services.recording.records import ResumedSession
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.state import CoreEvents, UserFeedback
from services.wire import JsonObject, js_json
from services.workspace import Workspace
from tests.services.sessions import session_at


class Recorder:
    def __init__(self, tmp_path: Path, *, initialize: bool = True) -> None:
        self.events = CoreEvents()
        self.recording = ChatRecording(
            session_at(
                Workspace.at(tmp_path / "ws", tmp_path / "home"),
                session_id="11111111-2222",
                events=self.events,
            ),
            find_tool=lambda name: None,
        )
        if initialize:
            self.recording.initialize()

    def lines(self) -> list[JsonObject]:
        assert self.recording.path is not None
        return [json.loads(line) for line in self.recording.path.read_text().splitlines()]


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def completed(call_id: str, text: str) -> CompletedToolCall:
    part = {"functionResponse": {"id": call_id, "name": "t", "response": {"output": text}}}
    return CompletedToolCall(
        request=ToolCallRequest(
            call_id=call_id, name="t", args={"x": 1}, prompt_id="p", display=ToolDisplay()
        ),
        response=ToolCallResponse(call_id=call_id, response_parts=(part,), result_display="shown"),
        status=CallStatus.SUCCESS,
    )


def test_first_line_is_the_sessions_metadata(recorder: Recorder) -> None:
    assert recorder.recording.path is not None
    assert recorder.recording.path.name == "session-2026-01-01T00-00-11111111.jsonl"
    assert recorder.lines()[0]["kind"] == "main"
    assert recorder.lines()[0]["sessionId"] == "11111111-2222"


def test_a_message_is_followed_by_its_time(recorder: Recorder) -> None:
    recorder.recording.record_message(type="user", content=[{"text": "hi"}])

    assert [sorted(line) for line in recorder.lines()[1:]] == [
        ["content", "id", "timestamp", "type"],
        ["$set"],
    ]


def test_a_gemini_message_takes_queued_thoughts_and_tokens(recorder: Recorder) -> None:
    recorder.recording.record_thought("Plan", "think")
    recorder.recording.record_tokens({"promptTokenCount": 3, "totalTokenCount": 5})
    recorder.recording.record_message(type="gemini", content="a", model="m")
    recorder.recording.record_message(type="gemini", content="b", model="m")

    first, second = recorder.recording.messages
    assert first["thoughts"][0]["subject"] == "Plan"
    assert first["tokens"] == {
        "input": 3,
        "output": 0,
        "cached": 0,
        "thoughts": 0,
        "tool": 0,
        "total": 5,
    }
    assert (second["thoughts"], second["tokens"]) == ([], None)


def test_tool_calls_go_into_the_last_gemini_message(recorder: Recorder) -> None:
    recorder.recording.record_message(type="gemini", content="", model="m")
    recorder.recording.record_tool_calls("m", [completed("t__1", "one")])
    recorder.recording.record_tool_calls("m", [completed("t__1", "two"), completed("t__2", "x")])

    (message,) = recorder.recording.messages
    results = [call["result"][0]["functionResponse"]["response"] for call in message["toolCalls"]]
    assert results == [{"output": "two"}, {"output": "x"}]
    assert [line.get("id") == message["id"] for line in recorder.lines()[1:]] == [
        True,
        False,
        True,
        True,
    ]


def test_tool_calls_after_a_user_message_make_a_message_of_their_own(recorder: Recorder) -> None:
    recorder.recording.record_message(type="user", content=[{"text": "hi"}])
    recorder.recording.record_tool_calls("m", [completed("t__1", "one")])

    assert [message["type"] for message in recorder.recording.messages] == ["user", "gemini"]


def test_history_that_lost_turns_is_checkpointed_once(recorder: Recorder) -> None:
    kept = recorder.recording.record_message(type="user", content=[{"text": "a"}])
    recorder.recording.record_message(type="user", content=[{"text": "b"}])
    history = [(kept, {"role": "user", "parts": [{"text": "a"}]})]
    before = len(recorder.lines())

    recorder.recording.update_messages_from_history(history)
    recorder.recording.update_messages_from_history(history)

    (checkpoint,) = recorder.lines()[before:]
    assert [message["id"] for message in checkpoint["$set"]["messages"]] == [kept]


def test_a_response_in_history_becomes_the_result_of_its_call(recorder: Recorder) -> None:
    model_id = recorder.recording.record_message(type="gemini", content=[], model="m")
    recorder.recording.record_tool_calls("m", [completed("t__1", "long")])
    masked = [{"functionResponse": {"id": "t__1", "name": "t", "response": {"output": "short"}}}]
    user_id = recorder.recording.record_synthetic_message("user", masked)

    recorder.recording.update_messages_from_history(
        [(model_id, {"role": "model", "parts": []}), (user_id, {"role": "user", "parts": masked})]
    )

    assert recorder.recording.messages[0]["toolCalls"][0]["result"] == masked


def test_a_full_disk_ends_the_recording_with_a_notice(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[object] = []
    recorder.events.subscribe(notices.append)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(session_file, "open_private", full)
    recorder.recording.record_message(type="user", content=[])
    monkeypatch.undo()
    recorder.recording.record_message(type="user", content=[])

    assert notices == [UserFeedback(severity="warning", message=DISK_FULL)]
    assert recorder.recording.path is None


META = {
    "sessionId": "99999999-old",
    "projectHash": "hash",
    "startTime": "S",
    "lastUpdated": "L",
    "kind": "main",
    "summary": "sum",
}
ASKED = {"id": "u1", "timestamp": "T", "type": "user", "content": "asked"}
ANSWERED = {"id": "g1", "timestamp": "T", "type": "gemini", "content": "answered"}


def resume(tmp_path: Path, file: Path) -> Recorder:
    recorder = Recorder(tmp_path, initialize=False)
    conversation = load_conversation_record(file, VirtualClock())
    assert conversation is not None
    recorder.recording.initialize(resumed=ResumedSession(conversation, file))
    return recorder


def written(file: Path, *lines: JsonObject | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts))
    return file


@pytest.mark.contract("P-166")
def test_a_resumed_recording_goes_on_in_its_file(tmp_path: Path) -> None:
    file = written(tmp_path / "old.jsonl", META, ASKED, ANSWERED, "")

    recorder = resume(tmp_path, file)
    recorder.recording.record_message(type="user", content="more", message_id="u2")

    assert recorder.recording.path == file
    assert recorder.lines()[3] == {"$set": {"sessionId": "99999999-old"}}
    assert [message["id"] for message in recorder.recording.messages] == ["u1", "g1", "u2"]
    again = load_conversation_record(file, VirtualClock())
    assert again is not None
    assert again.messages == list(recorder.recording.messages)


def test_a_recording_cut_off_in_its_last_line_goes_on_from_the_line_before(tmp_path: Path) -> None:
    file = written(tmp_path / "old.jsonl", META, ASKED, '{"id":"g1","typ')

    recorder = resume(tmp_path, file)
    recorder.recording.record_message(type="user", content="more", message_id="u2")

    again = load_conversation_record(file, VirtualClock())
    assert again is not None
    assert [message["id"] for message in again.messages] == ["u1", "u2"]


def test_a_document_of_an_old_version_is_copied_to_a_recording(tmp_path: Path) -> None:
    document = {**META, "messages": [ASKED, ANSWERED], "memoryScratchpad": {"a": 1}}
    file = written(tmp_path / "old.json", json.dumps(document, indent=2))

    recorder = resume(tmp_path, file)

    assert recorder.recording.path == tmp_path / "old.jsonl"
    assert recorder.lines() == [
        META,
        ASKED,
        ANSWERED,
        {"$set": {"memoryScratchpad": {"a": 1}}},
        {"$set": {"sessionId": "99999999-old"}},
    ]
    assert json.loads(file.read_text()) == document


def test_a_recording_lost_meanwhile_is_written_anew(tmp_path: Path) -> None:
    file = written(tmp_path / "old.jsonl", META, ASKED, "")
    conversation = load_conversation_record(file, VirtualClock())
    assert conversation is not None
    file.write_text("overwritten")
    recorder = Recorder(tmp_path, initialize=False)

    recorder.recording.initialize(resumed=ResumedSession(conversation, file))

    assert recorder.lines() == [conversation.fields, ASKED]
    [kept] = tmp_path.glob("old.jsonl.unreadable-*")
    assert kept.read_text() == "overwritten"


def test_messages_of_an_old_document_without_ids_get_some(tmp_path: Path) -> None:
    nameless = {"type": "user", "content": "asked"}
    file = written(tmp_path / "old.json", json.dumps({**META, "messages": [nameless]}, indent=2))

    recorder = resume(tmp_path, file)

    assert recorder.recording.messages[0]["id"]


def test_a_subagent_records_under_its_parent(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, initialize=False)

    recorder.recording.initialize("subagent", parent_session_id="par/ent", directories=["/d"])

    assert recorder.recording.path is not None
    assert recorder.recording.path.parts[-3:] == ("chats", "par_ent", "11111111-2222.jsonl")
    assert recorder.lines()[0]["directories"] == ["/d"]


def test_a_rewind_takes_back_a_message_and_all_after_it(recorder: Recorder) -> None:
    first = recorder.recording.record_message(type="user", content="a")
    second = recorder.recording.record_message(type="gemini", content="b")

    assert recorder.recording.rewind_to(second) == recorder.recording.messages
    assert [message["id"] for message in recorder.recording.messages] == [first]
    assert recorder.lines()[-1] == {"$rewindTo": second}
    recorder.recording.record_message(type="gemini", content="c", message_id=second)
    assert [message["content"] for message in recorder.recording.messages] == ["a", "c"]


def test_a_rewind_to_nowhere_changes_nothing(recorder: Recorder) -> None:
    recorder.recording.record_message(type="user", content="a")
    before = recorder.lines()

    assert recorder.recording.rewind_to("unknown") == recorder.recording.messages
    assert recorder.lines() == before


@pytest.mark.contract("P-170")
def test_without_a_recording_a_rewind_does_nothing(tmp_path: Path) -> None:
    assert Recorder(tmp_path, initialize=False).recording.rewind_to("unknown") is None


def test_a_history_that_replaces_the_old_one_is_recorded_turn_by_turn(recorder: Recorder) -> None:
    recorder.recording.record_message(type="user", content="old")
    contents = [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}]},
    ]

    history = recorder.recording.record_history(contents)
    recorder.recording.update_messages_from_history(history)

    assert [content for _, content in history] == contents
    messages = recorder.recording.messages
    assert [(m["id"], m["type"]) for m in messages] == [
        (history[0][0], "user"),
        (history[1][0], "gemini"),
    ]
    assert [m["id"] for m in recorder.lines()[-1]["$set"]["messages"]] == [t for t, _ in history]


def test_a_history_recorded_again_has_the_lines_of_its_messages_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "_PORTION", 3)
    monkeypatch.setattr(rewriting, "_KEPT_UP_TO", 60)
    kept: list[JsonObject] = [
        {"role": "user", "parts": [{"text": 'a \u00e9 \U0001f600 \ud83d " \n'}]},
        {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {"2": 1.0, "1": {}}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"x": 1e21}}}]},
        {"role": "model"},
        {"role": "user", "parts": []},
        {"parts": [{"text": "no role"}]},
        {"role": "model", "parts": [{"text": "b"}]},
    ]
    changed: list[JsonObject] = [*kept[:4], {"role": "user", "parts": [{"text": "c"}]}, *kept[5:]]
    one, other = (Recorder(tmp_path / name) for name in ("one", "other"))

    for contents in (kept, changed, [], kept[:2], kept):
        for recorder in (one, other):
            recorder.recording.record_message(type="info", content="before")
            recorder.recording.record_thought("s", "d")
            recorder.recording.record_tokens({"promptTokenCount": 2})
        history = one.recording.record_history(contents)
        expected = [other.recording.record_content(content) for content in contents]
        assert history == expected
        if contents is changed:
            for recorder in (one, other):
                recorder.recording.record_tokens({"promptTokenCount": 3})
        # A turn that got another content and one with another id, as stable call ids make them.
        for index in (1, 3):
            if index < len(contents) and contents is not changed:
                turn_id, content = history[index]
                history[index] = (f"{turn_id}{index // 3}", {**content, "parts": [{"x": 1}]})
        one.recording.update_messages_from_history(history)
        messages = [*other.recording.messages]
        other.recording.update_messages_from_history(history)
        assert one.recording.messages == other.recording.messages != messages

    assert one.recording.path is not None
    assert other.recording.path is not None
    one_lines, other_lines = (
        recorder.recording.path.read_bytes().splitlines()[1:] for recorder in (one, other)
    )
    assert one_lines == other_lines
    for line in one_lines:
        assert js_json(json.loads(line)).encode() == line


@pytest.mark.parametrize(
    "other", [[{"b": 1, "a": 1}], [{"a": True, "b": 1}], [{"a": 1}], [{"a": 1, "b": 1}, {}]]
)
def test_a_content_of_another_text_is_another_content(
    recorder: Recorder, other: list[JsonObject]
) -> None:
    message_id = recorder.recording.record_message(type="user", content=[{"a": 1, "b": 1}])
    before = len(recorder.lines())

    same = [{"a": 1.0, "b": 1}]
    recorder.recording.update_messages_from_history([(message_id, {"role": "user", "parts": same})])
    assert len(recorder.lines()) == before
    recorder.recording.update_messages_from_history(
        [(message_id, {"role": "user", "parts": other})]
    )

    assert len(recorder.lines()) == before + 1
