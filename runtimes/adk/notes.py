"""What rides on ADK's events and requests without being squeezed through google-genai's types.

ADK moves `types.Content` objects about; google-genai refuses unknown fields and re-encodes
signatures, so those objects are only what ADK itself needs to see (texts, calls, responses). The
API's own JSON travels beside them, on the same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from google.adk.events.event import Event
from google.genai import types
from pydantic import BaseModel, ValidationError

from agent_protocol.events import Meta
from services.children.calls import CallsOutcome
from services.compression.service import CompressionInfo
from services.history.prefix import shared_prefix
from services.model.stream import AssembledTurn
from services.scheduler.calls import CompletedToolCall
from services.wire import Content, Json, JsonObject, Part

__all__ = [
    "LOOP_DETECTED",
    "LOOP_STRIKES",
    "Answer",
    "AskedCall",
    "Blocked",
    "ChildToolsDone",
    "Compressed",
    "Delta",
    "ModelChosen",
    "Note",
    "RequestContents",
    "Retrying",
    "Stopped",
    "ToolsDone",
    "TypedHistory",
    "WireContent",
    "note_of",
    "typed",
    "wire_of",
]

M = TypeVar("M", bound=BaseModel)

LOOP_DETECTED: Final = "LOOP_DETECTED"
"""The error code of the event that replaces a delta with which an answer loops."""
LOOP_STRIKES: Final = "loop_strikes"
"""In that event's `custom_metadata`: how often the prompt has looped, this time included."""


class AskedCall(Protocol):
    """A function call that the model asked for, as far as ADK has to see it."""

    @property
    def call_id(self) -> str:
        """Its id; empty where a child session's call has none."""
        ...

    @property
    def name(self) -> str:
        """The tool's name."""
        ...

    @property
    def args(self) -> JsonObject:
        """Its arguments."""
        ...


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The router settled on a model for this sequence of requests."""

    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one partial response of the model's stream adds; the note of every such response.

    A chunk of the API gives its thoughts, its text, each of its function calls, then one closing
    delta without a part, if it has a finish reason or nothing else to report.
    """

    part: Part | None = None
    """The API's JSON: a thought, a text (the chunk's texts joined) or a function call; `None`: the
    closing delta."""
    request: AskedCall | None = None
    """Of a function call: what is scheduled; a `ToolCallRequest` with its display, or, in a child
    session, a `ToldCall`."""
    index: int = 0
    """The delta's place among those of its chunk, from 0."""
    response_id: str | None = None
    """The chunk's `responseId`."""
    citations: tuple[str, ...] = ()
    """Of a closing delta with a finish reason: the answer's citations so far, sorted; each is
    reported once."""
    finish_reason: str | None = None
    """Of a closing delta: the chunk's finish reason."""
    usage: JsonObject | None = None
    """Of a closing delta with a finish reason: the chunk's `usageMetadata`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole model turn, once its stream has ended well."""

    turn: AssembledTurn
    model: str


@dataclass(frozen=True, slots=True)
class Compressed:
    """The history was summarised before this request."""

    info: CompressionInfo


@dataclass(frozen=True, slots=True)
class ToolsDone:
    """A turn's batch of calls, in the order the scheduler returned them."""

    calls: Sequence[CompletedToolCall]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The run ends here: `reason` and `data` are the `agent_end`'s.

    `error` is the message of a fatal `error` event that goes before it, with `status`.
    """

    reason: str
    data: Meta | None = None
    error: str | None = None
    status: str = "INTERNAL"
    whatever_happens: bool = False
    """Told even when somebody has aborted meanwhile."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A hook has refused something; `reason` is what people are told."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The answer begins anew; what was told of it is not withdrawn."""


@dataclass(frozen=True, slots=True)
class ChildToolsDone:
    """A turn's calls of a child are answered."""

    outcome: CallsOutcome


Note = (
    ModelChosen
    | Delta
    | Answer
    | Blocked
    | Compressed
    | ToolsDone
    | ChildToolsDone
    | Stopped
    | Retrying
)


