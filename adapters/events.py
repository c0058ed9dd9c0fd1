"""What an agent emits becomes the contract's events by one table, which an author can extend.

A row of the table says what an item means: it is a function that gets the item and an `Emit`, and
calls the methods of the `Emit`. The table finds a row by the item's class, or by the `type` of an
item that is a JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from adapters.problems import AgentBroke
from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.errors import ProtocolViolation
from agent_protocol.events import (
    AgentEvent,
    Custom,
    ErrorEvent,
    Message,
    SessionUpdate,
    ToolRequest,
    ToolResponse,
    Usage,
)
from agent_protocol.lifecycle import LifecycleChecker
from services.chat.events import NumberedEvents
from services.wire import Json

__all__ = ["EVENTS", "Emit", "EventTable", "Row"]

Row: TypeAlias = "Callable[[Any, Emit], None]"
"""What an item means: calls methods of the `Emit`."""


class Emit:
    """Makes the events of one stream, in the order of the calls.

    Consecutive pieces of text become one message, unless `pieces` is set: two frameworks may cut
    the same answer differently. The same holds for thoughts.
    """

    def __init__(
        self,
        numbered: NumberedEvents,
        emit: Callable[[AgentEvent], None],
        checker: LifecycleChecker,
        *,
        pieces: bool = False,
    ) -> None:
        self._numbered = numbered
        self._emit = emit
        self._checker = checker
        self._pieces = pieces
        self._text: list[str] = []
        self._thought: list[str] = []
        self._calls: dict[str, str] = {}
        """The id of each open call, with the name of its tool."""
        self._made = 0
        self.reason = "completed"
        """Why the answer ends, if it is not aborted."""
        self.notes: dict[str, Any] = {}
        """For rows that need to know what came before in the stream."""

    def text(self, text: str) -> None:
        """Emit a piece of the answer."""
        if self._thought:
            self.flush()
        self._text.append(_text(text, "text"))
        if self._pieces:
            self.flush()

    def thought(self, text: str) -> None:
        """Emit a piece of the model's reasoning."""
        if self._text:
            self.flush()
        self._thought.append(_text(text, "thought"))
        if self._pieces:
            self.flush()

    def tool_request(self, name: str, args: Mapping[str, Json], *, id: str | None = None) -> str:
        """Emit that the model asks for a tool call; return the call's id, made if it has none."""
        self._made += id is None
        # The form of a generated id, which may differ between two runs.
        key = id or f"{name}_{self._numbered.now_ms:013d}_{self._made}"
        self._calls[key] = name
        event = ToolRequest(**self._fields(), request_id=key, name=name, args=_json(args, "args"))
        self._send(event)
        return key

    def tool_response(
        self, result: Json, *, name: str | None = None, id: str | None = None, error: bool = False
    ) -> None:
        """Emit the result of a tool call: of the call `id`, else of the oldest open one of `name`.

        An object becomes the event's data, any other value its text.
        """
        key = self._open_call(name, id)
        known = self._calls.pop(key, name or "")
        shown: dict[str, Any] = {"data": _json(result, "result")}
        if not isinstance(result, Mapping):
            text = result if isinstance(result, str) else json.dumps(_json(result, "result"))
            shown = {"content": (TextPart(text=text),)}
        self._send(
            ToolResponse(
                **self._fields(), request_id=key, name=known, is_error=error or None, **shown
            )
        )

    def usage(
        self,
        model: str,
        *,
        input_tokens: float | None = None,
        output_tokens: float | None = None,
        cached_tokens: float | None = None,
    ) -> None:
        """Emit the tokens of an answer of the model."""
        self._send(
            Usage(
                **self._fields(),
                model=_text(model, "model"),
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                cached_tokens=cached_tokens,
            )
        )

    def error(
        self,
        status: str,
        message: str,
        *,
        fatal: bool = False,
        meta: Mapping[str, Json] | None = None,
    ) -> None:
        """Emit an error; the agent may go on after it."""
        self._send(
            ErrorEvent(**self._fields(), status=status, message=message, fatal=fatal, meta=meta)
        )

    def model(self, model: str) -> None:
        """Emit that the agent uses another model."""
        self._send(SessionUpdate(**self._fields(), model=_text(model, "model")))

    def custom(self, kind: str, data: Mapping[str, Json] | None = None) -> None:
        """Emit an event that the contract has no name for."""
        shown = None if data is None else _json(data, "data")
        self._send(Custom(**self._fields(), kind=_text(kind, "kind"), data=shown))

    def end(self, reason: str = "completed") -> None:
        """Say why the answer ends; it ends when the agent has emitted everything."""
        self.reason = _text(reason, "reason")

    def flush(self) -> None:
        """Emit the text that was collected."""
        for collected, part in ((self._thought, _thought_part), (self._text, _text_part)):
            if collected:
                text = "".join(collected)
                collected.clear()
                fields = self._numbered.fields()
                self._check_and_emit(Message(**fields, role="agent", content=(part(text),)))

    def send(self, event: AgentEvent) -> None:
        """Emit an event that the caller has made."""
        self._send(event)

    def _open_call(self, name: str | None, id: str | None) -> str:
        if id is not None:
            return id
        return next((key for key, known in self._calls.items() if name in (None, known)), "")

    def _fields(self) -> dict[str, Any]:
        self.flush()
        return self._numbered.fields()

    def _send(self, event: AgentEvent) -> None:
        self.flush()
        self._check_and_emit(event)

    def _check_and_emit(self, event: AgentEvent) -> None:
        try:
            self._checker.feed(event)
        except ProtocolViolation as violation:
            raise AgentBroke(f"emits its events out of order: {violation}") from violation
        self._emit(event)


