"""google-genai's contents that carry the API's exact JSON.

google-genai refuses unknown fields and re-encodes signatures. A `types.Content` made here therefore
has only typed texts, calls, responses and media, and carries the exact JSON beside them. `wire_of`
and `edited_wire` read it back. A caller may attach a note to a content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, SupportsIndex, TypeVar

from google.genai import types
from pydantic import BaseModel

from services.model.sdk_json import bytes_of, changed_json, dumped, typed, unchecked
from services.model.stream import AskedCall
from services.wire import Content, Json, JsonObject, Part

__all__ = [
    "LentList",
    "TypedHistory",
    "WireContent",
    "WirePart",
    "dumped_part",
    "edited_wire",
    "request_contents",
    "wire_of",
]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class WireContent(types.Content):
    """A `types.Content` that carries its exact JSON and a note.

    A copy, which a plugin may have changed, carries neither: its fields count.
    """

    # A slot, because pydantic's private attributes are slow to read.
    __slots__ = ("_cargo",)

    @classmethod
    def of(cls, wire: Content, note: object = None) -> WireContent:
        """Wrap `wire`, which must not change any more."""
        role = wire.get("role")
        parts = [WirePart.of(part, role) for part in wire.get("parts") or ()]
        if isinstance(role, str):
            # The parts have the right type; a validation would cost more than making them.
            content = unchecked(cls, {"role": role, "parts": parts})
        else:
            content = typed(cls, {"role": role, "parts": parts})
        object.__setattr__(content, "_cargo", (wire, note))
        return content

    @classmethod
    def noting(
        cls, content: types.Content | None, parts: list[types.Part], note: object
    ) -> WireContent:
        """Return `content` with `parts` and a note; its fields count."""
        role = content.role if content is not None else None
        noted = unchecked(cls, {"role": role or "model", "parts": parts})
        object.__setattr__(noted, "_cargo", (None, note))
        return noted

    @classmethod
    def bare(cls, note: object) -> WireContent:
        """Return a content without parts, for an event that only has a note."""
        return cls.of({"role": "model", "parts": []}, note)

    @property
    def wire(self) -> Content | None:
        """The API's JSON; `None` where the fields count."""
        return (getattr(self, "_cargo", None) or (None, None))[0]

    @property
    def note(self) -> Any:
        """The attached note; `None` on a copy."""
        return (getattr(self, "_cargo", None) or (None, None))[1]


class WirePart(types.Part):
    """A part that carries its exact JSON; a copy does not."""

    # A slot: see `WireContent`.
    __slots__ = ("_cargo",)

    @classmethod
    def of(cls, wire: Part, role: Json) -> WirePart:
        """Wrap a part of a content in `role`."""
        return cls._carrying(_shown(wire, role), wire, role)

    @classmethod
    def blank(cls, wire: Part) -> WirePart:
        """Wrap `wire` without typed fields."""
        return cls._carrying({}, wire, None)

    @classmethod
    def aside(cls, call: AskedCall) -> WirePart:
        """Return a call to run that is not part of history."""
        shown = types.FunctionCall(id=call.call_id, name=call.name, args=call.args)
        return cls._carrying({"function_call": shown}, None, None)

    @classmethod
    def _carrying(cls, shown: Mapping[str, Any], wire: Part | None, role: Json) -> WirePart:
        part = unchecked(cls, shown)
        object.__setattr__(part, "_cargo", (wire, role, bool(shown)))
        return part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, types.Part) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment] # a mutable part has no hash

    @property
    def is_aside(self) -> bool:
        """Whether the part is not part of history."""
        cargo = getattr(self, "_cargo", None)
        return cargo is not None and cargo[0] is None


def _shown(part: Part, role: Json) -> dict[str, Any]:
    """The typed fields of a call, a response, a text or media.

    Other parts have none, nor has a response that the model wrote: ADK would take the model's turn
    for a turn of tools and never end.
    """
    call, answer = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        return {"function_call": _call_like(types.FunctionCall, call, "args")}
    if isinstance(answer, dict) and role != "model":
        return {"function_response": _call_like(types.FunctionResponse, answer, "response")}
    text, data, file = part.get("text"), part.get("inlineData"), part.get("fileData")
    if isinstance(text, str):
        return {"text": text, "thought": True if part.get("thought") else None}
    if isinstance(data, dict) and isinstance(data.get("data"), str):
        fields = {"mime_type": data.get("mimeType"), "data": bytes_of(data["data"])}
        return {"inline_data": typed(types.Blob, fields)}
    if isinstance(file, dict):
        fields = {"mime_type": file.get("mimeType"), "file_uri": file.get("fileUri")}
        return {"file_data": typed(types.FileData, fields)}
    return {}


