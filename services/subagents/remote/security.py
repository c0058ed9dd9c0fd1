"""Compares the sign-in that a card requires with a definition's `auth` block.

Source: core `agents/auth-provider/factory.ts` (`validateAuthConfig`, `describeRequiredAuth`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.wire import JsonObject

__all__ = ["required_auth"]

_NEW_NAMES: Final = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
"""Key of a scheme in cards of protocol 1.0 → its older `type`."""


def required_auth(card: Mapping[str, Any], auth: JsonObject | None) -> str | None:
    """Return the sign-in that the card requires, if `auth` does not match it.

    Raises:
        TypeError: a scheme of HTTP has no name, and `auth` would have to be compared with it;
            upstream fails there with the same message.
    """
    schemes = _schemes(card)
    if not schemes or (auth is not None and any(_matches(auth, s) for s in schemes.values())):
        return None
    return " OR ".join(_described(name, scheme) for name, scheme in schemes.items())


def _schemes(card: Mapping[str, Any]) -> dict[str, JsonObject]:
    found = card.get("securitySchemes")
    if not isinstance(found, dict):
        return {}
    return {name: _old_spelling(s) for name, s in found.items() if isinstance(s, dict)}


def _old_spelling(scheme: JsonObject) -> JsonObject:
    if "type" in scheme:
        return scheme
    for key, kind in _NEW_NAMES.items():
        inner = scheme.get(key)
        if isinstance(inner, dict):
            return {**inner, "type": kind, "in": inner.get("location", inner.get("in"))}
    return scheme


def _matches(auth: JsonObject, scheme: JsonObject) -> bool:
    kind, own = scheme.get("type"), auth.get("type")
    if kind == "http":
        if own not in ("http", "google-credentials"):
            return False
        if "scheme" not in scheme:
            raise TypeError("Cannot read properties of undefined (reading 'toLowerCase')")
        wanted = str(scheme["scheme"]).lower()
        return wanted == ("bearer" if own != "http" else str(auth.get("scheme", "")).lower())
    return kind in ("apiKey", "oauth2", "openIdConnect") and kind == own


def _described(name: str, scheme: JsonObject) -> str:
    match scheme.get("type"):
        case "apiKey":
            return f"API Key ({name}): Send {scheme.get('name')} in {scheme.get('in')}"
        case "http":
            return f"HTTP {scheme.get('scheme', 'undefined')} ({name})"
        case "oauth2":
            return f"OAuth 2.0 ({name})"
        case "openIdConnect":
            return f"OpenID Connect ({name})"
        case "mutualTLS":
            return f"Mutual TLS ({name})"
        case other:
            return f"Unknown ({name}): {'undefined' if other is None else other}"
