"""What secrets look like.

Each pattern is looked for only where one of its hints stands in the text, and takes time in
proportion to the text: what repeats is bounded, or cannot begin anew inside itself.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from services.redaction.homes import names_in_homes
from services.redaction.kinds import Found, SecretKind
from services.redaction.masks import is_masked, is_placeholder
from services.redaction.pem import pem_blocks

__all__ = ["find", "suspicious", "telling_key"]

_LONG_TOKEN: Final = 24
_TOKEN: Final = 16
_SHORT: Final = 6


def _mixed(value: str) -> bool:
    """Whether it has what generated texts have and words have not."""
    digit = any(c.isdigit() for c in value)
    letter = any(c.isalpha() for c in value)
    return digit and letter


def _sk(value: str) -> bool:
    # Names of styles are `sk-` and words too; a key has large letters or one long run.
    kinds = (str.isdigit, str.isupper, str.islower)
    if all(any(kind(c) for c in value[3:]) for kind in kinds):
        return not is_placeholder(value)
    run = max(re.findall(r"[A-Za-z0-9]+", value), key=len, default="")
    return len(run) >= _LONG_TOKEN and _mixed(run) and not is_placeholder(value)


def _generated(value: str) -> bool:
    return _mixed(value) and not is_placeholder(value)


def _real(value: str) -> bool:
    return not is_placeholder(value)


def _bearer(value: str) -> bool:
    """After the word alone: prose speaks of bearer tokens too."""
    inner = re.search(r"[a-z][A-Z]", value) is not None
    random = _mixed(value) or inner or len(value) >= _LONG_TOKEN
    return random and not value.startswith("realm=") and not is_placeholder(value)


def _credential(value: str) -> bool:
    """After `Authorization: Bearer`, where little else than a token stands."""
    plain = value.isalpha() and value.islower()
    enough = len(value) >= _TOKEN or (len(value) >= _SHORT and not plain)
    return enough and not value.startswith("realm=") and not is_placeholder(value)


def _basic(value: str) -> bool:
    if is_placeholder(value):
        return False
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable()


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Group 1, or the whole, is the secret where `holds` says so."""

    kind: SecretKind
    hints: tuple[str, ...]
    """In small letters where `any_case`."""
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = _real
    any_case: bool = False

    def find(self, text: str) -> Iterator[Found]:
        """Where in `text`."""
        group = min(self.pattern.groups, 1)
        for match in self.pattern.finditer(text):
            if self.holds(match[group]):
                yield Found(match.start(group), match.end(group), self.kind)


