"""What must not get into a file that is meant to be shared: keys, tokens, paths of this machine."""

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
"""A shorter value is no secret, and its text is found everywhere."""
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
    """Whether a file usually holds keys, by its name."""
    plain = PurePosixPath(name).name
    return bool(_SECRET_FILES.fullmatch(plain)) and not _HARMLESS.fullmatch(plain)


class Scrubber:
    """Takes secrets, and the run's own folders, out of texts.

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
        if isinstance(data, str):
            return bool(self._redactor.secrets_in(data))
        text = data.decode("utf-8", "replace")
        # Text of two bytes a character reads like this, too.
        return any(map(self.holds_secret, (text, text.replace("\0", ""))))

    def refuse_remains(self, value: Json, name: str) -> None:
        """Refuse to keep `value`, called `name`, if a secret is left that no mask can cover.

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
    """Names and values; a value may occur more than once."""
    for name, value in variables.items():
        found = [value, value.strip()] if _SECRET_NAME.search(name.upper()) else []
        found += _IN_ADDRESS.findall(value)
        yield from ((name, text) for text in found if len(text) >= _SHORTEST)
    for value in parse_custom_headers(variables.get(_HEADERS)).values():
        for text in (value, *value.split()):
            if len(text) >= _SHORTEST:
                yield _HEADERS, text


def _spellings(secret: str) -> set[str]:
    """How else programs write `secret`: base64 from each offset, hexadecimal, escaped."""
    data = secret.encode("utf-8", "surrogateescape")
    written = {quote(secret, safe=""), json.dumps(secret)[1:-1], data.hex(), repr(secret)[1:-1]}
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + data).decode()
        # Characters at the edges also hold bits of what stands beside the secret.
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
