"""Agent cards: where they come from, and where they say that the agent is, old spelling or new.

A card of protocol 0.3 has `url`, `preferredTransport` and `additionalInterfaces`; one of 1.0 has
`supportedInterfaces`, each with the version that it speaks. Many servers write both.

Source: core `agents/types.ts` (`getAgentCardLoadOptions`, `getRemoteAgentTargetUrl`),
`agents/a2aUtils.ts` (`normalizeAgentCard`); the JavaScript SDK's `ClientFactory`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from services.mcp.json_text import parse_json
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.errors import RemoteAgentError
from services.wire import Json, JsonObject

__all__ = ["CardInterface", "checked_card", "checked_url", "inline_card", "interface", "target_url"]

_LEGACY: Final = "0.3"
_CURRENT: Final = "1.0"
_BINDINGS: Final = ("HTTP+JSON", "JSONRPC")
"""What we speak, as the list of them is told to people."""
_GRPC: Final = "GRPC"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardInterface:
    """One way to reach an agent."""

    binding: str
    """`JSONRPC` or `HTTP+JSON`."""
    url: str
    legacy: bool
    """Whether it speaks a protocol before 1.0."""
    tenant: str


def target_url(definition: RemoteAgentDefinition) -> str | None:
    """The address that credentials are for; `None` where the definition does not tell."""
    if definition.card_url:
        return definition.card_url
    try:
        card = json.loads(definition.card_json or "")
    except (ValueError, RecursionError):
        return None
    url = card.get("url") if isinstance(card, dict) else None
    return url if isinstance(url, str) and url else None


def inline_card(name: str, text: str) -> Json:
    """The card that a definition holds itself.

    Raises:
        RemoteAgentError: it is no JSON.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise RemoteAgentError(
            f"Failed to parse inline agent card JSON for agent '{name}': {error}"
        ) from error


def checked_card(raw: Json) -> JsonObject:
    """The card, if it is one.

    Raises:
        RemoteAgentError: it is no object.
    """
    if not isinstance(raw, dict):
        raise RemoteAgentError("Agent card is missing.")
    return raw


def checked_url(url: str) -> str:
    """`url`, if a request can go there.

    Raises:
        RemoteAgentError: it cannot; a password in it is not repeated.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise RemoteAgentError(
            f"The address of {parts.hostname or 'the agent'} includes credentials; "
            'put them into the "auth" configuration of the agent definition instead.'
        )
    if not usable:
        raise RemoteAgentError(f"Invalid URL: {url!r}")
    return url


def interface(card: Mapping[str, Any]) -> CardInterface:
    """The way to reach the agent: its first choice among those that we speak.

    Where a binding is offered in several versions, the newest one is taken.

    Raises:
        RemoteAgentError: none that we speak.
    """
    offered = _offered(card)
    for binding in dict.fromkeys(each.binding for each in offered):
        if binding not in _BINDINGS:
            continue
        of_binding = [each for each in offered if each.binding == binding]
        current = [each for each in of_binding if not each.legacy]
        # Upstream keeps interfaces by binding, a later one in an earlier one's place.
        chosen = (current or of_binding)[-1]
        checked_url(chosen.url)
        return chosen
    known = f"No compatible transport found, available transports: {','.join(_BINDINGS)}"
    if any(each.binding == _GRPC for each in offered):
        known += ". The card offers GRPC alone, which is not supported here"
    raise RemoteAgentError(known)


def _offered(card: Mapping[str, Any]) -> list[CardInterface]:
    """Everything that the card offers, the preferred one first."""
    given = card.get("protocolVersion")
    version = given if isinstance(given, str) and given else None
    main = {"url": card.get("url"), "transport": card.get("preferredTransport") or "JSONRPC"}
    old = [
        _read(item, version or _LEGACY) for item in (main, *_items(card, "additionalInterfaces"))
    ]
    # A version of the card itself is of the old spelling, but may be all there is.
    default = version or (_LEGACY if card.get("url") else _CURRENT)
    new = [_read(item, default) for item in _items(card, "supportedInterfaces")]
    return [each for each in (*old, *new) if each is not None]


def _items(card: Mapping[str, Any], key: str) -> list[Any]:
    found = card.get(key)
    return found if isinstance(found, list) else []


def _read(item: Any, default_version: str) -> CardInterface | None:
    if not isinstance(item, dict):
        return None
    url = item.get("url")
    binding = item.get("transport") or item.get("protocolBinding")
    if not isinstance(url, str) or not url or not isinstance(binding, str):
        return None
    version = item.get("protocolVersion")
    tenant = item.get("tenant")
    return CardInterface(
        binding=binding.upper(),
        url=url,
        legacy=str(version or default_version).startswith("0."),
        tenant=tenant if isinstance(tenant, str) else "",
    )
