"""What must not get into a file that is meant to be shared: keys, tokens, paths of this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from services.model.auth import parse_custom_headers
from services.redaction import Redactor, masked
from services.wire import Json, JsonObject
from services.workspace import Workspace

__all__ = ["Scrubber", "is_secret_file"]

_SECRET_WORDS: Final = ("API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_SHORTEST: Final = 8
"""A shorter value is no secret, and its text is found everywhere."""
_SECRET_KEY: Final = re.compile(
    r"(?i)api[-_]?key|token$|secret|password|authorization|credential|^headers$|^oauth$"
)
_SECRET_FILES: Final = re.compile(
    r"(?i)\.env(\..*)?|.*\.(pem|key|p12|pfx|jks|keystore)|id_(rsa|dsa|ecdsa|ed25519)"
    r"|\.netrc|\.npmrc|\.pypirc|.*credentials.*|oauth_creds.*|.*service[-_]account.*\.json"
)
_HARMLESS: Final = re.compile(r"(?i).*\.(example|sample|template|py|ts|js|md|go|rs|java)")


def is_secret_file(name: str) -> bool:
    """Whether a file is one in which people keep keys, going by its name."""
    plain = PurePosixPath(name).name
    return bool(_SECRET_FILES.fullmatch(plain)) and not _HARMLESS.fullmatch(plain)


class Scrubber:
    """Takes secrets, and the run's own folders, out of texts.

    Args:
        variables: The environment: the values of what is called a key or token there are secrets.
        workspace: Its root is written `<WS>`, its home `<HOME>`.
    """

    def __init__(self, variables: Mapping[str, str], workspace: Workspace) -> None:
        self._redactor = Redactor(set(_secrets(variables)))
        places = {str(workspace.root): "<WS>", str(workspace.home): "<HOME>"}
        self._places = [
            # A folder's name that goes on is another folder's.
            (re.compile(re.escape(real) + r"(?![\w-])"), shown)
            for real, shown in sorted(places.items(), key=lambda pair: -len(pair[0]))
            if len(real) > 1
        ]
        self._places.append((re.compile(workspace.project_hash), "<PROJECT_HASH>"))

    def text(self, text: str) -> str:
        """`text` without them."""
        return self._redactor.text(self._placed(text))

    def value(self, value: Json) -> Json:
        """The same for every text of a JSON value, keys too; chunks of a stream are one text."""
        return self._redactor.value(_mapped(value, self._placed))

    def _placed(self, text: str) -> str:
        # Before secrets: a run's folder may lie in a person's home.
        for place, shown in self._places:
            text = place.sub(shown, text)
        return text

    def settings(self, settings: JsonObject) -> JsonObject:
        """The same for settings, where some keys hold nothing but secrets."""
        cleaned: JsonObject = self.value(_without_secret_keys(settings))
        return cleaned

    def holds_secret(self, data: str | bytes) -> bool:
        """Whether a secret is in there."""
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        return bool(self._redactor.secrets_in(text))


def _secrets(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        if any(word in name.upper() for word in _SECRET_WORDS):
            yield from (text for text in (value, value.strip()) if len(text) >= _SHORTEST)
    for value in parse_custom_headers(variables.get("GEMINI_CLI_CUSTOM_HEADERS")).values():
        if len(value) >= _SHORTEST:
            yield value
            yield from (word for word in value.split() if len(word) >= _SHORTEST)


def _without_secret_keys(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_secret_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept: JsonObject = {}
    for key, item in value.items():
        if not _SECRET_KEY.search(key):
            kept[key] = _without_secret_keys(item)
        elif isinstance(item, str):
            kept[key] = masked(item)
        elif not isinstance(item, (dict, list)):
            kept[key] = item
    return kept


def _mapped(value: Json, change: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    return value
