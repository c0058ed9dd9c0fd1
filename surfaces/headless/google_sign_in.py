"""Google login from the command line and from an editor.

Source: core `code_assist/oauth2.ts` (`initOauthClient`, `clearCachedCredentialFile`). The published
core (0.61.0) deletes the tokens of a sign-in without revoking them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TextIO

from services.browser import open_browser
from services.model.auth import AuthType
from services.model.errors import FatalAuthenticationError
from services.sign_in.login import Login, LoginSeam
from services.sign_in.opening import find_account, token_server
from services.sign_in.store import AccountStore
from surfaces.headless.machine import Machine
from surfaces.headless.streams import Streams

__all__ = ["ensure_account", "log_in", "log_out"]

_ATTEMPTS: Final = 2
_NO_TERMINAL: Final = (
    "Manual authorization is required but the current session is non-interactive. Run `parity auth "
    "login` in a terminal, provide a GEMINI_API_KEY, or ensure Application Default Credentials are "
    "configured."
)


def log_in(*, by_code: bool, stdin: TextIO, out: TextIO, err: TextIO) -> None:
    """Sign in to a Google account, and store it.

    Args:
        by_code: whether the user types the code that a page shows. `NO_BROWSER` does the same.
        stdin: where the user types it.
        out: for the result.
        err: for the address and problems.

    Raises:
        FatalAuthenticationError: the sign-in failed; nothing is stored.
    """
    machine, streams = Machine.here(), Streams(out, err)
    login = _login(machine, streams.report)
    if by_code or machine.environment.variables.get("NO_BROWSER"):
        _log_in_by_code(login, stdin, streams)
    else:
        asyncio.run(login.in_browser())
    streams.write("Signed in with Google.\n")


def log_out(*, out: TextIO, err: TextIO) -> None:
    """Revoke the stored account's tokens, and remove them.

    Raises:
        FatalAuthenticationError: they could not be revoked, or not be removed. Those that could
            not be revoked are removed.
    """
    machine, streams = Machine.here(), Streams(out, err)
    store = AccountStore(machine.workspace.home, machine.clock, streams.report)
    stored = store.read()
    store.clear()
    if stored is None:
        streams.write("There is no Google sign-in.\n")
        return
    server = token_server(machine.environment.variables, machine.clock)
    asyncio.run(server.revoke(stored.tokens.refresh or stored.tokens.access))
    streams.write("Signed out of Google.\n")


async def ensure_account(kind: AuthType, machine: Machine, show: Callable[[str], None]) -> None:
    """Find the account, or let the user sign in with the browser.

    Args:
        kind: one of `GOOGLE_ACCOUNTS`; only `LOGIN_WITH_GOOGLE` lets the user sign in.
        machine: its environment and home.
        show: gets the address and problems.

    Raises:
        FatalAuthenticationError: there is no account.
        Refused: the session is confined.
    """
    variables, home = machine.environment.variables, machine.workspace.home
    try:
        await find_account(kind, variables, home, machine.clock, show)
    except FatalAuthenticationError:
        if kind is not AuthType.LOGIN_WITH_GOOGLE:
            raise
        login = _login(machine, show)
        if variables.get("NO_BROWSER"):
            raise FatalAuthenticationError(_NO_TERMINAL) from None
        await login.in_browser()


def _login(machine: Machine, show: Callable[[str], None]) -> Login:
    variables, home, clock = machine.environment.variables, machine.workspace.home, machine.clock
    return Login(
        token_server(variables, clock),
        AccountStore(home, clock, show),
        clock,
        LoginSeam(show=show, open_browser=partial(open_browser, machine.environment, home)),
        variables,
    )


def _log_in_by_code(login: Login, stdin: TextIO, streams: Streams) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        begun = login.typed_code()
        streams.report(
            "Please visit the following URL to authorize the application:\n\n"
            f"{begun.address}\n\nEnter the authorization code: "
        )
        try:
            # Read outside the loop, so that Ctrl-C ends the wait.
            code = stdin.readline()
            asyncio.run(login.finish(begun, code))
            return
        except FatalAuthenticationError as error:
            problem = f"Failed to authenticate with user code: {error}"
            if attempt == _ATTEMPTS:
                raise FatalAuthenticationError(problem) from error
            streams.report(f"{problem} Retrying...")
