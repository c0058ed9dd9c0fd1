"""The user signs in: OAuth's authorization code with PKCE, by a redirect or by a typed code.

Source: core `code_assist/oauth2.ts` (`authWithWeb`, `authWithUserCode`); RFC 7636, 8252. The
published core (0.61.0) uses PKCE for typed codes only.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from services.clock import Clock
from services.confinement import Refused
from services.model.errors import FatalAuthenticationError
from services.net.callback import CALLBACK_PATH, CallbackError, open_callback
from services.sign_in.endpoints import SCOPES
from services.sign_in.store import AccountStore, StoredAccount
from services.sign_in.token_server import TokenServer

__all__ = ["Login", "LoginSeam", "TypedCode"]

_WAIT_S: Final = 5 * 60.0
_CODE_PAGE: Final = "https://codeassist.google.com/authcode"
"""Google's page that shows the user the code."""
_PORT_VARIABLE: Final = "OAUTH_CALLBACK_PORT"
_STUCK: Final = (
    "Authentication timed out after 5 minutes. The browser tab may have gotten stuck in a loading "
    "state. Please try again or use NO_BROWSER=true for manual authentication."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSeam:
    """What a sign-in needs of the surface."""

    show: Callable[[str], None]
    """Shows the user a message."""
    open_browser: Callable[[str], Awaitable[None]]
    """Opens an address; an `OSError` is no harm, as the user also sees the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedCode:
    """A sign-in that waits for a code. `repr` shows no secret."""

    address: str
    """The page where the user gets the code."""
    verifier: str = field(repr=False)


class Login:
    """Signs the user in, and stores the account.

    Args:
        server: issues the tokens.
        store: receives them.
        clock: stands still while the user is in the browser.
        seam: the user.
        variables: `OAUTH_CALLBACK_PORT` names the port of the redirect.
    """

    def __init__(
        self,
        server: TokenServer,
        store: AccountStore,
        clock: Clock,
        seam: LoginSeam,
        variables: Mapping[str, str],
    ) -> None:
        self._server = server
        self._store = store
        self._clock = clock
        self._seam = seam
        self._variables = variables

    def typed_code(self) -> TypedCode:
        """Begin a sign-in that `finish` ends with the code that the user types.

        Raises:
            FatalAuthenticationError: the environment names no OAuth client.
        """
        verifier = _secret()
        return TypedCode(address=self._address(_CODE_PAGE, verifier, _secret()), verifier=verifier)

    async def finish(self, begun: TypedCode, code: str) -> None:
        """Sign in with a typed code.

        Raises:
            FatalAuthenticationError: the code is not accepted; nothing is stored.
        """
        if not code.strip():
            raise FatalAuthenticationError("Authorization code is required.")
        await self._store_code(code.strip(), begun.verifier, _CODE_PAGE)

    async def in_browser(self) -> None:
        """Sign in with a redirect of the browser to this machine.

        Raises:
            FatalAuthenticationError: it failed; nothing is stored.
            Refused: the session is confined.
        """
        self._server.required_client()
        port = self._port()
        with self._clock.real_work():
            try:
                async with open_callback(port) as callback:
                    redirect = f"http://127.0.0.1:{callback.port}{CALLBACK_PATH}"
                    verifier, state = _secret(), _secret()
                    address = self._address(redirect, verifier, state)
                    callback.expect(state)
                    self._seam.show(
                        "Attempting to open authentication page in your browser.\n"
                        f"Otherwise navigate to:\n\n{address}\n"
                    )
                    await self._open(address)
                    given = await callback.answer(_WAIT_S)
                    await self._store_code(given["code"], verifier, redirect)
            except CallbackError as error:
                timed_out = "timeout" in str(error)
                raise FatalAuthenticationError(_STUCK if timed_out else str(error)) from error
            except Refused:
                raise
            except OSError as error:
                raise FatalAuthenticationError(
                    f"the listener for the browser's answer cannot be opened: {error}; name "
                    f"another port in {_PORT_VARIABLE}"
                ) from error

    async def _open(self, address: str) -> None:
        try:
            await self._seam.open_browser(address)
        except OSError as error:
            self._seam.show(
                f"Failed to open browser with error: {error}\n"
                "Please try running again with NO_BROWSER=true set."
            )

    async def _store_code(self, code: str, verifier: str, redirect: str) -> None:
        tokens = await self._server.exchange(code, verifier, redirect)
        client_id = self._server.required_client().client_id
        self._store.write(StoredAccount(tokens=tokens, client_id=client_id))

    def _address(self, redirect: str, verifier: str, state: str) -> str:
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "client_id": self._server.required_client().client_id,
            "redirect_uri": redirect,
            "response_type": "code",
            "access_type": "offline",
            "scope": " ".join(SCOPES),
            "code_challenge_method": "S256",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "state": state,
        }
        return f"{self._server.endpoints.authorize}?{urlencode(query)}"

    def _port(self) -> int:
        named = self._variables.get(_PORT_VARIABLE)
        if not named:
            return 0
        if not named.isascii() or not named.isdigit() or not 0 < int(named) < 65536:
            raise FatalAuthenticationError(f'Invalid value for {_PORT_VARIABLE}: "{named}"')
        return int(named)


def _secret() -> str:
    """A verifier or a state. An attacker who knew it could end the sign-in in the user's place."""
    return secrets.token_urlsafe(48)
