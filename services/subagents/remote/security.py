"""Compares the sign-in that a card requires with a definition's `auth` block.

Source: core `agents/auth-provider/factory.ts` (`validateAuthConfig`, `describeRequiredAuth`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.wire import Json, JsonObject, js_text

__all__ = ["required_auth", "with_old_schemes"]

_NEW_NAMES: Final = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
"""Key of a scheme in cards of protocol 1.0 → its older `type`."""


def with_old_schemes(card: Json) -> Json:
    """Return a fetched card with its sign-in in the older spelling.

    As upstream, the first scheme decides for all; a card in a definition stays as it is.
    """
    schemes = card.get("securitySchemes") if isinstance(card, dict) else None
    if not isinstance(schemes, dict):
        return card
    first = next(iter(schemes.values()), None)
    if not isinstance(first, dict) or "type" in first:
        return card
    return {**card, "securitySchemes": {key: _old(each) for key, each in schemes.items()}}


def _old(scheme: Json) -> Json:
    for key, kind in _NEW_NAMES.items():
        inner = scheme.get(key) if isinstance(scheme, dict) else None
        if isinstance(inner, dict):
            return {**inner, "type": kind, "in": inner.get("location")}
    return scheme


def required_auth(card: Mapping[str, Any], auth: JsonObject | None) -> str | None:
    """Return the sign-in that the card requires, if `auth` does not match it.

    Raises:
        TypeError: a scheme is null, or one of HTTP has no name and `auth` would have to be
            compared with it; upstream fails there with the same message.
    """
    schemes = card.get("securitySchemes")
    if not isinstance(schemes, dict) or not schemes:
        return None
    if None in schemes.values():
        raise TypeError("Cannot read properties of null (reading 'type')")
    read = {name: each if isinstance(each, dict) else {} for name, each in schemes.items()}
    if auth is not None and any(_matches(auth, scheme) for scheme in read.values()):
        return None
    return " OR ".join(_described(name, scheme) for name, scheme in read.items())


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
    def said(key: str) -> str:
        return js_text(scheme[key]) if key in scheme else "undefined"

    match scheme.get("type"):
        case "apiKey":
            return f"API Key ({name}): Send {said('name')} in {said('in')}"
        case "http":
            return f"HTTP {said('scheme')} ({name})"
        case "oauth2":
            return f"OAuth 2.0 ({name})"
        case "openIdConnect":
            return f"OpenID Connect ({name})"
        case "mutualTLS":
            return f"Mutual TLS ({name})"
        case _:
            return f"Unknown ({name}): {said('type')}"
