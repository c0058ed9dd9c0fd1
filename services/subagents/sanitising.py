"""Removes passwords, keys and paths of key files from an agent's displayed activities.

The rules are exactly upstream's, because events and recordings contain the texts.
`services.redaction` has the rules for data that must not leave the machine.

Source: core `utils/agent-sanitization-utils.ts`.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from services.wire import Json

__all__ = ["sanitise_arguments", "sanitise_text"]

_REDACTED: Final = "[REDACTED]"
_REDACTED_PEM: Final = "[REDACTED_PEM]"
_SENSITIVE: Final = (
    "password",
    "pwd",
    "apikey",
    "api_key",
    "api-key",
    "token",
    "secret",
    "credential",
    "auth",
    "authorization",
    "access_token",
    "access_key",
    "refresh_token",
    "session_id",
    "cookie",
    "passphrase",
    "privatekey",
    "private_key",
    "private-key",
    "secret_key",
    "client_secret",
    "client_id",
)
_PLAIN_KEYS: Final = tuple(re.sub("[-_]", "", key) for key in _SENSITIVE)
_WRITTEN_KEYS: Final = tuple(re.sub("[-_]", "(?:[-_]|%2D|%5F|%2d|%5f)?", key) for key in _SENSITIVE)

# JavaScript's white space, which `\s` is not; every pattern below is ASCII otherwise.
_SPACE: Final = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_SOLID: Final = _SPACE.replace("[", "[^", 1)
_WORD_VALUE: Final = rf"{_SOLID}+(?:{_SPACE}+(?![a-zA-Z0-9_.-]+(?:=|:)){_SOLID[:-1]}=:<>]+)*"
_ASSIGNED: Final = re.compile(
    rf"((?:--)?(\"|')?({'|'.join(_WRITTEN_KEYS)})(?(2)\2|){_SPACE}*(?:[:=]|%3A|%3D){_SPACE}*)"
    rf"(?:\"[^\"]*\"|'[^']*'|{_WORD_VALUE})",
    re.IGNORECASE | re.ASCII,
)
_FOLLOWED: Final = re.compile(
    rf"\b((?:--)?(?:{'|'.join((*_WRITTEN_KEYS, 'bearer'))})"
    rf"(?:{_SPACE}*:{_SPACE}*bearer)?{_SPACE}+)([A-Za-z0-9._\-/+=]{{8,}})",
    re.IGNORECASE | re.ASCII,
)
# Any path, and whether it is a key file. Upstream's pattern, for key files alone, takes quadratic
# time for other long paths.
_PATH: Final = re.compile(
    r"[/\\](?:[\w-]++[/\\])*+[\w-]*+(\.(?:key|pem|p12|pfx))?", re.IGNORECASE | re.ASCII
)
_BROKEN_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def sanitise_arguments(arguments: Json) -> Json:
    """Return `arguments` with sanitised texts, without the values of secret-like keys."""
    if isinstance(arguments, str):
        return sanitise_text(arguments)
    if isinstance(arguments, list):
        return [sanitise_arguments(item) for item in arguments]
    if not isinstance(arguments, dict):
        return arguments
    return {
        key: _REDACTED if _is_sensitive(key) else sanitise_arguments(value)
        for key, value in arguments.items()
    }


def sanitise_text(text: str) -> str:
    """Return `text` without PEM blocks, values of secret-like keys and paths of key files."""
    text = _without_pem(text)
    text = _ASSIGNED.sub(rf"\g<1>{_REDACTED}", text)
    text = _FOLLOWED.sub(rf"\g<1>{_REDACTED}", text)
    return _PATH.sub(lambda path: f"/path/to/{_REDACTED}.key" if path[1] else path[0], text)


def _is_sensitive(key: str) -> bool:
    plain = re.sub("[-_]", "", _decoded(key).lower())
    return any(word in plain for word in _PLAIN_KEYS)


def _decoded(key: str) -> str:
    """`decodeURIComponent`, or the key itself where it cannot be decoded."""
    if _BROKEN_ESCAPE.search(key):
        return key
    try:
        return unquote(key, errors="strict")
    except UnicodeDecodeError:
        return key


def _without_pem(text: str) -> str:
    """Replace every complete PEM block up to the first incomplete one."""
    begin = text.find("-----BEGIN")
    while begin != -1:
        header = text.find("-----", begin + 10)
        footer = -1 if header == -1 else text.find("-----END", header + 5)
        end = -1 if footer == -1 else text.find("-----", footer + 8)
        if end == -1:
            break
        text = f"{text[:begin]}{_REDACTED_PEM}{text[end + 5 :]}"
        begin = text.find("-----BEGIN", begin + len(_REDACTED_PEM))
    return text
