"""Opening an address in the user's browser.

Source: core `utils/secure-browser-launcher.ts`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from services.child_start import GroupLeader, start_child
from services.environment import Environment

__all__ = ["can_open_browser", "open_browser"]

_DETACHED = '"$1" "$2" >/dev/null 2>&1 </dev/null &'
"""The browser goes on when this program ends."""


class _Shell(GroupLeader):
    """The shell that starts the browser, and ends at once."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        """The shell has ended and its pipes are closed."""
        self._child.close()
        if not self.ended.done():
            self.ended.set_result(None)


def can_open_browser(environment: Environment) -> bool:
    """Whether there is a desktop, and the user has not forbidden it."""
    variables = environment.variables
    if variables.get("BROWSER") == "www-browser" or variables.get("NO_BROWSER"):
        return False
    if variables.get("CI") or variables.get("DEBIAN_FRONTEND") == "noninteractive":
        return False
    if environment.platform.startswith("linux"):
        return any(variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "MIR_SOCKET"))
    return not variables.get("SSH_CONNECTION")


async def open_browser(environment: Environment, folder: Path, address: str) -> None:
    """Open `address`, if there is a desktop; the user sees the address in any case.

    The address is an argument, never a part of a command line.

    Args:
        environment: the machine.
        folder: the working folder of the program that opens it.
        address: an `http` or `https` address.

    Raises:
        Refused: the session is confined.
        OSError: the program cannot be started.
        ValueError: it is no such address.
    """
    if urlsplit(address).scheme not in ("http", "https") or not address.isprintable():
        raise ValueError("not an http or https address")
    if not can_open_browser(environment):
        return

    async def end(child: _Shell) -> None:
        await child.ended

    opener = "open" if environment.platform == "darwin" else "xdg-open"
    words = ("/bin/sh", "-c", _DETACHED, "sh", opener, address)
    variables = environment.child_variables
    child = await start_child(
        _Shell, *words, folder=folder, environment=variables, end=end, asked=opener
    )
    await child.ended
