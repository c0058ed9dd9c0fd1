"""Secrets in JSON values: which texts are searched, which together, and which not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, TypeAlias

from services.redaction.assigned import labels_secret, secret_under
from services.redaction.kinds import Found, SecretKind
from services.redaction.lanes import Path, lanes
from services.redaction.masks import with_masks

__all__ = ["Located", "Reader", "redacted_value", "secrets_in_value"]

_SIGNATURES: Final = frozenset({"thoughtSignature", "thought_signature"})
_MEDIA_TYPES: Final = frozenset({"mimeType", "mime_type"})
_NAMED: Final = frozenset({"name", "value"})
_SHORT: Final = 5
"""No key or token is that short."""
Lane: TypeAlias = list[tuple[Path, str]]
"""Pieces of one text, and where they stand."""


class Reader(Protocol):
    """The methods of a `Redactor` that a walk uses."""

    def narrowed(self, text: str) -> Self:
        """A reader that searches only for what pieces of `text` can hold."""
        ...

    def suspects(self, text: str) -> bool:
        """Whether a search is worthwhile."""
        ...

    def secrets_in(self, text: str) -> list[Found]:
        """The places in a text."""
        ...

    def secrets_in_chunks(self, chunks: Sequence[str]) -> list[Found]:
        """The places in pieces of one text."""
        ...

    def text(self, text: str) -> str:
        """A text with masks."""
        ...

    def chunks(self, chunks: list[str]) -> list[str]:
        """Pieces of one text with masks."""
        ...


@dataclass(frozen=True, slots=True)
class Located:
    """A secret in a JSON value."""

    path: Path
    kind: SecretKind
    in_key: bool = False
    """It is in the last key of the path itself."""

    @property
    def place(self) -> str:
        """The path for messages: `model[0].stream[2].candidates[0]`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(steps).removeprefix(".")


def redacted_value(value: Any, reader: Reader) -> Any:
    """See `Redactor.value`."""
    if isinstance(value, str):
        return reader.text(value)
    narrow = _narrowed(value, reader)
    if narrow is None:
        return value
    return _rebuilt(value, narrow, _spread(value, narrow), (), "")


def secrets_in_value(value: Any, reader: Reader) -> Iterator[Located]:
    """The secrets in a JSON value, each where it begins; never the secrets themselves."""
    if isinstance(value, str):
        yield from (Located((), one.kind) for one in reader.secrets_in(value))
        return
    narrow = _narrowed(value, reader)
    if narrow is not None:
        yield from _located(value, narrow)


def _located(value: Any, reader: Reader) -> Iterator[Located]:
    spread: set[Path] = set()
    for lane in _all_lanes(value, (), spread):
        for one in reader.secrets_in_chunks([text for _, text in lane]):
            yield Located(_path_at(lane, one.start), one.kind)
    for path, text, context in _texts(value, (), ""):
        if context is None:
            yield from (Located(path, one.kind, True) for one in reader.secrets_in(text))
        elif path not in spread:
            yield from (Located(path, one.kind) for one in _found(text, context, reader))


def _narrowed(value: Any, reader: Reader) -> Reader | None:
    """A reader for the texts of `value`, chosen after one search over all of them together.

    `None` where no text can hold a secret. Every value that is written is searched like this.
    """
    if not isinstance(value, (dict, list, tuple)):
        return None
    texts: set[str] = set()
    labelled = _gather(value, texts, set())
    joined = "\n".join(texts)
    return reader.narrowed(joined) if labelled or reader.suspects(joined) else None


def _gather(value: Any, texts: set[str], seen: set[int]) -> bool:
    """Collect the texts of `value` and of its lanes; whether a key labels a text as a secret.

    Each text and each object is read once: a request holds most of the one before it.
    """
    if id(value) in seen:
        return False
    seen.add(id(value))
    labelled = False
    if isinstance(value, dict):
        media = not _MEDIA_TYPES.isdisjoint(value)
        for key, item in value.items():
            texts.add(key)
            if isinstance(item, str):
                if not _exempt(key, media):
                    texts.add(item)
                    labelled = labelled or (len(item) > _SHORT and labels_secret(key))
            elif isinstance(item, (dict, list, tuple)):
                labelled = labelled or (not isinstance(item, dict) and labels_secret(key))
                labelled = _gather(item, texts, seen) or labelled
        labelled = labelled or value.keys() == _NAMED
    else:
        if len(value) > 1:
            texts.update("".join(text for _, text in lane) for lane in lanes(value))
        for item in value:
            if isinstance(item, str):
                texts.add(item)
            elif isinstance(item, (dict, list, tuple)):
                labelled = _gather(item, texts, seen) or labelled
    return labelled


