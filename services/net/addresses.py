"""Origins, the addresses that may receive credentials, and the look-up of names."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from services.confinement import may_connect
from services.net.errors import AddressRefused

__all__ = ["is_encrypted_or_local", "origin", "require_encrypted_or_local", "resolved"]

_PORTS: Final = {"http": 80, "https": 443}


def origin(url: str) -> str:
    """`scheme://host` or `scheme://host:port` of `url`, without a default port.

    httpx parses the address, as it is httpx that connects to it: two names of one host
    (upper case, Unicode) give one origin.

    Raises:
        AddressRefused: `url` is not the address of a host.
    """
    import httpx  # it takes long to import, and most sessions ask for no origin

    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = httpx.URL("")
    host = parsed.raw_host.decode("ascii")
    if not parsed.scheme or not host:
        raise AddressRefused("the address has no host; write it as https://HOST/PATH")
    name = f"[{host}]" if ":" in host else host
    port = "" if parsed.port in (None, _PORTS.get(parsed.scheme)) else f":{parsed.port}"
    return f"{parsed.scheme}://{name}{port}"


def is_encrypted_or_local(url: str) -> bool:
    """Whether a request to `url` is encrypted, or does not leave this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "https":
        return True
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_encrypted_or_local(url: str) -> None:
    """Return if a request to `url` may carry credentials.

    Raises:
        AddressRefused: it may not.
    """
    if not is_encrypted_or_local(url):
        raise AddressRefused(
            f"{origin(url)} is not encrypted, and credentials and prompts are sent over HTTPS "
            "only; use its https:// address, or reach it through a loopback address such as "
            "http://localhost:PORT"
        )


async def resolved(host: str) -> list[str]:
    """The addresses that `host` stands for, each once, in the resolver's order.

    Raises:
        Refused: the session is confined.
        OSError: the name cannot be resolved.
    """
    may_connect(host)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
