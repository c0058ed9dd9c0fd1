"""`Entrance`: where the server listens, and who may call it."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from services.model.errors import FatalInputError
from surfaces.a2a.responses import json_response

__all__ = ["LOOPBACK", "Access", "Entrance", "TlsFiles"]

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names of this machine, for itself."""
_TOKEN: Final = "PARITY_A2A_TOKEN"  # noqa: S105 - the variable's name
_CERTIFICATE: Final = "PARITY_A2A_TLS_CERT"
_KEY: Final = "PARITY_A2A_TLS_KEY"
_CLIENT_AUTHORITIES: Final = "PARITY_A2A_TLS_CLIENT_CA"
_URL: Final = "PARITY_A2A_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """The files in PEM that TLS needs."""

    certificate: str
    key: str
    client_authorities: str | None
    """Who signs the certificates of clients; `None`: clients need none."""

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> TlsFiles | None:
        """As the variables say; `None`: no TLS.

        Raises:
            FatalInputError: a file is missing, or cannot be used.
        """
        named = [variables.get(name) or None for name in (_CERTIFICATE, _KEY, _CLIENT_AUTHORITIES)]
        certificate, key, client_authorities = named
        if certificate is None or key is None:
            if any(named):
                raise FatalInputError(f"Error: TLS needs {_CERTIFICATE} and {_KEY}; set both")
            return None
        files = cls(certificate=certificate, key=key, client_authorities=client_authorities)
        files._check()
        return files

    def _check(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
            if self.client_authorities is not None:
                context.load_verify_locations(self.client_authorities)
        except (OSError, ValueError) as error:
            raise FatalInputError(
                f"Error: the files of {_CERTIFICATE}, {_KEY} and {_CLIENT_AUTHORITIES} cannot be "
                f"used: {error}; write paths of files in PEM"
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """Where the server listens, and what callers need."""

    host: str
    token: str | None
    tls: TlsFiles | None
    public_url: str | None
    """Where clients reach the server, if that is another address."""

    @classmethod
    def of(cls, host: str, variables: Mapping[str, str]) -> Entrance:
        """As the command line and the variables say.

        Raises:
            FatalInputError: other machines could call without proof of who they are.
        """
        tls = TlsFiles.of(variables)
        token = variables.get(_TOKEN) or None
        proven = token is not None or (tls is not None and tls.client_authorities is not None)
        if host not in LOOPBACK and not proven:
            raise FatalInputError(
                f"Error: --host {host} lets other machines call the server; set {_TOKEN} to a "
                f"secret that callers send as a bearer token, or {_CLIENT_AUTHORITIES} to the "
                "authority that signs the certificates of clients"
            )
        return cls(host=host, token=token, tls=tls, public_url=variables.get(_URL) or None)

    @property
    def own(self) -> bool:
        """Whether only this machine can call."""
        return self.host in LOOPBACK

    @property
    def schemes(self) -> frozenset[str]:
        """How callers prove who they are, for the agent card."""
        needs_certificate = self.tls is not None and self.tls.client_authorities is not None
        asked = {"bearer": self.token is not None, "mtls": needs_certificate}
        return frozenset(name for name, is_asked in asked.items() if is_asked)

    @property
    def warning(self) -> str | None:
        """What the user should know about the address."""
        if self.own or self.tls is not None:
            return None
        return (
            f"Warning: the token and all tasks travel unencrypted; set {_CERTIFICATE} and {_KEY}, "
            "or let a proxy encrypt them"
        )

    def url(self, port: int) -> str:
        """The server's address for clients, with a slash at its end."""
        if self.public_url is not None:
            return self.public_url.rstrip("/") + "/"
        name = "localhost" if self.own else self.host
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/"

    def access(self) -> Access:
        """Who may call."""
        return Access(own=self.own, token=self.token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may call the server."""

    own: bool
    """Whether only this machine can call."""
    token: str | None
    """What `Authorization: Bearer` must hold; `None`: any caller may call."""

    def refusal(self, request: Request, *, is_open: bool) -> Response | None:
        """The response to a request that may not be served; `None` if it may.

        A page in a browser is refused: it can reach a server on the user's machine, and the browser
        would send the user's certificate along.

        Args:
            request: the request.
            is_open: whether callers need no token for the path.
        """
        host = request.headers.get("host", "")
        if self.own and not _is_loopback(host):
            return _error(403, "The header Host names another server.")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_own(urlsplit(origin).netloc, host):
            return _error(403, f"Requests from {origin} are refused.")
        if self.token is None or is_open:
            return None
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        refused = _error(401, "The server needs a token: write Authorization: Bearer <token>.")
        refused.headers["www-authenticate"] = "Bearer"
        return refused

    def _is_own(self, origin: str, host: str) -> bool:
        return _is_loopback(origin) if self.own else origin.lower() == host.lower()


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(f"//{address}").hostname in LOOPBACK
    except ValueError:
        return False


def _error(status: int, message: str) -> Response:
    return json_response({"error": message}, status=status)
