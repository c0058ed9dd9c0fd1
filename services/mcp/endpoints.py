"""URLs that a token may be sent to: encrypted, and outside of private networks.

Source: core `mcp/oauth-utils.ts` (`validateOAuthEndpointUrl`), `utils/fetch.ts`.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import SplitResult, urlsplit

from services.net.addresses import resolved
from services.tools.web_addresses import is_private_address

__all__ = ["OAuthSecurityError", "is_loopback_url", "validated_endpoint"]

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class OAuthSecurityError(Exception):
    """A URL that no token may be sent to."""


def is_loopback_url(url: str) -> bool:
    """True for a URL on this machine."""
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


async def validated_endpoint(url: str, *, allow_loopback: bool) -> str:
    """Return `url` after a check that includes a look-up of its name.

    Raises:
        OAuthSecurityError: it may not be used; the message says why.
    """
    url = url.strip()
    parts = _parsed(url)
    host = parts.hostname or ""
    loopback = host in _LOOPBACK
    if parts.scheme == "http" and not (allow_loopback and loopback):
        raise OAuthSecurityError(
            f'Insecure HTTP OAuth endpoint "{url}" is not allowed. OAuth endpoints must use HTTPS '
            "unless connecting to localhost."
        )
    if loopback:
        if not allow_loopback:
            raise OAuthSecurityError(
                f'Loopback OAuth endpoint "{url}" is not allowed for remote MCP servers.'
            )
        return url
    if _is_private(host):
        raise OAuthSecurityError(
            f'OAuth endpoint "{url}" points to private or reserved IP address which is blocked.'
        )
    try:
        found = await resolved(host)
    except OSError as error:
        raise OAuthSecurityError(
            f'DNS lookup failed for OAuth endpoint host "{host}": {error.strerror or error}'
        ) from error
    for address in found:
        if _is_private(address):
            raise OAuthSecurityError(
                f'OAuth endpoint "{url}" resolves to private network address "{address}" '
                "which is blocked."
            )
    return url


def _parsed(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise OAuthSecurityError(f'Invalid OAuth endpoint URL "{url}": {error}') from error
    if parts.scheme not in ("http", "https"):
        raise OAuthSecurityError(
            f'Invalid OAuth endpoint protocol "{parts.scheme}:". Only HTTPS (and HTTP for local '
            "development) is supported."
        )
    return parts


def _is_private(host: str) -> bool:
    """Whether the core refuses it, or Python's newer list of reserved ranges has it."""
    if is_private_address(host):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
