"""Signing in to a server: OAuth's authorization code with PKCE, over a loopback redirect.

The client library discovers the servers' metadata, registers a client, and checks state and
issuer. Each of its requests is sent here, after the check of its address.

Source: core `mcp/oauth-provider.ts` (`authenticate`), `tools/mcp-client.ts`
(`handleAutomaticOAuth`); MCP specification, authorization; RFC 8414, 9207, 9728.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
)
from pydantic import AnyUrl

from services.clock import Clock
from services.confinement import Refused
from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, is_loopback_url, validated_endpoint
from services.mcp.results import PROTOCOL_VERSION
from services.mcp.sign_in_requests import SignInMemory, SignInRequests, first_request
from services.mcp.tokens import TokenStore, expires_at
from services.net.callback import CALLBACK_PATH, CallbackError, CallbackListener, open_callback
from services.net.errors import NetError
from services.wire import JsonObject

__all__ = ["SignIn", "SignInError", "SignInSeam"]

logger = logging.getLogger(__name__)
# At its level for errors the library logs whole answers of token endpoints.
logging.getLogger("mcp.client.auth.oauth2").setLevel(logging.CRITICAL)

_CLIENT_NAME: Final = "Gemini CLI MCP Client"
_WAIT_S: Final = 5 * 60.0
"""How long the user may take in the browser."""
_PORT_VARIABLE: Final = "OAUTH_CALLBACK_PORT"


class SignInError(Exception):
    """The sign-in failed; the message is one sentence for the user, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSeam:
    """What a sign-in needs of the surface."""

    consent: Callable[[str, str], Awaitable[bool]]
    """Asks the user whether the browser may be opened; takes the server's name and the question."""
    open_browser: Callable[[str], Awaitable[None]]
    """Opens an address; an `OSError` is no harm, as the user also sees the address."""


class SignIn:
    """Signs in to servers, and stores their tokens."""

    def __init__(
        self,
        tokens: TokenStore,
        clock: Clock,
        seam: SignInSeam,
        *,
        show: Callable[[str], None],
        variables: Mapping[str, str],
    ) -> None:
        """Build it.

        Args:
            tokens: where tokens go.
            clock: stands still while the user is in the browser.
            seam: the user.
            show: shows the user a message.
            variables: `OAUTH_CALLBACK_PORT` names the listener's port.
        """
        self._tokens = tokens
        self._clock = clock
        self._seam = seam
        self._show = show
        self._variables = variables

    async def run(
        self, server: str, url: str, oauth: OAuthConfig, *, challenge: str | None = None
    ) -> None:
        """Sign in to `server`, and store its tokens.

        Args:
            server: its name.
            url: its endpoint.
            oauth: what the settings say about it.
            challenge: the `WWW-Authenticate` header of its refusal; `None`: it is asked.

        Raises:
            SignInError: it failed, or the user declined. Nothing is stored then.
            Refused: the session is confined.
        """
        with self._clock.real_work():
            try:
                async with open_callback(self._port(oauth)) as callback:
                    await _Attempt(self, server, url, oauth, callback).run(challenge)
            except (SignInError, CallbackError, OAuthSecurityError, NetError) as error:
                raise SignInError(str(error)) from error
            except Refused:
                raise
            except OSError as error:
                raise SignInError(
                    f"the listener for the browser's answer cannot be opened: {error}; name "
                    f"another port in oauth.redirectUri or {_PORT_VARIABLE}"
                ) from error

    def _port(self, oauth: OAuthConfig) -> int:
        """The listener's port: the variable's, the redirect URI's, or 0 for any.

        Raises:
            SignInError: it is no port.
        """
        named = self._variables.get(_PORT_VARIABLE)
        if named:
            if not named.isascii() or not named.isdigit() or not 0 < int(named) < 65536:
                raise SignInError(f'Invalid value for {_PORT_VARIABLE}: "{named}"')
            return int(named)
        try:
            return urlsplit(oauth.redirect_uri or "").port or 0
        except ValueError:
            raise SignInError(
                f'oauth.redirectUri "{oauth.redirect_uri}" is no address; write '
                f"http://localhost:PORT{CALLBACK_PATH}"
            ) from None