def _exempt(key: str, media: bool) -> bool:
    return key in _SIGNATURES or key == "base64" or (media and key == "data")


def _all_lanes(value: Any, path: Path, claimed: set[Path]) -> Iterator[Lane]:
    """The lanes of all lists; a text of two lists, as in an event's content, counts in the outer.

    Adds the paths of all texts of lanes to `claimed`.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list, tuple)):
                yield from _all_lanes(item, (*path, key), claimed)
    elif isinstance(value, (list, tuple)):
        if len(value) > 1:
            for pieces in lanes(value):
                lane = [((*path, *place), text) for place, text in pieces]
                if lane[0][0] not in claimed:
                    claimed.update(place for place, _ in lane)
                    yield lane
        for number, item in enumerate(value):
            if isinstance(item, (dict, list, tuple)):
                yield from _all_lanes(item, (*path, number), claimed)


def _path_at(lane: Lane, start: int) -> Path:
    """The path of the text with character `start` of a lane."""
    for path, text in lane:
        if start < len(text):
            return path
        start -= len(text)
    return lane[-1][0]


def _spread(value: Any, reader: Reader) -> dict[Path, str]:
    """The texts of lanes, with masks."""
    spread: dict[Path, str] = {}
    for lane in _all_lanes(value, (), set()):
        cleaned = reader.chunks([text for _, text in lane])
        spread.update(zip((path for path, _ in lane), cleaned, strict=True))
    return spread


def _texts(value: Any, path: Path, context: str) -> Iterator[tuple[Path, str, str | None]]:
    """All texts that are searched, each with the key that labels it; `None` for keys."""
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
    """The key that labels a text: its own, or the one above a list; or the name beside it."""
    if key == "value" and holder.keys() == _NAMED and isinstance(holder["name"], str):
        key = holder["name"]
    return key if labels_secret(key) else ""


def _found(text: str, context: str, reader: Reader) -> list[Found]:
    """The secrets in `text`, read after the key that it stands under."""
    found = reader.secrets_in(text)
    if found or not context:
        return found
    kind = secret_under(context, text)
    if kind is not None:
        return [Found(0, len(text), kind)]
    if context.lower() == "key":
        context = "?key="
    head = context if context.endswith("=") else f"{context}: "
    start = len(head)
    return [
        Found(max(one.start - start, 0), one.end - start, one.kind)
        for one in reader.secrets_in(head + text)
        if one.end > start
    ]


def _rebuilt(value: Any, reader: Reader, spread: dict[Path, str], path: Path, context: str) -> Any:
    """`value` with masks; parts without secrets are shared with it."""
    if isinstance(value, str):
        if path in spread:
            return spread[path]
        found = _found(value, context, reader)
        return with_masks(value, found) if found else value
    if isinstance(value, dict):
        media = not _MEDIA_TYPES.isdisjoint(value)
        rebuilt: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            exempt = isinstance(item, str) and _exempt(key, media)
            inner = _context(value, key, context)
            shown = item if exempt else _rebuilt(item, reader, spread, (*path, key), inner)
            name = _apart(reader.text(key), key, value, rebuilt)
            same = same and shown is item and name is key
            rebuilt[name] = shown
        return value if same else rebuilt
    if isinstance(value, (list, tuple)):
        items = [
            _rebuilt(item, reader, spread, (*path, number), context)
            for number, item in enumerate(value)
        ]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _apart(name: str, key: str, value: dict[str, Any], rebuilt: dict[str, Any]) -> str:
    """A masked key that no other key has, so that no value gets lost."""
    if name is key:
        return key
    count, free = 1, name
    while free in rebuilt or free in value:
        count += 1
        free = f"{name}#{count}"
    return free
