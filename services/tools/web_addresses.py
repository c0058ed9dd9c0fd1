"""Which addresses lie outside the public internet: local, private and reserved ones.

Source: core `utils/fetch.ts`; the ranges of npm `ipaddr.js` 1.9.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

__all__ = ["is_internal_name", "is_private_address"]

_INTERNAL: Final = (".localhost", ".local", ".internal")
_V4_RANGES: Final = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 "
    "224.0.0.0/4 240.0.0.0/4"
)
_V6_RANGES: Final = (
    "::/128 ::1/128 ::ffff:0:0:0/96 64:ff9b::/96 2001::/32 2001:db8::/32 2002::/16 fc00::/7 "
    "fe80::/10 ff00::/8"
)
_V4: Final = tuple(map(IPv4Network, _V4_RANGES.split()))
_V6: Final = tuple(map(IPv6Network, _V6_RANGES.split()))


def is_internal_name(host: str) -> bool:
    """Whether `host` is a name that never means a place on the public internet."""
    name = host.lower()
    return name in ("localhost", "127.0.0.1") or name.endswith(_INTERNAL)


def is_private_address(host: str) -> bool:
    """Whether `host`, perhaps in brackets, is an address outside the public internet.

    What is no address at all is not.
    """
    text = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if is_internal_name(text):
        return True
    address = _address(text)
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        if inner is None:
            return any(address in network for network in _V6)
        address = inner
    return address is not None and any(address in network for network in _V4)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    for kind in (IPv4Address, IPv6Address):
        try:
            return kind(text)
        except AddressValueError:
            continue
    return None
