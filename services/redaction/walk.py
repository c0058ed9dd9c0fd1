"""JSON values: which of their texts are read, which together, and which not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from services.redaction.kinds import Found, SecretKind
from services.redaction.lanes import Path, lanes
from services.redaction.masks import masked
from services.redaction.patterns import telling_key

if TYPE_CHECKING:
    from services.redaction.redactor import Redactor

__all__ = ["Located", "redacted_value", "secrets_in_value"]

_SIGNATURES: Final = frozenset({"thoughtSignature", "thought_signature"})
_MEDIA_TYPES: Final = frozenset({"mimeType", "mime_type"})
_NAMED: Final = frozenset({"name", "value"})


@dataclass(frozen=True, slots=True)
class Located:
    """A secret in a JSON value."""

    path: Path
    kind: SecretKind
    in_key: bool = False
    """It is in the last key of the path itself."""

    @property
    def place(self) -> str:
        """`model[0].stream[2].candidates[0]`, for people."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(steps).removeprefix(".")


def redacted_value(value: Any, redactor: Redactor) -> Any:
    """See `Redactor.value`."""
    if isinstance(value, str):
        return redactor.text(value)
    if not isinstance(value, (dict, list, tuple)) or not _suspicious(value, redactor):
        return value
    return _rebuilt(value, redactor, _spread(value, redactor), (), "")


def secrets_in_value(value: Any, redactor: Redactor) -> Iterator[Located]:
    """The secrets in a JSON value, each where it begins; never the secrets themselves."""
    if isinstance(value, str):
        yield from (Located((), one.kind) for one in redactor.secrets_in(value))
        return
    if not isinstance(value, (dict, list, tuple)) or not _suspicious(value, redactor):
        return
    spread: set[Path] = set()
    for lane, found in _lanes(value, redactor):
        for one in found:
            over = list(_pieces_of(lane, one))
            if len(over) > 1:
                spread.update(path for path, _ in over)
                yield Located(over[0][0], one.kind)
    for path, text, context in _texts(value, (), ""):
        if context is None:
            yield from (Located(path, one.kind, True) for one in redactor.secrets_in(text))
        elif path not in spread:
            yield from (Located(path, one.kind) for one in _found(text, context, redactor))


def _suspicious(value: Any, redactor: Redactor) -> bool:
    """One look over all texts at once: what is asked of every value that is written."""
    texts: list[str] = []
    telling = _gather(value, texts)
    return telling or redactor.suspects("\n".join(texts)) or _has_spread(value, redactor)


def _gather(value: Any, texts: list[str]) -> bool:
    """Collect the texts of `value`; whether a key tells what stands under it."""
    telling = False
    if isinstance(value, dict):
        media = not _MEDIA_TYPES.isdisjoint(value)
        for key, item in value.items():
            texts.append(key)
            if isinstance(item, str):
                if not _exempt(key, media):
                    texts.append(item)
                    telling = telling or (len(item) > 5 and telling_key(key))
            elif isinstance(item, (dict, list, tuple)):
                telling = _gather(item, texts) or telling
        telling = telling or value.keys() == _NAMED
    else:
        for item in value:
            if isinstance(item, str):
                texts.append(item)
            elif isinstance(item, (dict, list, tuple)):
                telling = _gather(item, texts) or telling
    return telling


def _has_spread(value: Any, redactor: Redactor) -> bool:
    return any(
        redactor.suspects("".join(text for _, text in lane)) for lane in _all_lanes(value, ())
    )


def _exempt(key: str, media: bool) -> bool:
    return key in _SIGNATURES or key == "base64" or (media and key == "data")


