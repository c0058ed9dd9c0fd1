"""The three output formats: what each shows of a run, and where.

`text` writes the answer to standard output and messages to standard error; `json` writes one object
at the end, errors to standard error; `stream-json` writes one line for each event.

Source: core `output/json-formatter.ts`, `output/stream-json-formatter.ts`; `packages/cli`
`nonInteractiveCliAgentSession.ts`, `utils/errors.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_protocol.events import ToolRequest, ToolResponse
from services.clock import Clock, iso_timestamp
from services.model.errors import FatalError
from services.wire import JsonObject, js_json, js_json_pretty
from surfaces.headless.failures import api_error_text, error_code, error_type, exit_code
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.options import OutputFormat
from surfaces.headless.streams import Streams, strip_ansi

__all__ = ["Presenter", "Showing", "make_presenter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """The session that a presenter shows, and where it writes."""

    streams: Streams
    session_id: str
    metrics: SessionMetrics
    clock: Clock
    auth_type: str | None = None
    colour: bool = False


class Presenter:
    """Presents a run in one format. This base class presents nothing."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing
        self._streams = showing.streams
        self._started_ms = showing.clock.now_ms()

    def begin(self, model: str) -> None:
        """A session on `model`, which may be an alias, is about to begin; time counts from here."""
        self._started_ms = self._showing.clock.now_ms()

    def user(self, text: str) -> None:
        """Present the user's message."""

    def answer(self, text: str) -> None:
        """A fragment of the agent's answer."""

    def tool_use(self, event: ToolRequest) -> None:
        """The agent calls a tool."""

    def tool_result(self, event: ToolResponse, shown: str | None, words: str, kind: str) -> None:
        """A call ended: its display, and the message and type of an error."""

    def stopped(self, message: str) -> None:
        """Something stopped the agent, which is not a failure."""

    def stopped_by_tool(self, message: str) -> None:
        """A call's result stopped the agent."""
        self.stopped(message)

    def turns_exceeded(self) -> None:
        """The session's own limit of turns was reached, not the configured one."""

    def warned(self, message: str, severity: str = "warning") -> None:
        """A failure after which the agent continued."""

    def finish(self, error: JsonObject | None = None) -> None:
        """The run is over. `error`: `{type, message}` of an invalid answer."""

    def failed(self, error: Exception, code: Any = None) -> None:
        """The run ended with `error`; `code` counts instead of its own."""

    def exit_code(self, error: Exception) -> int:
        """The exit code of a run that ended with `error`."""
        return exit_code(error_code(error))


class TextPresenter(Presenter):
    """`-o text`."""

    def answer(self, text: str) -> None:
        """Print to standard output at once."""
        self._streams.write(text)

    def tool_result(self, event: ToolResponse, shown: str | None, words: str, kind: str) -> None:
        """The answer after a call begins a new line."""
        self._streams.end_line()

    def stopped(self, message: str) -> None:
        """A message."""
        self._streams.report(f"Agent execution stopped: {message}")

    def warned(self, message: str, severity: str = "warning") -> None:
        """A message; every severity is a warning here."""
        self._streams.report(f"[WARNING] {message}")

    def finish(self, error: JsonObject | None = None) -> None:
        """The answer ends with a line's end."""
        if error is not None:
            self._streams.report(f"[ERROR] {error['message']}")
        self._streams.end_line()

    def failed(self, error: Exception, code: Any = None) -> None:
        """In red where it is one of the program's own endings; never with a traceback."""
        if isinstance(error, FatalError):
            words = f"\x1b[31m{error}\x1b[0m" if self._showing.colour else str(error)
        else:
            words = f"An unexpected critical error occurred:{error_type(error)}: {error}"
        self._streams.report(words)

    def exit_code(self, error: Exception) -> int:
        """Only the program's own endings have codes of their own here."""
        return error.exit_code if isinstance(error, FatalError) else 1


