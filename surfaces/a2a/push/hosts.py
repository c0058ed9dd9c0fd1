"""`CallbackHosts`: which addresses a client may have the server call.

Source: A2A, "Push Notification Security" (protection against server-side request forgery).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import httpx

from services.net.addresses import is_encrypted_or_local, resolved
from services.net.errors import AddressRefused
from services.tools.web_addresses import is_private_address
from surfaces.a2a.wire import invalid_params

__all__ = ["HOSTS_VARIABLE", "CallbackHosts", "CallbackRefused"]

HOSTS_VARIABLE: Final = "PARITY_A2A_CALLBACK_HOSTS"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class CallbackRefused(Exception):
    """An address may not be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackHosts:
    """The hosts that may be called."""

    listed: frozenset[str] | None
    """Their names; `*.example.com` is any name below `example.com`. `None`: any public host."""
    own: bool
    """Whether callers on this machine may have this machine called."""
    look_up: Callable[[str], Awaitable[list[str]]] = resolved
    """The addresses of a name; raises `OSError`."""

    @classmethod
    def of(cls, variables: Mapping[str, str], *, own: bool) -> CallbackHosts:
        """As `PARITY_A2A_CALLBACK_HOSTS` says: names between commas; unset: any public host."""
        text = variables.get(HOSTS_VARIABLE)
        if text is None:
            return cls(listed=None, own=own)
        names = (name.strip().lower() for name in text.split(","))
        return cls(listed=frozenset(name for name in names if name), own=own)

    def check_url(self, url: str) -> None:
        """Check the address of a configuration, without looking up its name.

        Raises:
            RpcError: it may not be called.
        """
        try:
            self._host_of(url)
        except CallbackRefused as error:
            raise invalid_params(f"pushNotificationConfig.url: {error}") from error

    async def target(self, url: str) -> tuple[httpx.URL, str]:
        """The address to connect to, and the name of the host: the address has been checked.

        Raises:
            CallbackRefused: the host may not be called, or its name is not known.
        """
        host = self._host_of(url)
        parsed = httpx.URL(url)
        if self._is_known(host):
            return parsed, host
        try:
            found = await self.look_up(host)
        except (OSError, UnicodeError) as error:
            raise CallbackRefused(f"the name {host} cannot be resolved") from error
        for address in found:
            if is_private_address(address):
                raise CallbackRefused(f"{host} has the private address {address}")
        if not found:
            raise CallbackRefused(f"the name {host} cannot be resolved")
        return parsed.copy_with(host=found[0]), host

    def _is_known(self, host: str) -> bool:
        """Whether the user has allowed the host, whatever its address is."""
        return self._is_listed(host) or (self.own and host in _LOOPBACK)

    def _is_listed(self, host: str) -> bool:
        if self.listed is None:
            return False
        return host in self.listed or any(
            name.startswith("*.") and host.endswith(name[1:]) for name in self.listed
        )

    def _host_of(self, url: str) -> str:
        """The host of an address that may be called, as far as the address itself says.

        Raises:
            CallbackRefused: it may not.
        """
        try:
            parsed = httpx.URL(url)
            host = parsed.host.lower()
        except (httpx.InvalidURL, ValueError) as error:
            raise CallbackRefused("this is no address") from error
        if parsed.scheme not in ("http", "https") or not host:
            raise CallbackRefused("write an address as https://HOST/PATH")
        if parsed.userinfo:
            raise CallbackRefused("write credentials into authentication, not into the address")
        if self._is_known(host):
            self._check_encrypted(url)
            return host
        if self.listed is not None:
            raise CallbackRefused(f"{host} is not among the hosts of {HOSTS_VARIABLE}")
        if is_private_address(host):
            raise CallbackRefused(
                f"{host} is no public host; add it to {HOSTS_VARIABLE} where the server starts"
            )
        self._check_encrypted(url)
        return host

    @staticmethod
    def _check_encrypted(url: str) -> None:
        try:
            encrypted = is_encrypted_or_local(url)
        except AddressRefused as error:
            raise CallbackRefused(str(error)) from error
        if not encrypted:
            raise CallbackRefused("callbacks to another machine need https://")