_QUOTES: Final = r"[\"'\\]{0,4}"
_VALUE: Final = r"([A-Za-z0-9_\-+/=~]{10,512}+)(?!\.?[\w(\[])"
_NAMES: Final = (
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "accesstoken",
    "access-token",
    "refresh_token",
    "refreshtoken",
    "id_token",
    "auth_token",
    "authtoken",
    "client_secret",
    "clientsecret",
    "secret_key",
    "secret_access_key",
    "secretkey",
    "secretaccesskey",
)
_PATTERNS: Final = (
    _Pattern(
        SecretKind.GOOGLE_KEY,
        ("AIza",),
        re.compile(r"(?<![\w\-])AIza[0-9A-Za-z_\-]{10,200}|AIza[0-9A-Za-z_\-]{35}"),
    ),
    _Pattern(
        SecretKind.SK_KEY,
        ("sk-",),
        re.compile(r"(?<![\w\-])sk-[A-Za-z0-9_\-]{20,300}+"),
        _sk,
    ),
    _Pattern(
        SecretKind.GITHUB,
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(
            r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})"
        ),
        _generated,
    ),
    _Pattern(
        SecretKind.AWS_KEY,
        ("AKIA", "ASIA"),
        re.compile(r"(?<![A-Za-z0-9+/=_\-])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9+/=_\-])"),
    ),
    _Pattern(
        SecretKind.SLACK,
        ("xox", "xapp-", "hooks.slack.com/"),
        re.compile(
            r"(?<![\w\-])(?:xox[a-z]|xapp)-[A-Za-z0-9\-]{10,250}"
            r"|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,100}"
        ),
        _generated,
    ),
    _Pattern(
        SecretKind.SERVICE,
        ("glpat-", "npm_", "hf_", "GOCSPX-"),
        re.compile(
            r"(?<![\w\-])(?:glpat-[\w\-]{20,100}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,60}"
            r"|GOCSPX-[\w\-]{20,60})"
        ),
        _generated,
    ),
    _Pattern(
        SecretKind.GOOGLE_OAUTH,
        ("ya29.", "1//0"),
        re.compile(
            r"(?<![\w\-])ya29\.[0-9A-Za-z_\-]{4,2048}+(?:\.[0-9A-Za-z_\-]{1,512}){0,8}"
            r"|(?<![\w/.:\-])1//0[0-9A-Za-z_\-]{20,512}"
        ),
    ),
    _Pattern(
        SecretKind.JWT,
        ("eyJ",),
        re.compile(r"(?<![\w\-])eyJ[\w\-]{8,8192}+\.[\w\-]{8,65536}+(?:\.[\w\-]{1,8192}+){0,4}"),
    ),
    _Pattern(
        SecretKind.BEARER,
        ("authorization",),
        re.compile(
            rf"(?i)authorization{_QUOTES}\s{{0,4}}[:=]\s{{0,4}}{_QUOTES}\[?\s?{_QUOTES}"
            r"(?:bearer|basic|token|apikey)\s{1,4}([A-Za-z0-9._~+/=\-]{6,8192})"
        ),
        _credential,
        any_case=True,
    ),
    _Pattern(
        SecretKind.BEARER,
        ("bearer",),
        re.compile(r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/=\-]{8,8192})"),
        _bearer,
        any_case=True,
    ),
    _Pattern(
        SecretKind.BASIC,
        ("basic",),
        re.compile(r"(?i)\bbasic\s{1,4}([A-Za-z0-9+/]{6,1024}={0,2})"),
        _basic,
        any_case=True,
    ),
    _Pattern(
        SecretKind.BASIC,
        ("://",),
        re.compile(r"://[^\s/@:\"'<>{}$]{1,100}:([^\s/@:\"'<>{}$]{6,200})@[\w\[]"),
        _generated,
    ),
    _Pattern(
        SecretKind.NAMED,
        _NAMES,
        re.compile(
            rf"(?i)(?:{'|'.join(_NAMES)}){_QUOTES}\s{{0,4}}[:=]{{1,2}}\s{{0,4}}{_QUOTES}\[?"
            rf"{_QUOTES}{_VALUE}"
        ),
        _generated,
        any_case=True,
    ),
    _Pattern(
        SecretKind.NAMED,
        ("?key=", "&key="),
        re.compile(r"(?i)[?&]key=([A-Za-z0-9_\-.~%+]{8,512})"),
        _generated,
        any_case=True,
    ),
)
_EXACT: Final = (
    *{hint for each in _PATTERNS if not each.any_case for hint in each.hints},
    *("-----BEGIN ", "/home/", "/Users/", ":\\", ":/Users"),
)
_ANY_CASE: Final = tuple({hint for each in _PATTERNS if each.any_case for hint in each.hints})
_TELLING_KEY: Final = re.compile(
    r"(?i)(?:.*[-_.])?(?:authorization|x-goog-api-key|key|" + "|".join(_NAMES) + r")\Z"
)


def suspicious(text: str) -> bool:
    """Whether `text` may hold a secret: quick, and never wrong in saying no."""
    for hint in _EXACT:
        if hint in text:
            return True
    small = text.lower()
    return any(hint in small for hint in _ANY_CASE)


def telling_key(key: str) -> bool:
    """Whether what stands under `key` in an object is read together with it."""
    return _TELLING_KEY.match(key) is not None


def find(text: str, *, homes: bool = True) -> list[Found]:
    """All that was found, in the order of the patterns; places may overlap."""
    small = text.lower()
    found: list[Found] = []
    for each in _PATTERNS:
        place = small if each.any_case else text
        if any(hint in place for hint in each.hints):
            found += each.find(text)
    found += pem_blocks(text)
    if homes:
        found += names_in_homes(text)
    return [one for one in found if not is_masked(text[one.start : one.end])]
