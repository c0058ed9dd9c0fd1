"""The agent events of a stream, as every runtime emits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from services.chat import ConversationEvents, NumberedEvents, request_display
from services.clock import VirtualClock
from services.presentation.errors import ErrorFields
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.tools.contract import InvalidToolParams, ToolErrorType
from services.tools.registry import ToolRegistry

TEXT = (TextPart(text="hello"),)


def events() -> ConversationEvents:
    return ConversationEvents("s", clock=VirtualClock())


def test_events_are_numbered_from_zero_and_carry_the_time_of_their_making():
    clock = VirtualClock()
    numbered = NumberedEvents("s", clock=clock)
    start = numbered.start()
    clock.advance(1500)
    error = numbered.error(ErrorFields(status="INTERNAL", message="no", meta={"code": "C"}))
    end = numbered.end("failed", {"a": 1})
    assert [event.id for event in (start, error, end)] == ["s-0", "s-1", "s-2"]
    assert {event.stream_id for event in (start, error, end)} == {"s"}
    assert (start.timestamp, end.timestamp) == (
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:01.500Z",
    )
    assert (error.status, error.message, error.fatal, error.meta) == (
        "INTERNAL",
        "no",
        True,
        {"code": "C"},
    )
    assert (end.reason, end.data) == ("failed", {"a": 1})


@pytest.mark.parametrize(("display", "shown"), [("/cmd", "/cmd"), ("", "hello"), (None, "hello")])
def test_a_users_message_is_shown_as_its_display_content_says(display, shown):
    payload = MessageSend(content=TEXT, display_content=display, meta={"k": 1})
    message = events().user_message(payload)
    assert message.role == "user"
    assert [part.text for part in message.content] == [shown]
    assert message.meta == {"k": 1}


def test_usage_names_the_model_announced_last():
    made = events()
    counted = {"promptTokenCount": 3, "candidatesTokenCount": 2, "cachedContentTokenCount": 1}
    assert made.usage(counted).model == "unknown"
    assert made.model_chosen("m").model == "m"
    usage = made.usage(counted)
    assert (usage.model, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (
        "m",
        3,
        2,
        1,
    )
    assert made.usage({}).input_tokens is None


@pytest.mark.parametrize(
    ("subject", "meta"), [("S", {"source": "agent", "subject": "S"}), ("", {"source": "agent"})]
)
def test_a_thought_without_a_subject_has_none_in_its_meta(subject, meta):
    thought = events().thought(subject, "D")
    assert thought.content[0].thought == "D"
    assert thought.meta == meta


def test_an_answers_text_and_its_citations_have_different_meta():
    made = events()
    assert made.text("a").meta is None
    assert made.citations("Citations:\nx").meta == {"source": "agent", "citation": True}


@pytest.mark.parametrize(
    ("event", "status", "fatal", "code"),
    [
        (lambda made: made.invalid_stream("NO_FINISH", " "), "INTERNAL", True, "INVALID_STREAM"),
        (lambda made: made.loop_detected(), "INTERNAL", False, "LOOP_DETECTED"),
        (lambda made: made.blocked("no"), "PERMISSION_DENIED", False, "AGENT_EXECUTION_BLOCKED"),
    ],
)
def test_errors_have_a_status_and_a_code(event, status, fatal, code):
    error = event(events())
    assert (error.status, error.fatal, error.meta["code"]) == (status, fatal, code)


def test_an_invalid_stream_without_a_message_gets_a_default_one():
    error = events().invalid_stream("NO_FINISH", " ")
    assert error.message == "Invalid stream received from model"
    assert error.meta == {"code": "INVALID_STREAM", "errorType": "NO_FINISH", "rawMessage": " "}


def completed(**response) -> CompletedToolCall:
    return CompletedToolCall(
        request=ToolCallRequest(call_id="f__1", name="f", args={}, prompt_id="p"),
        response=ToolCallResponse(call_id="f__1", response_parts=({"text": "out"},), **response),
        status=CallStatus.SUCCESS,
    )


def test_a_tools_response_has_its_parts_and_what_is_shown_of_it():
    made = events().tool_response(completed(result_display="shown", content_length=3))
    assert (made.request_id, made.name, made.is_error) == ("f__1", "f", False)
    assert [part.text for part in made.content] == ["out"]
    assert (made.display.name, made.display.result.text) == ("f", "shown")
    assert made.data == {"contentLength": 3}


@pytest.mark.parametrize(("error", "content"), [("it broke", "it broke"), ("", "out")])
def test_a_failed_tools_response_has_the_errors_message_if_there_is_one(error, content):
    failed = completed(error=error, error_type=ToolErrorType.EXECUTION_FAILED)
    made = events().tool_response(failed)
    assert made.is_error
    assert [part.text for part in made.content] == [content]
    assert made.data == {"errorType": "execution_failed"}


@dataclass
class Invocation:
    said: str

    def description(self) -> str:
        return self.said


@dataclass
class StandIn:
    said: str | None
    display_name: str = "Stand-in"
    description: str = "A tool."

    def build(self, params: object) -> Invocation:
        if self.said is None:
            raise InvalidToolParams("no")
        return Invocation(self.said)


@pytest.mark.parametrize(
    ("said", "shown"), [("does it", "does it"), ("", "A tool."), (None, "A tool.")]
)
def test_a_requested_call_is_shown_by_what_it_does_or_else_by_its_tool(said, shown):
    tools = cast("ToolRegistry", {"f": StandIn(said)})
    display = request_display(tools, "f", {})
    assert display is not None
    assert (display.name, display.description) == ("Stand-in", shown)


def test_a_call_of_an_unknown_tool_is_not_shown():
    assert request_display(cast("ToolRegistry", {}), "f", {}) is None