class EventTable:
    """Item → events. Tables do not change: `extended` returns another one."""

    def __init__(
        self,
        rows: Mapping[type | str, Row],
        *,
        kind_of: Callable[[Mapping[str, Any]], object] = lambda item: item.get("type"),
    ) -> None:
        """Make a table.

        Args:
            rows: By class, by the name of a class that need not be imported
                (`package.module:Class`), or by the kind of a JSON object.
            kind_of: Returns the kind of a JSON object.
        """
        self._rows = dict(rows)
        self._kind_of = kind_of

    def extended(self, rows: EventTable | Mapping[type | str, Row]) -> EventTable:
        """Return a table in which `rows` are added, or replace those of the same key.

        A table in place of rows is returned as it is.
        """
        if isinstance(rows, EventTable):
            return rows
        return EventTable({**self._rows, **rows}, kind_of=self._kind_of)

    def convert(self, item: Any, emit: Emit) -> None:
        """Emit the events of an item; `None` means nothing.

        Raises:
            AgentBroke: there is no row for it, or an event is against the contract.
        """
        if item is None:
            return
        row = self._row(item)
        if row is None:
            raise AgentBroke(f"emits {_described(item)}, for which its event table has no row")
        row(item, emit)

    def _row(self, item: Any) -> Row | None:
        if isinstance(item, Mapping):
            kind = self._kind_of(item)
            return self._rows.get(kind) if isinstance(kind, str) else None
        return next((self._rows[key] for key in _keys(type(item)) if key in self._rows), None)


def _keys(kind: type) -> Iterable[type | str]:
    for each in kind.__mro__:
        yield each
        yield f"{each.__module__}:{each.__qualname__}"


def _described(item: Any) -> str:
    if isinstance(item, Mapping):
        return f"an object with the keys {', '.join(map(repr, list(item)[:5])) or 'none'}"
    return f"a {type(item).__module__}.{type(item).__qualname__}"


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise AgentBroke(f"emits a {what} that is no text but of type {type(value).__name__}")
    return value


def _json(value: Any, what: str) -> Any:
    """Return a copy of a JSON value.

    Raises:
        AgentBroke: it is none.
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentBroke(f"emits a value that is not JSON, in {what}: {error}") from error


def _text_part(text: str) -> TextPart | ThoughtPart:
    return TextPart(text=text)


def _thought_part(text: str) -> TextPart | ThoughtPart:
    return ThoughtPart(thought=text)


def _object(item: Mapping[str, Any], emit: Emit) -> None:
    """A JSON object whose `type` is the name of a method of `Emit`, and whose keys its arguments.

    Raises:
        AgentBroke: a key is missing or unknown.
    """
    given = {key: value for key, value in item.items() if key != "type"}
    try:
        getattr(emit, str(item["type"]))(**given)
    except TypeError as error:
        says = str(error).partition("Emit.")[2] or str(error)
        raise AgentBroke(
            f"emits an object of type {item['type']!r} that misfits: {says}"
        ) from error


_GEMINI: Final = "google.genai.types:GenerateContentResponse"
_KINDS: Final = (
    "text",
    "thought",
    "tool_request",
    "tool_response",
    "usage",
    "error",
    "model",
    "custom",
    "end",
)


def _gemini_chunk(chunk: Any, emit: Emit) -> None:
    """A chunk, or a whole answer, of google-genai's client."""
    candidates = chunk.candidates or ()
    content = candidates[0].content if candidates else None
    for part in (content.parts if content is not None else None) or ():
        if part.text and part.thought:
            emit.thought(part.text)
        elif part.text:
            emit.text(part.text)
        elif part.function_call:
            call = part.function_call
            emit.tool_request(call.name or "", dict(call.args or {}), id=call.id)
    if candidates and candidates[0].finish_reason and chunk.usage_metadata:
        counts = chunk.usage_metadata
        emit.usage(
            chunk.model_version or "",
            input_tokens=counts.prompt_token_count,
            output_tokens=counts.candidates_token_count,
            cached_tokens=counts.cached_content_token_count,
        )


EVENTS: Final = EventTable(
    {
        str: lambda text, emit: emit.text(text),
        _GEMINI: _gemini_chunk,
        **dict.fromkeys(_KINDS, _object),
    }
)
"""The rows that every adapter begins with: text, objects such as `{"type": "tool_request", "name":
"order", "args": {}}`, and answers of google-genai."""
