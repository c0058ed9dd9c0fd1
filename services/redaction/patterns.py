"""All patterns of secrets: known forms, places, PEM blocks, home paths.

A form is searched for only where the text has one of its hints. The time is proportional to the
text: repeats are bounded, or cannot begin anew inside themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.redaction import values
from services.redaction.assigned import assigned, may_assign
from services.redaction.homes import names_in_homes
from services.redaction.kinds import Found, SecretKind
from services.redaction.masks import is_masked
from services.redaction.pem import pem_blocks
from services.redaction.tokens import BEGINNING, TOKENS, Token
from services.redaction.views import View, views

__all__ = ["find", "hinted", "suspicious"]

_APART: Final = r"(?:(?<![\w\-])|(?<=\\[nrtbf]))"
"""The beginning of a token; an escaped line end does not count as a letter."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The whole match is the secret where `holds` says so."""

    kind: SecretKind
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = values.real

    def find(self, text: str) -> Iterator[Found]:
        """Where in `text`."""
        for match in self.pattern.finditer(text):
            if self.holds(match[0]):
                yield Found(match.start(), match.end(), self.kind)


_PATTERNS: Final = (
    _Pattern(
        SecretKind.GOOGLE_KEY,
        ("AIza",),
        re.compile(rf"{_APART}AIza[0-9A-Za-z_\-]{{10,200}}|AIza[0-9A-Za-z_\-]{{35}}"),
    ),
    _Pattern(
        SecretKind.SK_KEY,
        ("sk-",),
        re.compile(rf"{_APART}sk-[A-Za-z0-9_\-]{{20,300}}+"),
        values.sk,
    ),
    _Pattern(
        SecretKind.GITHUB,
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(
            rf"{BEGINNING}(?:gh[pousr]_[A-Za-z0-9]{{20,255}}|github_pat_[A-Za-z0-9_]{{20,255}})"
        ),
        values.generated,
    ),
    _Pattern(
        SecretKind.AWS_KEY,
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(rf"{BEGINNING}A(?:[KS]IA|BIA|CCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    ),
    _Pattern(
        SecretKind.SLACK,
        ("xox", "xapp-", "hooks.slack.com/"),
        re.compile(
            rf"{_APART}(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9\-]{{10,250}}"
            r"|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,100}"
        ),
        values.generated,
    ),
    _Pattern(
        SecretKind.GOOGLE_OAUTH,
        ("ya29.", "1//0"),
        re.compile(
            rf"{_APART}ya29\.[0-9A-Za-z_\-]{{4,2048}}+(?:\.[0-9A-Za-z_\-]{{1,512}}){{0,8}}"
            r"|(?<![\w/.:\-])1//0[0-9A-Za-z_\-]{20,512}"
        ),
    ),
    _Pattern(
        SecretKind.JWT,
        ("eyJ",),
        re.compile(
            rf"{_APART}eyJ[\w\-]{{8,8192}}+\.[\w\-]{{8,65536}}+(?:\.[\w\-]{{1,8192}}+){{0,4}}"
        ),
    ),
)
_EXACT: Final = (
    *{hint for each in _PATTERNS for hint in each.hints},
    *("-----BEGIN ", "Private-Lines: ", "/home/", "/Users/", ":\\", ":/Users"),
)


def hinted(text: str) -> tuple[Token, ...]:
    """The rules for tokens of services that have a hint in `text`, in any of its views."""
    texts = [view.text for view in views(text)]
    return tuple(
        each for each in TOKENS if any(hint in shown for hint in each.hints for shown in texts)
    )


def suspicious(text: str, tokens: Sequence[Token] = TOKENS) -> bool:
    """Whether `text` may hold a secret; quick, False is certain.

    Args:
        text: The text.
        tokens: The rules for tokens of services.
    """
    return any(_suspicious(view.text, tokens) for view in views(text))


def _suspicious(text: str, tokens: Sequence[Token]) -> bool:
    for hint in _EXACT:
        if hint in text:
            return True
    for each in tokens:
        for hint in each.hints:
            if hint in text:
                return True
    return may_assign(_small(text))


def _small(text: str) -> str:
    """`text` in lower case with the same length: some letters of other scripts become two."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower()[:1] or c for c in text)


def find(text: str, tokens: Sequence[Token] = TOKENS, *, homes: bool = True) -> list[Found]:
    """All that was found, places may overlap; see `suspicious`."""
    return [
        Found(start, end, one.kind)
        for view in views(text)
        for one in _in_view(view, tokens, homes=homes)
        for start, end in view.original(one.start, one.end)
    ]


def _in_view(view: View, tokens: Sequence[Token], *, homes: bool) -> Iterator[Found]:
    text = view.text
    for one in _all(text, tokens, homes=homes):
        if not is_masked(text[one.start : one.end]):
            yield one


def _all(text: str, tokens: Sequence[Token], *, homes: bool) -> Iterator[Found]:
    for each in _PATTERNS:
        if any(hint in text for hint in each.hints):
            yield from each.find(text)
    for token in tokens:
        if any(hint in text for hint in token.hints):
            for start, end in token.find(text):
                if values.generated(text[start:end]):
                    yield Found(start, end, SecretKind.SERVICE)
    yield from assigned(text, _small(text))
    yield from pem_blocks(text)
    if homes:
        yield from names_in_homes(text)
