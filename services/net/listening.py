"""`listening_socket`: a socket on which a surface of this process accepts connections."""

from __future__ import annotations

import socket

__all__ = ["listening_socket"]


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on an address. Its connections send each write at once.

    Args:
        host: a name, or an IPv4 or IPv6 address.
        port: the port; 0 lets the system choose one.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    # Connections inherit this. asyncio sets it only where a socket names TCP as its protocol, and
    # `create_server` names none: small events would wait until the client confirms earlier ones.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
