"""`EventTranslator`: from the events of ADK to those of the agent protocol.

What each kind of ADK event becomes, in this order where one event is of several kinds:

| ADK event | agent events |
| --- | --- |
| text | `message` of the agent, or of the user where the user is the event's author |
| text marked as a thought | `message` with a thought; its heading is the `subject` in `_meta` |
| function call | `tool_request` |
| function response | `tool_response`; an `error` in the response makes it an error |
| inline data, file data, code | `message` with media, or with the part's JSON |
| citations | one `message`, marked `citation` in `_meta`, with the sources in order |
| usage | `usage` |
| `error_code` | `error`, not fatal, with the code in `_meta.code` |
| a note of the runtime (`runtimes.adk.notes`) | what the note says, see `EventTranslator` |
| state, artifacts, transcripts, grounding, anything else | nothing |

A partial event gives only its text, its thoughts and its error. The consolidated event of the same
response has the same id: it gives the rest, and what text the partial ones have not shown.

Source of the agent events: core `agent/event-translator.ts`, `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from google.adk.events.event import Event
from google.genai import types

from agent_protocol.content import ContentPart, TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEvent,
    ErrorEvent,
    Message,
    SessionUpdate,
    ToolDisplay,
    ToolRequest,
    ToolResponse,
    Usage,
)
from runtimes.adk.notes import (
    LOOP_DETECTED,
    LOOP_STRIKES,
    Blocked,
    Delta,
    ModelChosen,
    Note,
    Stopped,
    ToolsDone,
    WireContent,
    note_of,
)
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.requested import request_display
from services.clock import Clock
from services.model.parts import parse_thought
from services.presentation.content import parts_to_content
from services.presentation.display import populate_tool_display
from services.presentation.tool_data import response_data
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.tools.registry import ToolRegistry
from services.wire import JsonObject, Part, js_json

__all__ = ["EventTranslator"]

Role = Literal["user", "agent"]
Make = Callable[[], AgentEvent]
"""Makes an agent event, which gets its number then."""


class _Fragments(list[str]):
    """What partial events have shown of one response's text."""

    def add(self, text: str) -> str:
        """Take in the text of a partial event; returns it."""
        self.append(text)
        return text

    def rest(self, text: str) -> str:
        """What of a consolidated event's text the partial ones have not shown."""
        shown = "".join(self)
        if shown.startswith(text):
            self[:] = [shown[len(text) :]]
            return ""
        self.clear()
        # Where a plugin has replaced the text, all of it is new.
        return text.removeprefix(shown)


@dataclass(slots=True)
class _Response:
    """What partial events have shown of one response."""

    text: _Fragments = field(default_factory=_Fragments)
    thought: _Fragments = field(default_factory=_Fragments)
    calls: set[str] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)
    citations: set[str] = field(default_factory=set)
    counted: bool = False
    """Its usage is reported."""