class _Attempt:
    """One sign-in."""

    def __init__(
        self,
        owner: SignIn,
        server: str,
        url: str,
        oauth: OAuthConfig,
        callback: CallbackListener,
    ) -> None:
        self._owner = owner
        self._server = server
        self._url = url
        self._oauth = oauth
        self._callback = callback
        redirect = oauth.redirect_uri or f"http://localhost:{callback.port}{CALLBACK_PATH}"
        self._memory = SignInMemory(_configured_client(oauth, redirect))
        self._requests = SignInRequests(url, oauth)
        self._provider = OAuthClientProvider(
            url,
            OAuthClientMetadata(
                client_name=_CLIENT_NAME,
                redirect_uris=[AnyUrl(redirect)],
                token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
                scope=" ".join(oauth.scopes) or None,
            ),
            self._memory,
            redirect_handler=self._authorize,
            callback_handler=self._answered,
        )

    async def run(self, challenge: str | None) -> None:
        """Converse until there is a token, and store it.

        Raises:
            SignInError, CallbackError, OAuthSecurityError, NetError: it failed.
        """
        request = first_request(self._url, PROTOCOL_VERSION)
        async with (
            self._requests.opened(),
            aclosing(self._provider.async_auth_flow(request)) as flow,
        ):
            try:
                response = await self._requests.refused(await anext(flow), challenge)
                while self._memory.tokens is None:
                    following = await flow.asend(response)
                    if self._memory.tokens is None:
                        response = await self._requests.send(following)
            except OAuthFlowError as error:
                raise SignInError(self._requests.sentence(error)) from error
            except StopAsyncIteration:
                raise SignInError("the server refuses the sign-in without a reason") from None
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                raise SignInError(self._requests.unreachable(error)) from error
        problem = self._owner._tokens.keep(self._entry())
        if problem is not None:
            raise SignInError(f"the token cannot be stored: {problem}")

    async def _authorize(self, address: str) -> None:
        """Ask the user, and open the browser."""
        context = self._provider.context
        self._settle_secret()
        address = self._requests.authorization_address(address)
        await validated_endpoint(address, allow_loopback=is_loopback_url(self._url))
        agreed = await self._owner._seam.consent(
            self._server,
            f"Authentication required for MCP Server: '{self._server}.' "
            "Opening authentication page in your browser. ",
        )
        if not agreed:
            raise SignInError("Authentication cancelled by user.")
        if context.client_info is None:
            raise SignInError("the authorization server has registered no client")
        self._callback.expect(dict(parse_qsl(urlsplit(address).query))["state"])
        self._owner._show(
            "→ Opening your browser for OAuth sign-in...\n\n"
            "If the browser does not open, copy and paste this URL into your browser:\n"
            f"{address}"
        )
        try:
            await self._owner._seam.open_browser(address)
        except OSError as error:
            logger.debug("the browser could not be opened: %s", error)

    async def _answered(self) -> AuthorizationCodeResult:
        given = await self._callback.answer(_WAIT_S)
        # Configured endpoints without an issuer give nothing to compare with.
        known = self._oauth.authorization_url is None or self._oauth.issuer is not None
        return AuthorizationCodeResult(
            code=given["code"], state=given["state"], iss=given.get("iss") if known else None
        )

    def _settle_secret(self) -> None:
        """Choose how a configured secret is sent: posted as upstream does, if that is allowed."""
        context = self._provider.context
        if self._oauth.client_secret is None or context.client_info is None:
            return
        metadata = context.oauth_metadata
        allowed = metadata.token_endpoint_auth_methods_supported if metadata is not None else None
        post = allowed is None or "client_secret_post" in allowed
        context.client_info.token_endpoint_auth_method = (
            "client_secret_post" if post else "client_secret_basic"
        )

    def _entry(self) -> JsonObject:
        """The entry of the token store."""
        tokens, client = self._memory.tokens, self._provider.context.client_info
        if tokens is None or client is None:
            raise SignInError("No access token received from token endpoint")
        token: JsonObject = {"accessToken": tokens.access_token, "tokenType": tokens.token_type}
        optional: dict[str, Any] = {
            "refreshToken": tokens.refresh_token,
            "scope": tokens.scope,
            "expiresAt": expires_at(tokens.expires_in, self._owner._clock),
        }
        token.update({key: value for key, value in optional.items() if value is not None})
        entry: JsonObject = {
            "serverName": self._server,
            "token": token,
            "clientId": client.client_id,
            "tokenUrl": self._requests.token_endpoint,
            "mcpServerUrl": self._url,
        }
        if client.client_secret is not None and self._oauth.client_secret is None:
            entry["clientSecret"] = client.client_secret
        if client.client_secret is not None:
            entry["tokenAuthMethod"] = client.token_endpoint_auth_method
        return entry


def _configured_client(oauth: OAuthConfig, redirect: str) -> OAuthClientInformationFull | None:
    if oauth.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=oauth.client_id,
        client_secret=oauth.client_secret,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="none" if oauth.client_secret is None else None,
    )
