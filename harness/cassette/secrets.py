"""Finding secrets in a cassette, which is meant to be shared."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.cassette.document import parse_document
from harness.errors import CassetteFormatError
from services.json_values import parse_json
from services.redaction import Located, Redactor, redacted, secrets_in_value

__all__ = ["secret_problems"]

_REDACTOR = Redactor()
_MEND = (
    "strike it out, `REDACTED` and as many x as keep its length, and revoke it if it was ever real"
)


def secret_problems(file: Path, text: str) -> list[CassetteFormatError]:
    """One problem for each secret in the cassette or recording `text`, without its value.

    Raises:
        FormatProblem: the text is no document.
    """
    document: Any = parse_document(text)
    found = dict.fromkeys(_secrets(document))
    problems = [
        CassetteFormatError(file, redacted(place), f"holds a secret: {kind}", _MEND)
        for place, kind in found
    ]
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            problems += [
                CassetteFormatError(file, f"line {number}", f"holds a secret: {one.kind}", _MEND)
                for one in _REDACTOR.secrets_in(line)
            ]
    return problems


def _secrets(document: Any) -> Iterator[tuple[str, str]]:
    for located in secrets_in_value(document, _REDACTOR):
        yield _place(located), located.kind.value
    for path, text in _packed(document, ()):
        for located in secrets_in_value(text, _REDACTOR):
            yield Located(path, located.kind).place, located.kind.value


def _place(located: Located) -> str:
    if located.in_key:
        holder = Located(located.path[:-1], located.kind)
        return f"{holder.place}: the key {redacted(str(located.path[-1]))!r}"
    return located.place


def _packed(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Values that texts encode: files as base64, the chunks of an event stream."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, item in pairs:
        if key == "base64" and isinstance(item, str):
            try:
                yield (*path, key), base64.b64decode(item).decode("utf-8", "replace")
            except (binascii.Error, ValueError):
                continue  # loading reports it
        elif isinstance(item, str) and "data:" in item:
            yield (*path, key), list(_events(item))
        else:
            yield from _packed(item, (*path, key))


def _events(body: str) -> Iterator[Any]:
    for line in body.splitlines():
        if line.startswith("data:"):
            try:
                yield parse_json(line.removeprefix("data:"))
            except ValueError:
                continue
