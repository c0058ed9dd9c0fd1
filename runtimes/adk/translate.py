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
response has the same id. It gives the rest, and of its text what goes on from the streamed one. A
text that a plugin put in place of a streamed one is not shown: clients take nothing back.

Source of the agent events: core `agent/event-translator.ts`, `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from google.adk.events.event import Event
from google.genai import types

from agent_protocol.content import ContentPart, TextPart
from agent_protocol.events import (
    AgentEvent,
    Message,
    ToolResponse,
)
from runtimes.adk.notes import (
    LOOP_DETECTED,
    LOOP_STRIKES,
    Blocked,
    Delta,
    ModelChosen,
    Stopped,
    ToolsDone,
    note_of,
)
from services.chat import ConversationEvents, tool_call_request
from services.clock import Clock
from services.model.parts import parse_thought
from services.model.sdk_contents import WireContent
from services.presentation.content import parts_to_content
from services.presentation.errors import ErrorFields
from services.scheduler.calls import ToolCallRequest
from services.tools.registry import ToolRegistry
from services.wire import JsonObject, Part, js_json

__all__ = ["EventTranslator"]

Role = Literal["user", "agent"]
Make = Callable[[], AgentEvent]
"""Makes an agent event, which gets its number then."""


@dataclass(slots=True)
class _Response:
    """What partial events have shown of one response."""

    texts: dict[bool, str] = field(default_factory=lambda: {True: "", False: ""})
    """The thoughts (`True`), and the other texts (`False`)."""

    def add(self, text: str, *, thought: bool, partly: bool) -> str:
        """Take in the text of a part; returns what clients are to see of it.

        A consolidated text is seen as far as it goes on from what was streamed.
        """
        shown = self.texts[thought]
        if partly:
            self.texts[thought] += text
            return text
        return text[len(shown) :] if text.startswith(shown) else ""

    calls: set[str] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)
    citations: set[str] = field(default_factory=set)
    counted: bool = False
    """Its usage is reported."""


class EventTranslator(ConversationEvents):
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
        match note:
            case Delta():
                yield from self._delta(note, response)
            case ToolsDone():
                for call in note.calls:
                    yield partial(self.tool_response, call)
            case ModelChosen():
                yield partial(self.model_chosen, note.model)
            case Blocked():
                yield partial(self.blocked, note.reason)
            case Stopped():
                if note.error is not None:
                    fields = ErrorFields(status=note.status, message=note.error)
                    yield partial(self.error, fields)
                yield partial(self.end, note.reason, note.data)
            case _:
                return

    def _delta(self, delta: Delta, response: _Response) -> Iterator[Make | None]:
        part, request = delta.part, delta.request
        if request is not None:
            response.calls.add(request.call_id)
            if isinstance(request, ToolCallRequest):
                yield partial(self.tool_request, request)
        elif part is not None:
            text = part.get("text") or ""
            thought = bool(part.get("thought"))
            response.add(text, thought=thought, partly=True)
            yield partial(self._thought if thought else self.text, text)
        else:
            response.counted = delta.usage is not None
            yield from self._closing(delta.citations, delta.usage)

    def _closing(
        self, sources: Iterable[str], usage: JsonObject | None, model: str | None = None
    ) -> Iterator[Make | None]:
        listed = "\n".join(["Citations:", *sources])
        if listed != "Citations:":
            yield partial(self.citations, listed)
        yield None if usage is None else partial(self.usage, usage, model)

    def _plain(self, event: Event, response: _Response) -> Iterator[Make | None]:
        """What an event is by its typed fields: it has no note, or lost it when it was copied."""
        for part in (event.content and event.content.parts) or ():
            yield from self._part(part, event, response)
        if event.citation_metadata is not None:
            response.citations.update(_sources(event.citation_metadata))
        if not event.partial:
            usage = None if response.counted else event.usage_metadata
            yield from self._closing(
                sorted(response.citations),
                None if usage is None else usage.model_dump(by_alias=True, exclude_none=True),
                event.model_version,
            )
        code = event.error_code
        if code is not None and code not in response.errors:
            response.errors.add(code)
            yield partial(
                self.error,
                ErrorFields(
                    status="INTERNAL",
                    message=event.error_message or code,
                    fatal=False,
                    meta={"code": code},
                ),
            )

    def _part(self, part: types.Part, event: Event, response: _Response) -> Iterator[Make]:
        partly = bool(event.partial)
        role: Role = "user" if event.author == "user" else "agent"
        call, answer = part.function_call, part.function_response
        if part.text is not None:
            thought = bool(part.thought)
            text = response.add(part.text, thought=thought, partly=partly)
            if text:
                yield (
                    partial(self._thought, text)
                    if thought
                    else partial(self._shown, (TextPart(text=text),), role)
                )
        elif partly:
            return
        elif call is not None:
            if (call.id or "") not in response.calls:
                wire = {"id": call.id, "name": call.name, "args": call.args}
                yield partial(self.tool_request, tool_call_request(self._tools, "", wire, None))
        elif answer is not None:
            yield partial(self._answer, answer)
        else:
            other = part.model_dump(mode="json", by_alias=True, exclude_none=True)
            content = parts_to_content([other] if other else [])
            if content:
                yield partial(self._shown, content, role)

    def _response(self, event: Event) -> _Response:
        """What is known of the response that an event is part of; the last part ends it."""
        known = self._responses.get(event.id)
        if known is None:
            known = self._responses[event.id] = _Response()
        if not event.partial:
            del self._responses[event.id]
        return known

    def _shown(self, content: tuple[ContentPart, ...], role: Role) -> Message:
        return Message(**self.fields(), role=role, content=content)

    def _thought(self, text: str) -> Message:
        return self.thought(*parse_thought(text))

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


def _sources(metadata: types.CitationMetadata) -> Iterator[str]:
    for citation in metadata.citations or ():
        if citation.uri:
            yield f"({citation.title}) {citation.uri}" if citation.title else citation.uri
