"""Reads agent cards of both protocol versions.

A card of protocol 0.3 has `url`, `preferredTransport` and `additionalInterfaces`; one of 1.0 has
`supportedInterfaces`, each with its version. Many servers write both.

Source: core `agents/types.ts` (`getAgentCardLoadOptions`, `getRemoteAgentTargetUrl`),
`agents/a2aUtils.ts` (`normalizeAgentCard`); the JavaScript SDK's `ClientFactory`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from services.mcp.json_text import parse_json
from services.net.addresses import is_encrypted_or_local, origin
from services.net.errors import AddressRefused
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.errors import RemoteAgentError
from services.wire import Json, JsonObject

__all__ = [
    "CardInterface",
    "checked_card",
    "checked_url",
    "credentials_origin",
    "inline_card",
    "interface",
    "require_home",
    "target_url",
]

_LEGACY: Final = "0.3"
_CURRENT: Final = "1.0"
_BINDINGS: Final = ("HTTP+JSON", "JSONRPC")
"""The supported bindings, in the order of the error message."""
_GRPC: Final = "GRPC"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardInterface:
    """One address and protocol of an agent."""

    binding: str
    """`JSONRPC` or `HTTP+JSON`."""
    url: str
    legacy: bool
    """Whether its protocol is older than 1.0."""
    tenant: str


def target_url(definition: RemoteAgentDefinition) -> str | None:
    """Return the address for which the credentials are; `None` if the definition has none."""
    if definition.card_url:
        return definition.card_url
    try:
        card = parse_json(definition.card_json or "")
    except ValueError:
        return None
    url = card.get("url") if isinstance(card, dict) else None
    return url if isinstance(url, str) and url else None


def credentials_origin(definition: RemoteAgentDefinition) -> str | None:
    """Return the only origin that may receive the definition's credentials, if it names one.

    It is the origin of `target_url` or, for an inline card of protocol 1.0, of its interface.

    Raises:
        RemoteAgentError: the origin is not encrypted.
    """
    url = target_url(definition)
    if url is None and definition.card_json:
        try:
            url = interface(checked_card(inline_card(definition.name, definition.card_json))).url
        except RemoteAgentError:
            return None
    try:
        home = None if url is None else origin(url)
    except AddressRefused:
        return None
    if home is not None and home.startswith("http://") and not is_encrypted_or_local(home):
        raise RemoteAgentError(
            f"Remote agent '{definition.name}' has credentials, and {home} is not encrypted: "
            "give an https address, or take the auth block away"
        )
    return home


def require_home(name: str, way: CardInterface, home: str | None) -> None:
    """Check that an agent's interface is on the origin for its credentials.

    Raises:
        RemoteAgentError: it is on another origin than `home`, the result of `credentials_origin`.
    """
    try:
        there = origin(way.url)
    except AddressRefused as error:
        raise RemoteAgentError(str(error)) from error
    if there != home:
        raise RemoteAgentError(
            f"The card of remote agent '{name}' sends requests to {there}, and its credentials "
            f"are for {home or 'no address'} only; if {there} is right, name it in the "
            "definition: as the host of agent_card_url, or as url in agent_card_json"
        )


def inline_card(name: str, text: str) -> Json:
    """Parse the card in a definition.

    Raises:
        RemoteAgentError: it is not JSON.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise RemoteAgentError(
            f"Failed to parse inline agent card JSON for agent '{name}': {error}"
        ) from error


def checked_card(raw: Json) -> JsonObject:
    """Return the card.

    Raises:
        RemoteAgentError: it is not an object.
    """
    if not isinstance(raw, dict):
        raise RemoteAgentError("Agent card is missing.")
    return raw


def checked_url(url: str) -> str:
    """Return `url`.

    Raises:
        RemoteAgentError: it is invalid or has credentials, which the message omits.
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
    """Return the card's first supported interface, in the newest version of its binding.

    Raises:
        RemoteAgentError: no interface is supported.
    """
    offered = _offered(card)
    for binding in dict.fromkeys(each.binding for each in offered):
        if binding not in _BINDINGS:
            continue
        of_binding = [each for each in offered if each.binding == binding]
        current = [each for each in of_binding if not each.legacy]
        # As upstream, a later interface replaces an earlier one of its binding.
        chosen = (current or of_binding)[-1]
        checked_url(chosen.url)
        return chosen
    known = f"No compatible transport found, available transports: {','.join(_BINDINGS)}"
    if any(each.binding == _GRPC for each in offered):
        known += ". The card offers GRPC alone, which is not supported here"
    raise RemoteAgentError(known)


def _offered(card: Mapping[str, Any]) -> list[CardInterface]:
    """Return all interfaces of the card, the preferred one first."""
    given = card.get("protocolVersion")
    version = given if isinstance(given, str) and given else None
    main = {"url": card.get("url"), "transport": card.get("preferredTransport") or "JSONRPC"}
    old = [
        _read(item, version or _LEGACY) for item in (main, *_items(card, "additionalInterfaces"))
    ]
    # The card's own version is of the old spelling, but may be the only one.
    default = version or (_LEGACY if card.get("url") else _CURRENT)
    new = [_read(item, default) for item in _items(card, "supportedInterfaces")]
    if isinstance(card.get("additionalInterfaces"), list):
        # As upstream, the old spelling has all interfaces of the old protocol.
        new = [each for each in new if each is not None and not each.legacy]
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
