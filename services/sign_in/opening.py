"""Finds the account of a session.

Source: core `code_assist/oauth2.ts` (`initOauthClient`), which tries the same sources in this
order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.model.auth import AuthType
from services.model.errors import FatalAuthenticationError
from services.sign_in.accounts import (
    Account,
    FixedAccount,
    KeyFileAccount,
    MetadataAccount,
    UserAccount,
)
from services.sign_in.endpoints import SCOPES, GoogleEndpoints, OAuthClient
from services.sign_in.store import AccountStore
from services.sign_in.token_server import TokenServer

__all__ = ["NotSignedIn", "find_account", "token_server"]

logger = logging.getLogger(__name__)

_TOKEN: Final = "GOOGLE_CLOUD_ACCESS_TOKEN"  # noqa: S105 - the name of a variable
_FILE: Final = "GOOGLE_APPLICATION_CREDENTIALS"


class NotSignedIn(FatalAuthenticationError):
    """No source has an account."""


def token_server(variables: Mapping[str, str], clock: Clock) -> TokenServer:
    """The authorization server and the OAuth client that the environment names.

    Raises:
        FatalAuthenticationError: the server's address may not be used.
    """
    return TokenServer(GoogleEndpoints.of(variables), OAuthClient.of(variables), clock)


async def find_account(
    kind: AuthType,
    variables: Mapping[str, str],
    home: Path,
    clock: Clock,
    warn: Callable[[str], None],
) -> Account:
    """The first account that works: of the environment, of an earlier sign-in, of the machine.

    Args:
        kind: the machine's own account counts for `COMPUTE_ADC` only.
        variables: the environment.
        home: the user's home folder.
        clock: decides which tokens have expired.
        warn: receives the problem of a file that cannot be read.

    Raises:
        NotSignedIn: there is none, and the user can sign in.
        FatalAuthenticationError: there is one that does not work; the message says why.
        Refused: the session is confined.
    """
    if variables.get("GOOGLE_GENAI_USE_GCA") and variables.get(_TOKEN):
        return FixedAccount(variables[_TOKEN], _TOKEN)
    problem: FatalAuthenticationError | None = None
    store = AccountStore(home, clock, warn)
    stored = store.read()
    if stored is not None:
        user = UserAccount(stored, token_server(variables, clock), store, clock)
        try:
            await user.check()
            return user
        except FatalAuthenticationError as error:
            logger.debug("the stored sign-in is not used: %s", error)
            problem = error
    if variables.get(_FILE):
        named = KeyFileAccount(Path(variables[_FILE]), SCOPES, clock)
        await named.token()
        return named
    if kind is AuthType.COMPUTE_ADC:
        machine = MetadataAccount(variables, clock)
        await machine.token()
        return machine
    raise problem or NotSignedIn(
        "There is no Google sign-in yet: run `parity auth login`, or set GEMINI_API_KEY"
    )
