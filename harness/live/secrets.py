"""Removes keys, tokens and paths of this machine from files that will be shared."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

from harness.errors import UsageError
from harness.live.remains import remains
from services.model.auth import parse_custom_headers
from services.redaction import Redactor, masked
from services.wire import Json, JsonObject
from services.workspace import Workspace

__all__ = ["Scrubber", "is_secret_file"]

_SECRET_NAME: Final = re.compile(
    r"API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|_KEY\Z|_PASS\Z|_PWD\Z"
)
_IN_ADDRESS: Final = re.compile(r"://[^\s/@:]{0,100}:([^\s/@]{1,200})@")
_SHORTEST: Final = 8
"""The minimum length of a secret; shorter texts occur everywhere."""
_HEADERS: Final = "GEMINI_CLI_CUSTOM_HEADERS"
_SECRET_KEY: Final = re.compile(
    r"(?i)api[-_]?key|token$|secret|password|authorization|credential|^headers$|^oauth$"
)
_SECRET_FILES: Final = re.compile(
    r"(?i)\.env(\..*)?|.*\.(pem|key|p12|pfx|jks|keystore)|id_(rsa|dsa|ecdsa|ed25519)"
    r"|\.netrc|\.npmrc|\.pypirc|.*credentials.*|oauth_creds.*|.*service[-_]account.*\.json"
)
_HARMLESS: Final = re.compile(r"(?i).*\.(example|sample|template|py|ts|js|md|go|rs|java)")


def is_secret_file(name: str) -> bool:
    """Return whether a file of that name usually contains keys."""
    plain = PurePosixPath(name).name
    return bool(_SECRET_FILES.fullmatch(plain)) and not _HARMLESS.fullmatch(plain)


class Scrubber:
    """Removes secrets and the run's own folders from texts.

    Args:
        variables: The environment: the values of what is called a key or token there are secrets.
        workspace: Its root is written `<WS>`, its home `<HOME>`.
    """

    def __init__(self, variables: Mapping[str, str], workspace: Workspace) -> None:
        self._variables = {text: name for name, text in _secrets(variables)}
        self._redactor = Redactor(
            {*self._variables, *(each for text in self._variables for each in _spellings(text))}
        )
        places = {str(workspace.root): "<WS>", str(workspace.home): "<HOME>"}
        self._places = [
            # A folder's name that goes on is another folder's, and so is a session's own folder,
            # ~/.gemini/tmp/NAME, which ends like a workspace /tmp/NAME.
            (re.compile(r"(?<!\.gemini)" + re.escape(real) + r"(?![\w-])"), shown)
            for real, shown in sorted(places.items(), key=lambda pair: -len(pair[0]))
            if len(real) > 1
        ]
        self._places.append((re.compile(workspace.project_hash), "<PROJECT_HASH>"))

    def text(self, text: str) -> str:
        """Return `text` without secrets and folders."""
        return self._redactor.text(self._placed(text))

    def value(self, value: Json) -> Json:
        """Clean every text and key of a JSON value; the chunks of a stream count as one text."""
        return self._redactor.value(_mapped(value, self._placed))

    def _placed(self, text: str) -> str:
        # Before secrets, since a run's folder may be in a user's home.
        for place, shown in self._places:
            text = place.sub(shown, text)
        return text

    def settings(self, settings: JsonObject) -> JsonObject:
        """Clean settings, in which the values of some keys are always secret."""
        cleaned: JsonObject = self.value(_without_secret_keys(settings))
        return cleaned

    def holds_secret(self, data: str | bytes) -> bool:
        """Return whether the content contains a secret."""
        if isinstance(data, str):
            return bool(self._redactor.secrets_in(data))
        text = data.decode("utf-8", "replace")
        # Without zero bytes, to find secrets in UTF-16 text, too.
        return any(map(self.holds_secret, (text, text.replace("\0", ""))))

    def refuse_remains(self, value: Json, name: str) -> None:
        """Check that `value`, called `name`, contains no secret that masking left.

        Such are pieces of one that are spread over answers, and one in a field that must stay as
        it is, such as a signature.

        Raises:
            UsageError: with the variable whose value it is, and where it begins.
        """
        for secret, variable in self._variables.items():
            place = remains(value, secret, _spellings(secret))
            if place is not None:
                raise UsageError(
                    f"nothing was written: {name} holds pieces of the value of {variable}, from "
                    f"{place} on, and no mask can cover them",
                    "record without the answer that shows it, or unset the variable if its value "
                    "is no secret",
                )


def _secrets(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and values of secrets; a value may occur more than once."""
    for name, value in variables.items():
        found = [value, value.strip()] if _SECRET_NAME.search(name.upper()) else []
        found += _IN_ADDRESS.findall(value)
        yield from ((name, text) for text in found if len(text) >= _SHORTEST)
    for value in parse_custom_headers(variables.get(_HEADERS)).values():
        for text in (value, *value.split()):
            if len(text) >= _SHORTEST:
                yield _HEADERS, text


def _spellings(secret: str) -> set[str]:
    """Yield the other spellings of `secret`: base64 at each offset, hexadecimal, escaped."""
    data = secret.encode("utf-8", "surrogateescape")
    written = {quote(secret, safe=""), json.dumps(secret)[1:-1], data.hex(), repr(secret)[1:-1]}
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + data).decode()
        # The characters at the edges also encode bits of the neighbouring bytes.
        inner = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        written |= {inner, inner.replace("+", "-").replace("/", "_")}
    return written - {secret}


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
