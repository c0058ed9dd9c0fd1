"""Checks that distinguish real keys and passwords from words, code and examples.

Each check gets a value at a place for a secret. The less certain the place, the stricter the check.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

from services.redaction.masks import is_placeholder

__all__ = [
    "basic",
    "bearer",
    "cookie",
    "credential",
    "generated",
    "is_mixed",
    "long_token",
    "password",
    "real",
    "sk",
    "token",
    "user_password",
]

_LONG_TOKEN: Final = 24
_TOKEN: Final = 16
_PASSWORD: Final = 5
_LONGEST_PASSWORD: Final = 256
_SHORT: Final = 6
_SHORT_TOKEN: Final = 10
_DIGITS: Final = 6
_WORDS: Final = 20
_SYMBOLS: Final = frozenset("!@#$%^&*+?~")
_TOKEN_TEXT: Final = re.compile(r"[A-Za-z0-9_\-+/=~.:%]++\Z")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_$][\w$]*+(?:\??\.|::|->)[A-Za-z_$]")
_CODE: Final = re.compile(
    r"[a-z]+(?:_[a-z]+)*_?\d{0,2}\Z"  # a variable
    r"|(?:[A-Z]{2,}_)+[A-Z]+\d{0,2}\Z"  # a constant, or the name of a variable
)
_VARIABLE: Final = re.compile(
    r"[a-z]+(?:_[a-z0-9]+)+\Z|[a-z]*(?:pass|pw|secret|arg|value|text)[a-z]*\d{0,2}\Z"
)
_PATH: Final = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.\-<>]{1,40}(?:[\\/]|\Z))+\Z")
_NO_PASSWORD: Final = frozenset(
    {
        *("password", "passwd", "pass", "pwd", "passphrase", "secret", "token", "key", "value"),
        *("string", "text", "hidden", "input", "prompt", "stdin", "required", "optional", "file"),
        *("invalid", "incorrect", "missing", "empty", "username", "user", "reset", "change"),
        *("forgot", "confirm", "current", "plain", "encrypted", "hashed", "disabled", "enabled"),
        *("false", "default", "example", "unset", "masked", "postgres", "root", "admin"),
    }
)


def is_mixed(value: str) -> bool:
    """Whether it has what generated texts have and words have not: letters and digits."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def real(value: str) -> bool:
    """Whether it does not merely stand for a secret."""
    return not is_placeholder(value)


def generated(value: str) -> bool:
    """Whether a program made it up."""
    return is_mixed(value) and not is_placeholder(value)


def sk(value: str) -> bool:
    """After `sk-`: names of styles are `sk-` and words too; a key has capitals or one long run."""
    kinds = (str.isdigit, str.isupper, str.islower)
    if all(any(kind(c) for c in value[3:]) for kind in kinds):
        return not is_placeholder(value)
    run = max(re.findall(r"[A-Za-z0-9]+", value), key=len, default="")
    return len(run) >= _LONG_TOKEN and is_mixed(run) and not is_placeholder(value)


def bearer(value: str) -> bool:
    """After the word alone: prose speaks of bearer tokens too."""
    inner = re.search(r"[a-z][A-Z]", value) is not None
    random = is_mixed(value) or inner or len(value) >= _LONG_TOKEN
    return random and not value.startswith("realm=") and not is_placeholder(value)


def credential(value: str) -> bool:
    """After `Authorization: Bearer`, where little else than a token stands."""
    plain = value.isalpha() and value.islower()
    enough = len(value) >= _TOKEN or (len(value) >= _SHORT and not plain)
    return enough and not value.startswith("realm=") and not is_placeholder(value)


def basic(value: str) -> bool:
    """Base64 of a name and a password."""
    if is_placeholder(value):
        return False
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable()


def user_password(value: str) -> bool:
    """Between the colon and the `@` of an address, where nothing else than a password stands."""
    if len(value) < _PASSWORD:
        return any(map(str.isalnum, value)) and value.lower() not in _NO_PASSWORD
    return value.lower() not in _NO_PASSWORD and not is_placeholder(value)


def cookie(value: str) -> bool:
    """A cookie's value; `theme=dark` is none that opens anything."""
    return len(value) >= _SHORT + 2 and (is_mixed(value) or len(value) >= _TOKEN) and real(value)


def token(value: str, *, quoted: bool, firm: bool) -> bool:
    """After the name of a key, token or secret.

    Args:
        value: What stands there.
        quoted: It stands in quotes, so it is no code.
        firm: The place allows no code and no prose: `NAME=value` of an environment, a flag.
    """
    if len(value) < _SHORT_TOKEN or _TOKEN_TEXT.match(value) is None or not real(value):
        return False
    if _PATH.match(value):
        return False
    if not quoted and not firm and (_ATTRIBUTE.match(value) or _CODE.match(value)):
        return False
    return is_mixed(value) or (firm and len(value) >= _WORDS and value.isalpha())


def long_token(value: str, *, quoted: bool, firm: bool) -> bool:
    """After a name that says little, `token` alone: see `token`, but longer."""
    return len(value) >= _TOKEN and token(value, quoted=quoted, firm=firm)


def password(value: str, *, quoted: bool, firm: bool) -> bool:
    """After the name of a password; see `token` for the arguments.

    Where the place is not firm, a word is taken for a word: `"password": "required"`.
    """
    if not _PASSWORD <= len(value) <= _LONGEST_PASSWORD or value.lower() in _NO_PASSWORD:
        return False
    if not real(value) or _PATH.match(value) or value != value.strip():
        return False
    if firm:
        return not value.isupper() or is_mixed(value)
    if not quoted and (_ATTRIBUTE.match(value) or _VARIABLE.match(value)):
        return False
    if value.isdigit():
        return quoted and len(value) >= _DIGITS
    symbol = not _SYMBOLS.isdisjoint(value) and " " not in value
    return any(map(str.isalpha, value)) and (is_mixed(value) or symbol)


Holds = Callable[..., bool]