class EventTranslator(NumberedEvents):
    """Translates one stream of ADK events.

    The translator numbers the agent events, and remembers the model that was announced last and
    what partial events have shown. Nothing else of a run is known here.

    Events of the runtime carry a note, which counts instead of their content: `ModelChosen` is a
    `session_update`, `Delta` adds text, a thought, a call, or the answer's citations and usage,
    `ToolsDone` gives the responses of a batch, `Blocked` an `error`, and `Stopped` the `agent_end`.
    The consolidated answer repeats its deltas and gives nothing. `LOOP_DETECTED` is an `error` from
    a prompt's second loop on: the first one is reported to the model alone.
    """

    def __init__(self, stream_id: str, *, clock: Clock, tools: ToolRegistry) -> None:
        super().__init__(stream_id, clock=clock)
        self._tools = tools
        self._model: str | None = None
        self._responses: dict[str, _Response] = {}

    def translate(
        self, event: Event, before_each: Callable[[], None] = lambda: None
    ) -> Iterator[AgentEvent]:
        """Yield what an ADK event is to clients.

        Args:
            event: any event of ADK; the events of one stream come in order.
            before_each: is called before each agent event gets its number. What it raises ends the
                translation, and no number is lost.
        """
        for make in self._meaning(event):
            before_each()
            if make is not None:
                yield make()

    def invalid_stream(self, kind: str, message: str) -> ErrorEvent:
        """The `error` of an answer that stayed invalid through all attempts."""
        return ErrorEvent(
            **self.fields(),
            status="INTERNAL",
            message=message.strip() or "Invalid stream received from model",
            fatal=True,
            meta={"code": "INVALID_STREAM", "errorType": kind, "rawMessage": message},
        )

    def loop_detected(self) -> ErrorEvent:
        """The `error` of a prompt that ran into a loop for the second time."""
        return self._error("Loop detected, stopping execution", LOOP_DETECTED)

    def blocked(self, reason: str) -> ErrorEvent:
        """The `error` of something that a hook refused."""
        return self._error(reason, "AGENT_EXECUTION_BLOCKED", status="PERMISSION_DENIED")

    def tool_response(self, call: CompletedToolCall) -> ToolResponse:
        """The `tool_response` of one completed call."""
        request, response = call.request, call.response
        content: tuple[ContentPart, ...]
        if response.error:
            content = (TextPart(text=response.error),)
        else:
            content = parts_to_content(response.response_parts)
        return ToolResponse(
            **self.fields(),
            request_id=request.call_id,
            name=request.name,
            content=content,
            is_error=response.error is not None,
            display=populate_tool_display(
                name=request.name,
                invocation=call.invocation,
                result_display=response.result_display,
                display_name=call.tool.display_name if call.tool else None,
                display=response.display,
            ),
            data=response_data(response),
        )

    def _meaning(self, event: Event) -> Iterator[Make | None]:
        """The agent events, unmade; `None` is a moment at which upstream looks at its signal."""
        content, note, response = event.content, note_of(event), self._response(event)
        if event.error_code == LOOP_DETECTED and event.partial:
            if (event.custom_metadata or {}).get(LOOP_STRIKES, 0) > 1:
                yield self.loop_detected
            return
        if not isinstance(content, WireContent) or content.wire is None:
            yield from self._plain(event, response)
            return
        if isinstance(note, Delta):
            yield from self._delta(note, response)
        elif isinstance(note, ToolsDone):
            for call in note.calls:
                yield partial(self.tool_response, call)
        elif note is not None:
            yield from self._noted(note)

    def _noted(self, note: Note) -> Iterator[Make]:
        match note:
            case ModelChosen(model=model):
                self._model = model
                yield lambda: SessionUpdate(**self.fields(), model=model)
            case Stopped() as stopped:
                if stopped.error is not None:
                    message, status = stopped.error, stopped.status
                    yield lambda: ErrorEvent(
                        **self.fields(), status=status, message=message, fatal=True
                    )
                yield lambda: self.end(stopped.reason, stopped.data)
            case Blocked(reason=reason):
                yield partial(self.blocked, reason)
            case _:
                return

    def _delta(self, delta: Delta, response: _Response) -> Iterator[Make | None]:
        part, request = delta.part, delta.request
        if request is not None:
            response.calls.add(request.call_id)
            display = request.display if isinstance(request, ToolCallRequest) else None
            yield partial(self._call, request.call_id, request.name, request.args, display)
        elif part is not None:
            text = part.get("text") or ""
            thought = bool(part.get("thought"))
            (response.thought if thought else response.text).add(text)
            yield partial(self._thought if thought else self._text, text)
        else:
            response.counted = delta.usage is not None
            yield from self._closing(delta.citations, delta.usage, self._model)

    def _closing(
        self, sources: Iterable[str], usage: JsonObject | None, model: str | None
    ) -> Iterator[Make | None]:
        listed = "\n".join(["Citations:", *sources])
        if listed != "Citations:":
            yield partial(self._text, listed, meta={"source": "agent", "citation": True})
        if usage is None:
            yield None
            return
        yield lambda: Usage(
            **self.fields(),
            model=model or "unknown",
            input_tokens=usage.get("promptTokenCount"),
            output_tokens=usage.get("candidatesTokenCount"),
            cached_tokens=usage.get("cachedContentTokenCount"),
        )

    def _plain(self, event: Event, response: _Response) -> Iterator[Make | None]:
        """What an event is that carries nothing of ours, or lost it when somebody copied it."""
        for part in (event.content and event.content.parts) or ():
            yield from self._part(part, event, response)
        if event.citation_metadata is not None:
            response.citations.update(_sources(event.citation_metadata))
        if not event.partial:
            usage = None if response.counted else event.usage_metadata
            yield from self._closing(
                sorted(response.citations),
                None if usage is None else usage.model_dump(by_alias=True, exclude_none=True),
                event.model_version or self._model,
            )
        code = event.error_code
        if code is not None and code not in response.errors:
            response.errors.add(code)
            yield partial(self._error, event.error_message or code, code)

    def _part(self, part: types.Part, event: Event, response: _Response) -> Iterator[Make]:
        partly, role = bool(event.partial), _role(event)
        call, answer = part.function_call, part.function_response
        if part.text is not None:
            fragments = response.thought if part.thought else response.text
            text = (fragments.add if partly else fragments.rest)(part.text)
            if text:
                yield (
                    partial(self._thought, text)
                    if part.thought
                    else partial(self._text, text, role)
                )
        elif partly:
            return
        elif call is not None:
            if (call.id or "") not in response.calls:
                name, args = call.name or "", call.args or {}
                tool = self._tools.get(name)
                display = None if tool is None else request_display(tool, name, args)
                yield partial(self._call, call.id or "", name, args, display)
        elif answer is not None:
            yield partial(self._answer, answer)
        else:
            wire = part.model_dump(mode="json", by_alias=True, exclude_none=True)
            content = parts_to_content([wire] if wire else [])
            if content:
                yield lambda: Message(**self.fields(), role=role, content=content)

    def _response(self, event: Event) -> _Response:
        """What is known of the response that an event is part of; the last part ends it."""
        known = self._responses.get(event.id)
        if known is None:
            known = self._responses[event.id] = _Response()
        if not event.partial:
            del self._responses[event.id]
        return known

    def _text(
        self, text: str, role: Role = "agent", meta: Mapping[str, Any] | None = None
    ) -> Message:
        return Message(**self.fields(), role=role, content=(TextPart(text=text),), meta=meta)

    def _thought(self, text: str) -> Message:
        subject, description = parse_thought(text)
        return Message(
            **self.fields(),
            role="agent",
            content=(ThoughtPart(thought=description),),
            meta={"source": "agent", **({"subject": subject} if subject else {})},
        )

    def _call(
        self, call_id: str, name: str, args: JsonObject, display: ToolDisplay | None
    ) -> ToolRequest:
        return ToolRequest(
            **self.fields(), request_id=call_id, name=name, args=args, display=display
        )

    def _answer(self, answer: types.FunctionResponse) -> ToolResponse:
        """The `tool_response` of a function response that our scheduler did not give."""
        response = answer.response or {}
        error = response.get("error")
        shown = error or response.get("output", response.get("result", response))
        text = TextPart(text=shown if isinstance(shown, str) else js_json(shown))
        media: list[Part] = [
            part.model_dump(mode="json", by_alias=True, exclude_none=True)
            for part in answer.parts or ()
        ]
        return ToolResponse(
            **self.fields(),
            request_id=answer.id or "",
            name=answer.name or "",
            content=(text, *parts_to_content(media)),
            is_error=bool(error),
        )

    def _error(self, message: str, code: str, status: str = "INTERNAL") -> ErrorEvent:
        return ErrorEvent(
            **self.fields(), status=status, message=message, fatal=False, meta={"code": code}
        )


def _role(event: Event) -> Role:
    return "user" if event.author == "user" else "agent"


def _sources(metadata: types.CitationMetadata) -> Iterator[str]:
    for citation in metadata.citations or ():
        if citation.uri:
            yield f"({citation.title}) {citation.uri}" if citation.title else citation.uri
