"""`listening_socket`: a socket on which a surface of this process accepts connections."""

from __future__ import annotations

import socket

__all__ = ["listening_socket"]


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on an address.

    Args:
        host: a name, or an IPv4 or IPv6 address.
        port: the port; 0 lets the system choose one.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)
