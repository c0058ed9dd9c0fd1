"""`Redactor`: finds secrets in texts and JSON values and puts masks in their place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from typing import Final, TypeVar

from services.redaction import walk
from services.redaction.kinds import Found, SecretKind
from services.redaction.masks import with_masks
from services.redaction.patterns import find, hinted, suspicious
from services.redaction.tokens import TOKENS, Token
from services.redaction.views import views

__all__ = ["Redactor", "redacted", "redacted_value", "secrets_in", "without_credentials"]

_Any = TypeVar("_Any")


class Redactor:
    """Masks secrets. Without arguments, those that their form or place identifies.

    Args:
        known: Further secrets of any form, such as values of the environment.
        homes: Whether user names in home paths are secrets.
    """

    def __init__(self, known: Collection[str] = (), *, homes: bool = True) -> None:
        self._homes = homes
        self._known = tuple(sorted(filter(None, set(known)), key=len, reverse=True))
        self._tokens: Sequence[Token] = TOKENS
        self._clean: set[str] | None = None
        """Texts without a secret, remembered where texts come again."""

    def secrets_in(self, text: str) -> list[Found]:
        """Where secrets stand in `text`: in order, none overlapping another."""
        if self._clean is None:
            return self._found(text)
        if text in self._clean:
            return []
        found = self._found(text)
        if not found:
            self._clean.add(text)
        return found

    def _found(self, text: str) -> list[Found]:
        if not self.suspects(text):
            return []
        found = find(text, self._tokens, homes=self._homes)
        if self._known:
            found += (
                Found(start, end, SecretKind.KNOWN)
                for view in views(text)
                for place in self._known_in(view.text)
                for start, end in view.original(*place)
            )
        return _apart(found)

    def _known_in(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._known:
            start = text.find(secret)
            while start >= 0:
                yield start, start + len(secret)
                start = text.find(secret, start + 1)

    def narrowed(self, text: str) -> Redactor:
        """A faster redactor that finds the same in pieces of `text`."""
        narrow = copy(self)
        narrow._tokens, narrow._clean = hinted(text), set()
        return narrow

    def suspects(self, text: str) -> bool:
        """Whether `text` may hold a secret; quick, False is certain."""
        if suspicious(text, self._tokens):
            return True
        return any(secret in view.text for view in views(text) for secret in self._known)

    def text(self, text: str) -> str:
        """`text` with masks for secrets, as long as before; itself where there is none."""
        found = self.secrets_in(text)
        return with_masks(text, found) if found else text

    def secrets_in_chunks(self, chunks: Sequence[str]) -> list[Found]:
        """Where secrets stand in pieces of one text, counted from the beginning of the first."""
        found = self.secrets_in("".join(chunks))
        start = 0
        for chunk in chunks:
            # Text of the chunk before may hide a secret that is whole in its chunk.
            # A user name at the end of a chunk may be incomplete.
            found += (
                Found(start + one.start, start + one.end, one.kind)
                for one in self.secrets_in(chunk)
                if one.kind is not SecretKind.HOME
            )
            start += len(chunk)
        return _apart(found)

    def chunks(self, chunks: list[str]) -> list[str]:
        """Pieces of one text, each as long as before; a secret may be spread over several."""
        found = self.secrets_in_chunks(chunks)
        if not found:
            return chunks
        clean = with_masks("".join(chunks), found)
        cut, start = [], 0
        for chunk in chunks:
            cut.append(clean[start : start + len(chunk)])
            start += len(chunk)
        return cut

    def value(self, value: _Any) -> _Any:
        """A JSON value with masks in all its texts, keys too; itself where there is no secret.

        What stands in fields of thought signatures and of media stays. Texts of adjacent chunks of
        a stream are read as one, and so are a key such as `api_key` and its value.
        """
        cleaned: _Any = walk.redacted_value(value, self)
        return cleaned


def _apart(found: Sequence[Found]) -> list[Found]:
    """Merge places that overlap; the first kind counts."""
    apart: list[Found] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Found(last.start, max(last.end, one.end), last.kind)
        else:
            apart.append(one)
    return apart


_PLAIN: Final = Redactor()
_CREDENTIALS: Final = Redactor(homes=False)


def redacted(text: str) -> str:
    """`text` with masks for secrets, as long as before; the same object where there is none."""
    return _PLAIN.text(text)


def redacted_value(value: _Any) -> _Any:
    """A JSON value with masks for secrets; the same object where there is none."""
    return _PLAIN.value(value)


def secrets_in(text: str) -> list[Found]:
    """Where secrets stand in `text`: in order, none overlapping another."""
    return _PLAIN.secrets_in(text)


def without_credentials(text: str) -> str:
    """`text` for its own user, and for logs: masks for keys and tokens, but home paths stay."""
    return _CREDENTIALS.text(text)
