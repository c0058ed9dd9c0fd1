import errno
import json
from pathlib import Path

import pytest

from agent_protocol.events import ToolDisplay
from services.chat_recording import DISK_FULL, ChatRecording
from services.clock import VirtualClock
from services.ids import CountingIds
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.wire import JsonObject
from services.workspace import Workspace


class Recorder:
    def __init__(self, tmp_path: Path) -> None:
        self.events = CoreEvents()
        self.recording = ChatRecording(
            workspace=Workspace.at(tmp_path / "ws", tmp_path / "home"),
            state=SessionState(
                session_id="11111111-2222",
                model="m",
                approval_mode=ApprovalMode.DEFAULT,
                interactive=False,
                events=self.events,
            ),
            clock=VirtualClock(),
            ids=CountingIds(),
            events=self.events,
            find_tool=lambda name: None,
        )
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
    told: list[object] = []
    recorder.events.subscribe(told.append)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "open", full)
    recorder.recording.record_message(type="user", content=[])
    monkeypatch.undo()
    recorder.recording.record_message(type="user", content=[])

    assert told == [UserFeedback(severity="warning", message=DISK_FULL)]
    assert recorder.recording.path is None
