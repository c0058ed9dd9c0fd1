"""A conversation as the API reads it: neighbouring contents of one role are one turn.

Each content is read once: a request adds the contents after those that it shares with the request
before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.prefixes import shared_prefix
from harness.provider.rules import ProviderFinding
from services.wire import Content, JsonObject

__all__ = ["Conversation", "Turn", "declared_names"]

_ROLES = ("user", "model")
_MEDIA = ("inlineData", "fileData")
_MEDIUM = 4 * 258
_CARRIERS = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "thoughtSignature",
)


@dataclass(slots=True)
class Turn:
    """Neighbouring contents of one role."""

    role: str
    first: int
    """Index of its first content."""
    end: int
    """Index after its last content."""
    calls: list[str] = field(default_factory=list)
    """Names of the functions that it calls, in order."""
    responses: list[str] = field(default_factory=list)
    """Names of the functions that it answers for, in order."""
    speaks: bool = False
    """Whether it has other parts than function responses: in a user's turn, a new request."""
    unsigned: str | None = None
    """Path of its first call, if that has no thought signature."""
    findings: list[ProviderFinding] = field(default_factory=list)
    """Findings that do not depend on its neighbours."""


class Conversation:
    """The turns of a growing conversation. Call `advance` at each request."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._contents: list[Content] = []
        self._sizes: list[int] = []
        self._size = 0
        self._requests: list[int] = []
        self._unsigned: list[int] = []

    @property
    def tokens(self) -> int:
        """Estimated size of all contents: four characters a token."""
        return self._size // 4

    @property
    def length(self) -> int:
        """The number of known contents."""
        return len(self._contents)

    def shared(self, contents: Sequence[Content]) -> int:
        """Return the number of leading contents that `contents` shares with the known ones."""
        return shared_prefix(self._contents, contents)

    def advance(self, contents: Sequence[Content], same: int) -> int:
        """Become `contents`, whose first `same` are known; return the first turn read anew.

        A turn may go on in the first new content: the last known one is always read again.
        """
        self._size -= sum(self._sizes[same:])
        del self._sizes[same:]
        while self.turns and (self.turns[-1].end > same or self.turns[-1].end == same > 0):
            dropped = self.turns.pop()
            if dropped.end == same:
                break
        fresh = len(self.turns)
        for places in (self._requests, self._unsigned):
            while places and places[-1] >= fresh:
                places.pop()
        for index in range(same, len(contents)):
            self._sizes.append(_size(contents[index]))
            self._size += self._sizes[-1]
        for index in range(self.turns[-1].end if self.turns else 0, len(contents)):
            self._read(index, contents[index])
        # Keep the latest objects, since repeated contents are the same objects, quick to compare.
        self._contents = list(contents)
        for index in range(fresh, len(self.turns)):
            turn = self.turns[index]
            if turn.role == "user" and turn.speaks:
                self._requests.append(index)
            if turn.unsigned is not None:
                self._unsigned.append(index)
        return fresh

    @property
    def loop(self) -> int:
        """Index of the first turn of the active loop, after the user's last request."""
        return self._requests[-1] + 1 if self._requests else 0

    def unsigned_since(self, first: int) -> list[Turn]:
        """Model turns from index `first` on whose first call carries no signature."""
        return [self.turns[index] for index in self._unsigned[bisect_left(self._unsigned, first) :]]

    def _read(self, index: int, content: Content) -> None:
        path = f"contents[{index}]"
        role = content.get("role", "user")
        previous = self.turns[-1] if self.turns else None
        if previous is not None and previous.role == role:
            turn = previous
            turn.end = index + 1
            turn.findings.append(
                _finding("role-repeated", path, f"follows another content of the {role}")
            )
        else:
            turn = Turn(role=str(role), first=index, end=index + 1)
            self.turns.append(turn)
        if role not in _ROLES:
            turn.findings.append(
                _finding("role-unknown", path, "is neither the user's nor the model's")
            )
        parts = content.get("parts")
        if not isinstance(parts, list) or not parts:
            turn.findings.append(_finding("content-empty", path, "has no parts"))
            return
        for number, part in enumerate(parts):
            _read_part(turn, f"{path}.parts[{number}]", part)


def _read_part(turn: Turn, path: str, part: Any) -> None:
    if not isinstance(part, dict) or not any(key in part for key in _CARRIERS):
        turn.findings.append(_finding("content-empty", path, "carries nothing"))
        return
    call, response = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        if not turn.calls and not part.get("thoughtSignature"):
            turn.unsigned = path
        turn.calls.append(str(call.get("name")))
    if isinstance(response, dict):
        turn.responses.append(str(response.get("name")))
    else:
        turn.speaks = True
    if part.get("text") == "" and not part.get("thoughtSignature"):
        turn.findings.append(_finding("text-empty", path, "is a text part without text"))


def _size(value: Any) -> int:
    """Count the characters of all texts in `value`; each medium counts a fixed number."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(_size, value))
    if isinstance(value, dict):
        return sum(
            _MEDIUM if key in _MEDIA else _size(item)
            for key, item in value.items()
            if key != "thoughtSignature"
        )
    return 0


def _finding(rule: str, path: str, message: str) -> ProviderFinding:
    return ProviderFinding(rule=rule, path=path, message=message)


def declared_names(config: JsonObject) -> set[str]:
    """Names of the functions that a request's config declares."""
    return {
        str(declaration.get("name"))
        for tool in config.get("tools") or ()
        for declaration in tool.get("functionDeclarations") or ()
    }
