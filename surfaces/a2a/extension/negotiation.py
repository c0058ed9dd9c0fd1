"""Whether a request asks for the dialect of the extension, in a version that this server speaks.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.1 and 3.2; Semantic Versioning 2.0.0;
A2A, "Extensions".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from services.wire import JsonObject
from surfaces.a2a.extension.schema import AgentSettings
from surfaces.a2a.wire import RpcError, invalid_params

__all__ = ["EXTENSION_HEADERS", "EXTENSION_URI", "asked_version", "card_entry", "settings_in"]

EXTENSION_HEADERS: Final = ("A2A-Extensions", "X-A2A-Extensions")
"""The header of a request that names extensions, in A2A 1.x and in 0.3."""
_BASE: Final = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/"
EXTENSION_URI: Final = f"{_BASE}v0/spec.md"
"""The extension in this server's version."""
_VERSIONED: Final = re.compile(
    re.escape(_BASE) + r"v(0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?(?:\.(0|[1-9]\d{0,8}))?"
    r"(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?/spec\.md"
)
_UNSUPPORTED: Final = -32004


@dataclass(frozen=True, slots=True)
class _Version:
    """A semantic version, without the build, which has no part in comparisons."""

    major: int
    minor: int
    patch: int
    prerelease: str | None

    def serves(self, asked: _Version) -> bool:
        """Whether a client of `asked` can talk to a server of this version.

        Before 1.0.0, and before a release, any change may break.
        """
        if self == asked:
            return True
        if self.major == 0 or self.prerelease or asked.prerelease:
            return False
        return self.major == asked.major and self.minor >= asked.minor


def card_entry() -> JsonObject:
    """The extension in the agent card."""
    return {
        "uri": EXTENSION_URI,
        "description": "Development tasks with typed updates: each tool call as a whole, the "
        "model's thoughts, and questions before a tool runs.",
        "required": True,
    }


def asked_version(headers: Iterable[str], own: str = EXTENSION_URI) -> str | None:
    """The extension's URI as the client writes it; `None` if it does not ask for the extension.

    Args:
        headers: the values of the headers, each with URIs between commas.
        own: the URI of the server's version.

    Raises:
        RpcError: it asks for versions that this server does not speak.
    """
    uris = [uri.strip() for value in headers for uri in value.split(",")]
    asked = [uri for uri in uris if uri.startswith(_BASE)]
    if not asked:
        return None
    ours = _version(own)
    for uri in asked:
        version = _version(uri)
        if ours is not None and version is not None and ours.serves(version):
            return uri
    raise RpcError(
        _UNSUPPORTED, f"The extension is not served as {', '.join(asked)}; ask for {own}"
    )


def settings_in(message: JsonObject, uri: str) -> AgentSettings:
    """The settings in the first message of a client that asks for the extension as `uri`.

    Raises:
        RpcError: there are none, or they cannot be used.
    """
    metadata = message.get("metadata")
    given = metadata.get(uri) if isinstance(metadata, dict) else None
    if given is None:
        raise invalid_params(
            f"The first message has no AgentSettings; write them into its metadata under {uri}"
        )
    settings = AgentSettings.read(given)
    if not PurePath(settings.workspace_path).is_absolute():
        raise invalid_params(
            f"AgentSettings.workspacePath is {settings.workspace_path!r}; write an absolute path"
        )
    return settings


def _version(uri: str) -> _Version | None:
    found = _VERSIONED.fullmatch(uri)
    if found is None:
        return None
    major, minor, patch, prerelease = found.groups()
    return _Version(int(major), int(minor or 0), int(patch or 0), prerelease)
