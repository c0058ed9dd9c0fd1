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

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from google.adk.events.event import Event
from google.genai import types

from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent, Message, ToolResponse
from runtimes.adk.notes import (
    Blocked,
    Delta,
    Looped,
    ModelChosen,
    Note,
    Stopped,
    ToolsDone,
    note_of,
)
from services.chat import ConversationEvents, tool_call_request
from services.clock import Clock
from services.model.parts import citations, parse_thought
from services.model.sdk_contents import WireContent
from services.model.sdk_json import dumped
from services.presentation.content import parts_to_content
from services.presentation.errors import ErrorFields
from services.scheduler.calls import ToolCallRequest
from services.tools.registry import ToolRegistry
from services.wire import JsonObject, Part, js_json

__all__ = ["EventTranslator"]

Make = Callable[[], AgentEvent]
"""Makes an agent event, which gets its number then."""


@dataclass(slots=True)
class _Response:
    """What clients have got of one response."""

    texts: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})
    """The streamed thoughts (`True`), and the other streamed texts (`False`)."""
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
    The consolidated answer repeats its deltas and gives nothing. `Looped` is an `error` from a
    prompt's second loop on: the first one is reported to the model alone.
    """

    def __init__(self, stream_id: str, *, clock: Clock, tools: ToolRegistry) -> None:
        super().__init__(stream_id, clock=clock)
        self._tools = tools
        self._responses: defaultdict[str, _Response] = defaultdict(_Response)

    def translate(
        self, event: Event, before_each: Callable[[], None] = lambda: None
    ) -> Iterator[AgentEvent]:
        """Yield what an ADK event is to clients; the events of a stream come in order.

        `before_each` is called before each agent event gets its number. What it raises ends the
        translation, and no number is lost.
        """
        response = self._responses[event.id]
        if not event.partial:
            del self._responses[event.id]
        for make in self._meaning(event, response):
            before_each()
            if make is not None:
                yield make()

    def _meaning(self, event: Event, response: _Response) -> Iterator[Make | None]:
        """The agent events, unmade; `None` is a moment at which upstream looks at its signal."""
        content = event.content
        if not isinstance(content, WireContent) or content.wire is None:
            yield from self._plain(event, response)
        else:
            yield from self._noted(note_of(event), response)

    def _noted(self, note: Note | None, response: _Response) -> Iterator[Make | None]:
        match note:
            case Looped(strikes) if strikes > 1:
                yield self.loop_detected
            case Delta() as delta:
                yield from self._delta(delta, response)
            case ToolsDone(calls):
                for call in calls:
                    yield partial(self.tool_response, call)
            case ModelChosen(model):
                yield partial(self.model_chosen, model)
            case Blocked(reason):
                yield partial(self.blocked, reason)
            case Stopped() as stopped:
                if stopped.error is not None:
                    fields = ErrorFields(status=stopped.status, message=stopped.error)
                    yield partial(self.error, fields)
                yield partial(self.end, stopped.reason, stopped.data)
            case _:
                pass

    def _delta(self, delta: Delta, response: _Response) -> Iterator[Make | None]:
        part, request = delta.part, delta.request
        if request is not None:
            response.calls.add(request.call_id)
            if isinstance(request, ToolCallRequest):
                yield partial(self.tool_request, request)
        elif part is not None:
            text, thought = part.get("text") or "", bool(part.get("thought"))
            response.texts[thought].append(text)
            yield partial(self._thought if thought else self.text, text)
        if part is None or delta.finish_reason is not None:
            response.counted = delta.usage is not None
            yield from self._closing(delta.citations, delta.usage)

    def _closing(
        self, sources: Sequence[str], usage: JsonObject | None, model: str | None = None
    ) -> Iterator[Make | None]:
        if sources:
            yield partial(self.citations, "\n".join(["Citations:", *sources]))
        yield None if usage is None else partial(self.usage, usage, model)

    def _plain(self, event: Event, response: _Response) -> Iterator[Make | None]:
        """What an event is by its typed fields: it has no note, or lost it when it was copied."""
        for part in (event.content and event.content.parts) or ():
            yield from self._part(part, event, response)
        if event.citation_metadata is not None:
            found = {"citationMetadata": dumped(event.citation_metadata)}
            response.citations.update(citations({"candidates": [found]}))
        if not event.partial:
            usage = None if response.counted else event.usage_metadata
            counts = None if usage is None else dumped(usage)
            yield from self._closing(sorted(response.citations), counts, event.model_version)
        code = event.error_code
        if code is not None and code not in response.errors:
            response.errors.add(code)
            message = event.error_message or code
            fields = ErrorFields(
                status="INTERNAL", message=message, fatal=False, meta={"code": code}
            )
            yield partial(self.error, fields)

    def _part(self, part: types.Part, event: Event, response: _Response) -> Iterator[Make]:
        text, call, answer = part.text, part.function_call, part.function_response
        if text is not None:
            thought = bool(part.thought)
            if event.partial:
                response.texts[thought].append(text)
            else:
                streamed = "".join(response.texts[thought])
                text = text[len(streamed) :] if text.startswith(streamed) else ""
            if text and thought:
                yield partial(self._thought, text)
            elif text:
                yield partial(self._message, event, {"text": text})
        elif event.partial:
            pass
        elif call is not None:
            if call.id not in response.calls:
                wire = {"id": call.id, "name": call.name, "args": call.args}
                yield partial(self.tool_request, tool_call_request(self._tools, "", wire))
        elif answer is not None:
            yield partial(self._answer, answer)
        elif wire := dumped(part):
            yield partial(self._message, event, wire)

    def _message(self, event: Event, part: Part) -> Message:
        role: Literal["user", "agent"] = "user" if event.author == "user" else "agent"
        return Message(**self.fields(), role=role, content=parts_to_content([part]))

    def _thought(self, text: str) -> Message:
        return self.thought(*parse_thought(text))

    def _answer(self, answer: types.FunctionResponse) -> ToolResponse:
        """The `tool_response` of a function response that our scheduler did not give."""
        response = answer.response or {}
        error = response.get("error")
        shown = error or response.get("output", response.get("result", response))
        text = TextPart(text=shown if isinstance(shown, str) else js_json(shown))
        return ToolResponse(
            **self.fields(),
            request_id=answer.id or "",
            name=answer.name or "",
            content=(text, *parts_to_content(map(dumped, answer.parts or ()))),
            is_error=bool(error),
        )