def _call_like(kind: type[M], wire: JsonObject, data: str) -> M:
    """A call or a response, whose JSON object is under `data`."""
    call_id, name, value = wire.get("id"), wire.get("name"), wire.get(data)
    if isinstance(call_id, str) and isinstance(name, str) and isinstance(value, dict):
        return unchecked(kind, {"id": call_id, "name": name, data: dict(value)})
    return typed(kind, {"id": call_id, "name": name, data: value})


def dumped_part(part: types.Part) -> Part:
    """Return the JSON that a part carries, with the fields that a plugin changed."""
    wire, role, shows = getattr(part, "_cargo", None) or (None, None, False)
    if wire is None:
        return dumped(part)
    made = WirePart.of(wire, role) if shows else WirePart.blank(wire)
    return wire if part == made else changed_json(wire, dumped(made), dumped(part))


def wire_of(content: types.Content) -> Content:
    """Return the JSON that a content carries, else JSON made from its fields."""
    wire = content.wire if isinstance(content, WireContent) else None
    return edited_wire(content) if wire is None else wire


def edited_wire(content: types.Content) -> Content:
    """Return the JSON of a content that a plugin may have changed."""
    wire = content.wire if isinstance(content, WireContent) else None
    own: Content = wire or {}
    parts = [
        dumped_part(part)
        for part in content.parts or ()
        if not (isinstance(part, WirePart) and part.is_aside)
    ]
    if wire is not None and parts == (own.get("parts") or []) and own.get("role") == content.role:
        return wire
    return {**own, **({"role": content.role} if content.role else {}), "parts": parts}


class LentList(list[T]):
    """A list of shared items. Reading an item replaces it with a copy in this list.

    An edit in place therefore stays within this list, and unread items are not copied.
    """

    def __init__(self, items: Sequence[T], copied: Callable[[T], T], *more: T) -> None:
        """Wrap `items` and `more`, which must not change any more; `copied` copies an item."""
        super().__init__(items)
        super().extend(more)
        self.touched = False
        """Whether an item was taken out or the list was changed since it was made."""
        self._copied = copied
        self._made = (items, more)
        self._shared: set[int] | None = None

    def _lent(self, index: int) -> T:
        self.touched = True
        item = super().__getitem__(index)
        if self._shared is None:
            self._shared = set(map(id, chain(*self._made)))
        if id(item) in self._shared:
            item = self._copied(item)
            super().__setitem__(index, item)
        return item

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._lent(each) for each in range(*index.indices(len(self)))]
        return self._lent(index)

    def __iter__(self) -> Iterator[T]:
        return (self._lent(index) for index in range(len(self)))

    def __reversed__(self) -> Iterator[T]:
        return (self._lent(index) for index in range(len(self) - 1, -1, -1))

    def __add__(self, other: Any) -> Any:
        return [*self, *other]

    def __radd__(self, other: Any) -> Any:
        return [*other, *self]

    def copy(self) -> list[T]:
        """A plain list of the lent items."""
        return list(self)

    def pop(self, index: SupportsIndex = -1) -> T:
        """Remove an item and return a copy of it."""
        self._lent(int(index))
        return super().pop(index)


def _touching(name: str) -> Callable[..., Any]:
    change = getattr(list, name)

    def touched(self: LentList[Any], *args: Any, **kwargs: Any) -> Any:
        self.touched = True
        return change(self, *args, **kwargs)

    return touched


for _change in (
    *("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "extend", "insert"),
    *("remove", "clear", "sort", "reverse"),
):
    setattr(LentList, _change, _touching(_change))


def request_contents(
    contents: Sequence[types.Content], *more: types.Content
) -> LentList[types.Content]:
    """Return a request's contents over the history that later requests share."""

    def copied(content: types.Content) -> types.Content:
        wire = content.wire if isinstance(content, WireContent) else None
        return content.model_copy(deep=True) if wire is None else WireContent.of(wire)

    return LentList(contents, copied, *more)


class TypedHistory:
    """A history in google-genai's type; each content is converted once."""

    def __init__(self) -> None:
        self._typed: list[WireContent] = []

    def follow(
        self,
        wires: Sequence[Content],
        count: int | None = None,
        tail: Sequence[Content] = (),
        *,
        replaced: bool = False,
    ) -> Sequence[types.Content]:
        """Return the contents for the history; the next call changes the same list.

        The history consists of the first `count` of `wires` (default: all) and `tail`. Without
        `replaced` it has only grown or shrunk at its end since the last call.
        """
        count = len(wires) if count is None else count
        shared = min(len(self._typed), count + len(tail))

        def same(index: int) -> bool:
            wire = wires[index] if index < count else tail[index - count]
            return self._typed[index].wire is wire

        if replaced:
            shared = next((index for index in range(shared) if not same(index)), shared)
        else:
            # A content never comes back once it was taken away, so the search begins at the end.
            while shared and not same(shared - 1):
                shared -= 1
        del self._typed[shared:]
        self._typed.extend(map(WireContent.of, wires[shared:count]))
        self._typed.extend(map(WireContent.of, tail[max(shared - count, 0) :]))
        return self._typed
