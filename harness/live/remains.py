"""Finds a secret that is left in a document: in pieces, or where no mask may go.

Masks cover a secret in one text and in the texts of one stream. This looks at what they cannot
cover: pieces that lie in a thought and in the answer after it, in two answers, in a call and in its
result, and fields that are kept as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from services.redaction import Located, SecretKind
from services.wire import Json

__all__ = ["remains"]

_Path: TypeAlias = tuple[str | int, ...]
_SHORTEST: Final = 8
_SHARE: Final = 4
"""A quarter of a secret gives too much of it away."""
_BESIDE: Final = frozenset(
    {
        *("role", "finishReason", "id", "name", "modelVersion", "responseId", "mimeType"),
        *("thoughtSignature", "method", "thread", "model", "systemInstruction"),
    }
)
"""Keys of what stands between the words of a conversation and is none of them."""


@dataclass(frozen=True, slots=True)
class _Text:
    path: _Path
    text: str
    thought: bool

    @property
    def key(self) -> str | int:
        """The last key of the path that is no index."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")


def remains(value: Json, secret: str, spellings: Collection[str] = ()) -> str | None:
    """Where `secret` is left in `value`, or so much of it that it is given away.

    Args:
        value: What is about to be written, masks included.
        secret: A text of 8 characters or more.
        spellings: How else it is written; only whole ones count.

    Returns:
        The place of the first piece, as `model[0].stream[2]`, or `None`.
    """
    texts = list(_texts(value, (), thought=False))
    words = [each for each in texts if each.key not in _BESIDE]
    spoken = [each for each in words if each.key == "text"]
    # What stands in one text is looked at with something between that no secret has.
    readings: list[tuple[str, Sequence[_Text]]] = [
        ("\0", texts),
        ("", words),
        ("", spoken),
        ("", [each for each in spoken if each.thought]),
        ("", [each for each in spoken if not each.thought]),
    ]
    for between, sequence in readings:
        joined = between.join(each.text for each in sequence)
        start = _first(joined, secret, spellings)
        if start is not None:
            return _place(sequence, len(between), start)
    return None


def _texts(value: Json, path: _Path, *, thought: bool) -> Iterator[_Text]:
    """All texts and keys, in their order."""
    if isinstance(value, str):
        yield _Text(path, value, thought)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield _Text((*path, "name"), key, thought)
            yield from _texts(item, (*path, key), thought=bool(value.get("thought")))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number), thought=thought)


def _first(joined: str, secret: str, spellings: Collection[str]) -> int | None:
    for whole in (secret, *spellings):
        start = joined.find(whole)
        if start >= 0:
            return start
    if _is_path(secret):
        return None
    least = max(_SHORTEST, -(-len(secret) // _SHARE))
    # A run of `least` characters holds a block of half as many that begins at a multiple of them.
    size = -(-least // 2)
    for offset in range(0, len(secret) - size + 1, size):
        block = secret[offset : offset + size]
        start = joined.find(block)
        while start >= 0:
            low, high = _run(joined, secret, start, offset, size)
            if high - low >= least and _gives_away(joined[low:high]):
                return low
            start = joined.find(block, start + 1)
    return None


def _is_path(secret: str) -> bool:
    """Whether it names a file, whose folders are written elsewhere as well."""
    kinds = (str.isdigit, str.isupper, str.islower)
    return secret.startswith(("/", "~/", "./", "../")) and not any(
        all(any(map(kind, step)) for kind in kinds) for step in secret.split("/")
    )


def _run(joined: str, secret: str, start: int, offset: int, size: int) -> tuple[int, int]:
    """How far `joined` and `secret` agree around a block that both have."""
    low, high = 0, size
    while min(start, offset) > low and joined[start - low - 1] == secret[offset - low - 1]:
        low += 1
    while (
        start + high < len(joined)
        and offset + high < len(secret)
        and joined[start + high] == secret[offset + high]
    ):
        high += 1
    return start - low, start + high


def _gives_away(run: str) -> bool:
    """Words and paths of a value occur elsewhere as well; letters and digits together do not."""
    return any(
        len(piece) >= _SHORTEST and any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
        for piece in run.replace(" ", "/").split("/")
    )


def _place(sequence: Sequence[_Text], between: int, start: int) -> str:
    ends, end = [], 0
    for each in sequence:
        end += len(each.text) + between
        ends.append(end)
    found = sequence[bisect_right(ends, start)]
    return Located(found.path, SecretKind.KNOWN).place
