"""The size of a cassette document, and a digest that identifies its scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.scenarios.shrinking.edits import places, value_at
from harness.wording import counted
from services.wire import JsonObject

__all__ = ["DocumentSize", "content_digest", "size_of", "steps_left_over"]

_ABOUT: Final = ("name", "note", "provenance", "contract", "unused")
"""Keys that describe a scenario and are no part of it."""
_ASIDE: Final = ("generate", "json", "count_tokens")
"""Kinds of steps that answer the product's own requests."""
_PARTS: Final = (
    "model/*/stream/*/candidates/*/content/parts",
    "model/*/generate/candidates/*/content/parts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSize:
    """A document's size."""

    turns: int
    """Used answers of the conversation, repetitions counted."""
    parts: int
    """Parts in all of the model's answers."""
    bytes: int
    """Of the scenario as compact JSON."""

    def __str__(self) -> str:
        turns = f"{self.turns} model turn{'' if self.turns == 1 else 's'}"
        return f"{turns}, {counted(self.parts, 'part')}, {self.bytes:,} bytes"


def content_digest(document: JsonObject) -> str:
    """16 hex digits that identify the scenario, whatever its name."""
    return sha256_hex(_scenario(document))[:16]


def size_of(document: JsonObject) -> DocumentSize:
    """The size of a document with its macros; unused steps are no turns."""
    lists = [value_at(document, place) for pattern in _PARTS for place in places(document, pattern)]
    texts = len(places(document, "model/*/text")) + len(places(document, "model/*/json"))
    return DocumentSize(
        turns=sum(_turns(document)),
        parts=sum(len(parts) for parts in lists if isinstance(parts, list)) + texts,
        bytes=len(_scenario(document)),
    )


def steps_left_over(document: JsonObject) -> dict[int, int]:
    """Position in `model` → how many repetitions of that step are declared `unused`."""
    unused = set(document.get("unused") or ())
    found: dict[int, int] = {}
    index = 0
    for position, step in enumerate(document["model"]):
        times = step.get("repeat", 1)
        found[position] = sum(1 for each in range(index, index + times) if each in unused)
        index += times
    return found


def _turns(document: JsonObject) -> Iterator[int]:
    left_over = steps_left_over(document)
    for position, step in enumerate(document["model"]):
        if not any(kind in step for kind in _ASIDE):
            yield step.get("repeat", 1) - left_over[position]


def _scenario(document: JsonObject) -> str:
    return canonical({key: value for key, value in document.items() if key not in _ABOUT})