def _all_lanes(value: Any, path: Path) -> Iterator[list[tuple[Path, str]]]:
    """The lanes of all lists, outer before inner: an event's content is part of both."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list, tuple)):
                yield from _all_lanes(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        if len(value) > 1:
            for lane in lanes(value):
                yield [((*path, *place), text) for place, text in lane]
        for number, item in enumerate(value):
            if isinstance(item, (dict, list, tuple)):
                yield from _all_lanes(item, (*path, number))


def _lanes(value: Any, redactor: Redactor) -> Iterator[tuple[list[tuple[Path, str]], list[Found]]]:
    for lane in _all_lanes(value, ()):
        found = redactor.secrets_in("".join(text for _, text in lane))
        if found:
            yield lane, found


def _pieces_of(lane: list[tuple[Path, str]], one: Found) -> Iterator[tuple[Path, str]]:
    """The pieces of a lane that hold something of `one`, and what they hold."""
    start = 0
    for path, text in lane:
        begin, end = max(one.start - start, 0), min(one.end - start, len(text))
        if begin < end:
            yield path, text[begin:end]
        start += len(text)


def _spread(value: Any, redactor: Redactor) -> dict[Path, str]:
    """The texts of lanes with secrets, as they are written."""
    spread: dict[Path, str] = {}
    for lane, _ in _lanes(value, redactor):
        texts = [spread.get(path, text) for path, text in lane]
        cleaned = redactor.chunks(texts)
        spread.update(zip((path for path, _ in lane), cleaned, strict=True))
    return spread


def _texts(value: Any, path: Path, context: str) -> Iterator[tuple[Path, str, str | None]]:
    """All texts that are read, with the key that tells what they are; `None` for keys."""
    if isinstance(value, str):
        yield path, value, context
    elif isinstance(value, dict):
        media = not _MEDIA_TYPES.isdisjoint(value)
        for key, item in value.items():
            yield (*path, key), key, None
            if not (isinstance(item, str) and _exempt(key, media)):
                yield from _texts(item, (*path, key), _context(value, key, context))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number), context)


def _context(holder: dict[str, Any], key: str, context: str) -> str:
    """The key that tells what a text is: its own, or the one above a list; or the name beside."""
    if key == "value" and holder.keys() == _NAMED and isinstance(holder["name"], str):
        key = holder["name"]
    return key if telling_key(key) else ""


def _found(text: str, context: str, redactor: Redactor) -> list[Found]:
    """The secrets in `text`, read after the key that it stands under."""
    found = redactor.secrets_in(text)
    if found or not context:
        return found
    if context.lower() == "key":
        context = "?key="
    head = context if context.endswith("=") else f"{context}: "
    start = len(head)
    return [
        Found(max(one.start - start, 0), one.end - start, one.kind)
        for one in redactor.secrets_in(head + text)
        if one.end > start
    ]


def _rebuilt(
    value: Any, redactor: Redactor, spread: dict[Path, str], path: Path, context: str
) -> Any:
    """`value` with masks; what needs none is shared with it."""
    if isinstance(value, str):
        text = spread.get(path, value)
        return _masked(text, _found(text, context, redactor))
    if isinstance(value, dict):
        media = not _MEDIA_TYPES.isdisjoint(value)
        rebuilt: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            exempt = isinstance(item, str) and _exempt(key, media)
            inner = _context(value, key, context)
            shown = item if exempt else _rebuilt(item, redactor, spread, (*path, key), inner)
            name = _apart(redactor.text(key), key, value, rebuilt)
            same = same and shown is item and name is key
            rebuilt[name] = shown
        return value if same else rebuilt
    if isinstance(value, (list, tuple)):
        items = [
            _rebuilt(item, redactor, spread, (*path, number), context)
            for number, item in enumerate(value)
        ]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _apart(name: str, key: str, value: dict[str, Any], rebuilt: dict[str, Any]) -> str:
    """A masked key that no other key has: nothing may get lost."""
    if name is key:
        return key
    count, free = 1, name
    while free in rebuilt or free in value:
        count += 1
        free = f"{name}#{count}"
    return free


def _masked(text: str, found: list[Found]) -> str:
    if not found:
        return text
    pieces, end = [], 0
    for one in found:
        pieces += [text[end : one.start], masked(text[one.start : one.end])]
        end = one.end
    return "".join([*pieces, text[end:]])
