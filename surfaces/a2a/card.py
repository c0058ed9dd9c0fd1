"""The agent card: what clients learn before they send a message.

Protocol 1.x and 0.3 have cards of different shapes at the same path. A client that names its
version in the header `A2A-Version` gets the card of that version. Any other gets one document with
the members of both, as a2a-sdk's servers send it. Only 0.3 has the capability
`stateTransitionHistory`.

Source: `packages/a2a-server` `http/app.ts` (`coderAgentCard`); A2A 1.0, section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from services.wire import JsonObject
from surfaces.a2a.extension.negotiation import card_entry

__all__ = ["AgentCards"]

_NAME: Final = "parity"
_ABOUT: Final = "An agent that works on the code of a folder and asks before it acts."
_BINDINGS: Final = ("JSONRPC", "HTTP+JSON")
_MODES: Final = ("text", "text/plain")
_SKILL: Final = {
    "id": "code_generation",
    "name": "Code Generation",
    "description": "Reads, writes and runs code, and reports each step.",
    "tags": ["code", "development", "programming"],
    "examples": ["Find out why the build fails.", "Explain what this folder holds."],
    "inputModes": list(_MODES),
    "outputModes": list(_MODES),
}


class AgentCards:
    """The cards of one server.

    Args:
        url: the server's address, with a slash at its end.
        version: the version of this product.
        schemes: how callers prove who they are: `bearer`, `mtls`, both, or not at all.
    """

    def __init__(self, url: str, version: str, schemes: frozenset[str]) -> None:
        self._common: JsonObject = {
            "name": _NAME,
            "description": _ABOUT,
            "version": version,
            "defaultInputModes": list(_MODES),
            "defaultOutputModes": list(_MODES),
            "skills": [_SKILL],
        }
        # Clients of HTTP+JSON add a path that begins with a slash.
        self._urls = {"JSONRPC": url, "HTTP+JSON": url.rstrip("/")}
        self._schemes = schemes

    def current(self) -> JsonObject:
        """The card of protocol 1.x."""
        card: JsonObject = {
            **self._common,
            "supportedInterfaces": [
                {"url": self._urls[each], "protocolBinding": each, "protocolVersion": version}
                for version in ("1.0", "0.3")
                for each in _BINDINGS
            ],
            "capabilities": _capabilities(),
        }
        known: Mapping[str, JsonObject] = {
            "bearer": {"bearerAuth": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
            "mtls": {"mutualTLS": {"mtlsSecurityScheme": {}}},
        }
        if self._schemes:
            card["securitySchemes"] = _merged(known[each] for each in sorted(self._schemes))
            names = card["securitySchemes"]
            card["securityRequirements"] = [{"schemes": {name: {"list": []} for name in names}}]
        return card

    def earlier(self) -> JsonObject:
        """The card of protocol 0.3."""
        card: JsonObject = {
            **self._common,
            "url": self._urls["JSONRPC"],
            "preferredTransport": "JSONRPC",
            "additionalInterfaces": [
                {"url": self._urls[each], "transport": each} for each in _BINDINGS
            ],
            "protocolVersion": "0.3.0",
            "capabilities": {**_capabilities(), "stateTransitionHistory": True},
            "supportsAuthenticatedExtendedCard": False,
        }
        known: Mapping[str, JsonObject] = {
            "bearer": {"bearerAuth": {"type": "http", "scheme": "bearer"}},
            "mtls": {"mutualTLS": {"type": "mutualTLS"}},
        }
        if self._schemes:
            card["securitySchemes"] = _merged(known[each] for each in sorted(self._schemes))
            card["security"] = [{name: [] for name in card["securitySchemes"]}]
        return card

    def for_version(self, version: str | None) -> JsonObject:
        """The card for a client that names this version of the protocol, or none."""
        if not version:
            return _merged([self.earlier(), self.current()])
        return self.earlier() if version.startswith("0.") else self.current()


def _capabilities() -> JsonObject:
    return {"streaming": True, "pushNotifications": True, "extensions": [card_entry()]}


def _merged(documents: Iterable[JsonObject]) -> JsonObject:
    """The members of all documents; objects that share a name become one."""
    found: JsonObject = {}
    for document in documents:
        for name, value in document.items():
            earlier = found.get(name)
            if isinstance(earlier, dict) and isinstance(value, dict):
                value = _merged([earlier, value])
            found[name] = value
    return found
