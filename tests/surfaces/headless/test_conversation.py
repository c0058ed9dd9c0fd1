"""Events that no recorded answer brings about, from an agent that plays a script."""

import io
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from agent_protocol.agent import AgentSend, Subscriber, Unsubscribe
from agent_protocol.content import TextPart
from agent_protocol.event_log import EventLog
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    ErrorEvent,
    Message,
    ToolRequest,
    ToolResponse,
)
from services.clock import SystemClock
from services.model.errors import FatalAuthenticationError, FatalError
from services.state import ApprovalMode, CoreEvents, SessionState
from surfaces.headless.conversation import Conversation
from surfaces.headless.failures import ReportedError, api_error_text, error_code, exit_code
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.options import OutputFormat
from surfaces.headless.presenters import Showing, make_presenter
from surfaces.headless.streams import Streams
from tests.surfaces.headless.conftest import Ran


class ScriptedAgent:
    """Answers any message with the same stream."""

    def __init__(self, *script: AgentEvent) -> None:
        self._log = EventLog()
        self._script = script

    @property
    def events(self) -> Sequence[AgentEvent]:
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        self._log.emit([AgentStart(**at()), *self._script])
        return "s"

    async def abort(self) -> None:
        raise AssertionError("no test aborts here")


IDS = count()


def at() -> dict[str, Any]:
    return {"id": f"e{next(IDS)}", "stream_id": "s", "timestamp": "t"}


def said(text: str) -> Message:
    return Message(**at(), role="agent", content=(TextPart(text=text),))


def ended(reason: str = "completed", **data: Any) -> AgentEnd:
    return AgentEnd(**at(), reason=reason, data=data or None)


def error(
    message: str, *, fatal: bool = False, status: str = "INTERNAL", **meta: Any
) -> ErrorEvent:
    return ErrorEvent(**at(), status=status, message=message, fatal=fatal, meta=meta or None)


def asked() -> ToolRequest:
    return ToolRequest(**at(), request_id="r", name="tool", args={})


def failed(words: str, kind: str) -> ToolResponse:
    return ToolResponse(
        **at(),
        request_id="r",
        name="tool",
        content=(TextPart(text=words),),
        is_error=True,
        data={"errorType": kind},
    )


async def hold(output: str, *script: AgentEvent) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    streams, metrics = Streams(out, err), SessionMetrics()
    showing = Showing(streams=streams, session_id="id", metrics=metrics, clock=SystemClock())
    state = SessionState(
        session_id="id",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )
    presenter = make_presenter(OutputFormat(output), showing)
    talk = Conversation(presenter, streams=streams, metrics=metrics, state=state)
    await talk.run(ScriptedAgent(*script), "hi")
    return Ran(0, out.getvalue(), err.getvalue())


async def test_an_invalid_answer_is_reported_and_is_no_failure_of_the_program() -> None:
    def none() -> ErrorEvent:
        return error("raw", fatal=True, code="INVALID_STREAM", errorType="SAFETY_BLOCKED")

    words = "The model response was blocked due to safety settings."
    text = await hold("text", said("So"), none(), ended("failed"))
    document = (await hold("json", none(), ended("failed"))).document
    lines = (await hold("stream-json", none(), ended("failed"))).lines

    assert (text.out, text.err) == ("So\n", f"[ERROR] {words}\n")
    assert document["error"] == {"type": "INVALID_STREAM", "message": words}
    assert document["stats"]["models"]["m"]["api"]["errorsByType"] == {"SAFETY_BLOCKED": 1}
    assert [(line["type"], line.get("status")) for line in lines[1:]] == [
        ("error", None),
        ("result", "error"),
    ]
    assert lines[1]["message"] == words


async def test_a_block_is_a_warning_and_the_run_goes_on() -> None:
    def blocked() -> ErrorEvent:
        return error(" by a hook \n", code="AGENT_EXECUTION_BLOCKED")

    words = "Agent execution blocked: by a hook"
    text = await hold("text", blocked(), said("ok"), ended())
    document = (await hold("json", blocked(), said("ok"), ended())).document
    lines = (await hold("stream-json", blocked(), ended())).lines

    assert (text.out, text.err) == ("ok\n", f"[WARNING] {words}\n")
    assert (document["response"], document["warnings"]) == ("ok", [words])
    assert (lines[1]["severity"], lines[1]["message"]) == ("warning", words)