class JsonPresenter(Presenter):
    """`-o json`. The response is the text after the last tool call."""

    def __init__(self, showing: Showing) -> None:
        super().__init__(showing)
        self._response = ""
        self._before_tools = ""
        self._warnings: list[str] = []

    def answer(self, text: str) -> None:
        """Keep it for the end."""
        self._response += text

    def tool_use(self, event: ToolRequest) -> None:
        """Text before a call is no answer, unless the call stops the run."""
        self._before_tools = self._response or self._before_tools
        self._response = ""

    def stopped_by_tool(self, message: str) -> None:
        """The text before the call is the response."""
        self._response = self._response or self._before_tools

    def warned(self, message: str, severity: str = "warning") -> None:
        """Keep it for the end."""
        self._warnings.append(strip_ansi(message))

    def finish(self, error: JsonObject | None = None) -> None:
        """One object, without a line's end."""
        shown: JsonObject = {
            "session_id": self._showing.session_id,
            "response": strip_ansi(self._response),
            "stats": self._showing.metrics.stats(),
        }
        if error is not None:
            shown["error"] = error
        if self._warnings:
            shown["warnings"] = self._warnings
        self._streams.write(js_json_pretty(shown))

    def failed(self, error: Exception, code: Any = None) -> None:
        """One object on standard error."""
        shown: JsonObject = {"type": error_type(error), "message": strip_ansi(str(error))}
        code = error_code(error) if code is None else code
        if code:
            shown["code"] = code
        self._streams.report(
            js_json_pretty({"session_id": self._showing.session_id, "error": shown})
        )


class StreamJsonPresenter(Presenter):
    """`-o stream-json`."""

    def begin(self, model: str) -> None:
        """An `init` line."""
        super().begin(model)
        self._line("init", session_id=self._showing.session_id, model=model)

    def user(self, text: str) -> None:
        """A `message` line."""
        self._line("message", role="user", content=text)

    def answer(self, text: str) -> None:
        """A `message` line for the fragment."""
        self._line("message", role="assistant", content=text, delta=True)

    def tool_use(self, event: ToolRequest) -> None:
        """A `tool_use` line."""
        self._line(
            "tool_use", tool_name=event.name, tool_id=event.request_id, parameters=event.args
        )

    def tool_result(self, event: ToolResponse, shown: str | None, words: str, kind: str) -> None:
        """A `tool_result` line; a cancelled call counts as a success."""
        fields: JsonObject = {} if shown is None else {"output": shown}
        if event.is_error:
            fields["error"] = {"type": kind, "message": words}
        status = "error" if event.is_error else "success"
        self._line("tool_result", tool_id=event.request_id, status=status, **fields)

    def turns_exceeded(self) -> None:
        """An `error` line."""
        self._line("error", severity="error", message="Maximum session turns exceeded")

    def warned(self, message: str, severity: str = "warning") -> None:
        """An `error` line."""
        self._line("error", severity=severity, message=strip_ansi(message))

    def finish(self, error: JsonObject | None = None) -> None:
        """A `result` line, after an `error` line for an invalid answer."""
        if error is not None:
            self._line("error", severity="error", message=error["message"])
        took = self._showing.clock.now_ms() - self._started_ms
        status = "success" if error is None else "error"
        self._line("result", status=status, stats=self._showing.metrics.stream_stats(took))

    def failed(self, error: Exception, code: Any = None) -> None:
        """A `result` line that took no time."""
        shown = {
            "type": error_type(error),
            "message": api_error_text(error, self._showing.auth_type),
        }
        stats = self._showing.metrics.stream_stats(0)
        self._line("result", status="error", error=shown, stats=stats)

    def _line(self, kind: str, **fields: Any) -> None:
        stamp = iso_timestamp(self._showing.clock.now_ms())
        self._streams.write(js_json({"type": kind, "timestamp": stamp, **fields}) + "\n")


def make_presenter(output: OutputFormat, showing: Showing) -> Presenter:
    """The presenter of a format."""
    make: Callable[[Showing], Presenter] = {
        OutputFormat.TEXT: TextPresenter,
        OutputFormat.JSON: JsonPresenter,
        OutputFormat.STREAM_JSON: StreamJsonPresenter,
    }[output]
    return make(showing)