class WireContent(types.Content):
    """A `types.Content` that carries the API's JSON it stands for, and what it means.

    A copy of it, which somebody may have changed, carries neither: then its fields are the truth.
    """

    # A slot: pydantic's private attributes cost more to read than the rest of an event to make.
    __slots__ = ("_cargo",)

    @classmethod
    def of(cls, wire: Content, note: Note | None = None) -> WireContent:
        """Wrap `wire`, which must not change any more."""
        role = wire.get("role")
        parts = [_part(part, role) for part in wire.get("parts") or ()]
        content = typed(cls, {"role": role, "parts": parts})
        object.__setattr__(content, "_cargo", (wire, note))
        return content

    @classmethod
    def bare(cls, note: Note) -> WireContent:
        """A content without parts, for events that only tell something."""
        return cls.of({"role": "model", "parts": []}, note)

    @property
    def wire(self) -> Content | None:
        """The API's JSON; `None` on a copy."""
        return self._carried()[0]

    @property
    def note(self) -> Note | None:
        """What the event that holds this content is about; `None` on a copy."""
        return self._carried()[1]

    def _carried(self) -> tuple[Content | None, Note | None]:
        carried: tuple[Content, Note | None] | None = getattr(self, "_cargo", None)
        return carried or (None, None)


def _part(part: Part, role: Json) -> types.Part:
    """The part as ADK sees it: calls, responses and texts; anything else is left blank.

    So is a response that the model itself wrote: ADK would take its turn for one of tools, and go
    on without an end.
    """
    call, answer = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        fields = {key: call.get(key) for key in ("id", "name", "args")}
        return types.Part(function_call=typed(types.FunctionCall, fields))
    if isinstance(answer, dict) and role != "model":
        fields = {key: answer.get(key) for key in ("id", "name", "response")}
        return types.Part(function_response=typed(types.FunctionResponse, fields))
    text = part.get("text")
    if isinstance(text, str):
        return types.Part(text=text, thought=True if part.get("thought") else None)
    return types.Part()


def typed(kind: type[M], fields: Mapping[str, Any]) -> M:
    """A `kind` with those of `fields` that its types accept; the others are left out.

    The API's JSON comes from servers, scripts and hooks. A field of a wrong type there must not end
    a run that reads the JSON itself: ADK goes without that field.
    """
    try:
        return kind(**fields)
    except ValidationError as error:
        refused = {each["loc"][0] for each in error.errors(include_url=False, include_input=False)}
        return kind(**{name: value for name, value in fields.items() if name not in refused})


def wire_of(content: types.Content) -> Content:
    """The API's JSON of a content: its own where it has one, else made from its fields."""
    wire = content.wire if isinstance(content, WireContent) else None
    if wire is not None:
        return wire
    dumped: dict[str, Any] = content.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def note_of(event: Event) -> Note | None:
    """What an ADK event is about; `None` for events that are not ours."""
    content = event.content
    return content.note if isinstance(content, WireContent) else None


class RequestContents(list[types.Content]):
    """A request's contents that knows whether somebody edited it since it was made."""

    def __init__(self, contents: Sequence[types.Content]) -> None:
        super().__init__(contents)
        self._made = list(contents)

    def untouched(self) -> bool:
        """True while the list holds what it was made with."""
        return self == self._made


class TypedHistory:
    """A growing list of the API's contents in ADK's type; each is made once."""

    def __init__(self) -> None:
        self._wires: Sequence[Content] = ()
        self._typed: list[types.Content] = []

    def follow(self, wires: Sequence[Content], *, replaced: bool = False) -> list[types.Content]:
        """The contents for `wires`, which the history now consists of.

        Without `replaced` it has only grown or shrunk at its end since the last time.
        """
        shared = (shared_prefix if replaced else _shared)(self._wires, wires)
        # Another list: the one before may still be in use as a request's.
        self._typed = self._typed[:shared] if replaced else self._typed
        del self._typed[shared:]
        self._typed.extend(WireContent.of(wire) for wire in wires[shared:])
        self._wires = wires
        return self._typed


def _shared(old: Sequence[Content], new: Sequence[Content]) -> int:
    """How many contents both begin with, where a turn never comes back once it was taken away."""
    for index in range(min(len(old), len(new)), 0, -1):
        if old[index - 1] is new[index - 1]:
            return index
    return 0