async def test_exhaustion_is_an_error_in_stream_json_only() -> None:
    lines = (await hold("stream-json", error("full", status="RESOURCE_EXHAUSTED"), ended())).lines
    text = await hold("text", error("full", status="RESOURCE_EXHAUSTED"), ended())

    assert lines[1]["severity"] == "error"
    assert text.err == "[WARNING] full\n"


async def test_a_call_that_stops_the_run_brings_back_what_was_said_before_it() -> None:
    def script() -> tuple[AgentEvent, ...]:
        return (said("Before."), asked(), failed("enough", "stop_execution"), ended())

    assert (await hold("json", *script())).document["response"] == "Before."
    text = await hold("text", *script())
    assert "Agent execution stopped: enough\n" in text.err
    assert text.out == "Before.\n"


async def test_a_stop_is_reported_on_standard_error() -> None:
    assert (await hold("text", ended(message="by a hook"))).err == (
        "Agent execution stopped: by a hook\n"
    )


async def test_a_full_disk_ends_the_program_with_54() -> None:
    with pytest.raises(FatalError, match="Error executing tool tool: no space") as raised:
        await hold("json", asked(), failed("no space", "no_space_left"), ended("failed"))

    assert exit_code(error_code(raised.value)) == 54


async def test_an_abort_ends_the_program_with_130() -> None:
    with pytest.raises(FatalError, match="Operation cancelled") as raised:
        await hold("text", ended("aborted"))

    assert raised.value.exit_code == 130


async def test_the_limit_that_was_not_configured_is_an_error_line_and_a_success() -> None:
    lines = (await hold("stream-json", ended("max_turns", code="MAX_TURNS_EXCEEDED"))).lines

    assert lines[1]["message"] == "Maximum session turns exceeded"
    assert lines[2]["status"] == "success"


async def test_a_fatal_error_becomes_the_exception_that_it_was() -> None:
    fatal = error("no key", fatal=True, errorName="FatalAuthenticationError", exitCode=41)
    with pytest.raises(FatalAuthenticationError, match="no key"):
        await hold("text", fatal, ended("failed"))

    refused = error("slow down", fatal=True, status="RESOURCE_EXHAUSTED", errorName="X")
    with pytest.raises(ReportedError, match="slow down") as raised:
        await hold("text", refused, ended("failed"))
    assert raised.value.name == "X"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ReportedError("x"), 1),
        (ReportedError("x", status=429), 429 & 255),
        (ReportedError("x", code="EACCES", status=429), 1),
        (ReportedError("x", exit_code=7, code=8, status=9), 7),
        (ReportedError("x", code=0), 0),
    ],
)
def test_the_exit_code_is_the_exit_code_else_the_code_else_the_status(
    failure: Exception, code: int
) -> None:
    assert exit_code(error_code(failure)) == code


def test_a_rate_limit_says_what_to_do_by_the_way_of_signing_in() -> None:
    limited = ReportedError("slow", status=429)

    assert api_error_text(ReportedError("slow"), None) == "[API Error: slow]"
    assert "through AI Studio" in api_error_text(limited, "gemini-api-key")
    assert "through Vertex" in api_error_text(limited, "vertex-ai")
    assert "Switching to the gemini-2.5-flash" in api_error_text(limited, "gateway")


@pytest.mark.parametrize(("output", "refused"), [("text", 1), ("json", 144), ("stream-json", 144)])
def test_what_the_api_refused_ends_with_its_status_unless_output_is_text(
    output: str, refused: int
) -> None:
    streams = Streams(io.StringIO(), io.StringIO())
    showing = Showing(
        streams=streams, session_id="id", metrics=SessionMetrics(), clock=SystemClock()
    )
    presenter = make_presenter(OutputFormat(output), showing)

    assert presenter.exit_code(ReportedError("no", status=400)) == refused
    assert presenter.exit_code(FatalAuthenticationError("no")) == 41
