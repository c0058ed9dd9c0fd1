"""`SignIn`: how the sessions of a connection reach the model.

The client signs in with `authenticate`. Without it, the settings and the environment decide.

Source: `packages/cli` `acp/acpRpcDispatcher.ts` (`authenticate`), `acp/acpSessionManager.ts`
(`newSession`, `initializeSessionConfig`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp.exceptions import RequestError

from services.model.auth import GOOGLE_ACCOUNTS, AuthError, AuthType, auth_from_environment
from services.model.errors import FatalAuthenticationError
from services.wire import JsonObject
from surfaces.headless.model import ModelSource, choose_model
from surfaces.headless.options import HeadlessOptions

if TYPE_CHECKING:
    from surfaces.headless.planning import Plan

__all__ = ["AUTH_METHODS", "SignIn"]

AUTH_METHODS: Final[tuple[JsonObject, ...]] = (
    {
        "id": AuthType.LOGIN_WITH_GOOGLE.value,
        "name": "Log in with Google",
        "description": "Your Google account",
    },
    {
        "id": AuthType.USE_GEMINI.value,
        "name": "Gemini API key",
        "description": "An API key of the Gemini Developer API",
        "_meta": {"api-key": {"provider": "google"}},
    },
    {
        "id": AuthType.USE_VERTEX_AI.value,
        "name": "Vertex AI",
        "description": "Vertex AI, with an API key or a project",
    },
    {
        "id": AuthType.GATEWAY.value,
        "name": "AI API Gateway",
        "description": "A gateway with an address of your own",
        "_meta": {"gateway": {"protocol": "google", "restartRequired": "false"}},
    },
)
_FAILED: Final = -32000
_KEY: Final = "GEMINI_API_KEY"
_NO_KEY: Final = "Gemini API key is missing or not configured."


class SignIn:
    """What the client has said about its way to the model. `repr` shows no secrets."""

    def __init__(self) -> None:
        self._chosen: AuthType | None = None
        self._api_key: str | None = None
        self._base_url: str | None = None
        self._headers: Mapping[str, str] = {}

    async def authenticate(
        self,
        method: str,
        meta: Mapping[str, Any],
        variables: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> AuthType:
        """Take the client's choice for the sessions that open from now on.

        Google login lets the user sign in with the browser, where there is no account yet.

        Args:
            method: the id of one of the ways to sign in.
            meta: the request's `_meta`, with `api-key` or `gateway`.
            variables: the environment.
            warn: gets the messages of a Google login.

        Raises:
            RequestError: there is no such way, or it cannot be used; nothing changes.
        """
        try:
            chosen = AuthType(method)
        except ValueError:
            known = ", ".join(AuthType)
            details = f"methodId is {method!r}; write one of {known}"
            raise RequestError.invalid_params({"details": details}) from None
        tried = SignIn()
        tried._chosen = chosen
        key = meta.get("api-key")
        tried._api_key = key if isinstance(key, str) and key else self._api_key
        tried._base_url, tried._headers = _gateway(meta.get("gateway"))
        try:
            auth_from_environment(tried._completed(variables), chosen)
        except AuthError as error:
            raise RequestError(_FAILED, str(error)) from error
        if chosen is AuthType.USE_GEMINI and not tried._completed(variables).get(_KEY):
            raise RequestError(_FAILED, _NO_KEY)
        if chosen in GOOGLE_ACCOUNTS:
            # They need most of the product, and `initialize` is answered before.
            from surfaces.headless.google_sign_in import ensure_account
            from surfaces.headless.machine import Machine

            try:
                await ensure_account(chosen, Machine.here(), warn)
            except FatalAuthenticationError as error:
                raise RequestError(_FAILED, str(error)) from error
        self.__dict__.update(tried.__dict__)
        return chosen

    def source(
        self, options: HeadlessOptions, plan: Plan, variables: Mapping[str, str]
    ) -> ModelSource:
        """Where a new session gets its answers from.

        Args:
            options: the command line.
            plan: the session's settings; what they select counts before the client's choice.
            variables: the environment.

        Raises:
            RequestError: there is no way to sign in; the client should call `authenticate`.
        """
        known = self._completed(variables)
        if plan.provider is not None:
            return self._checked(options, plan, known, None)
        selected = self._chosen or plan.selected_auth
        if not selected:
            by_gateway = bool(known.get("GOOGLE_GEMINI_BASE_URL"))
            selected = AuthType.GATEWAY if by_gateway else AuthType.USE_GEMINI
        if selected == AuthType.USE_GEMINI and not known.get(_KEY):
            raise RequestError(_FAILED, _NO_KEY)
        source = self._checked(options, plan, known, selected)
        if source.auth is None:
            return source
        headers = {**source.auth.headers, **self._headers}
        return replace(source, auth=replace(source.auth, headers=headers))

    @staticmethod
    def _checked(
        options: HeadlessOptions, plan: Plan, known: Mapping[str, str], selected: str | None
    ) -> ModelSource:
        try:
            return choose_model(
                known,
                fake=options.fake_responses,
                record=options.record_responses,
                selected=selected,
                enforced=plan.enforced_auth,
                provider=plan.provider,
                strict=options.strict_responses,
            )
        except FatalAuthenticationError as error:
            raise RequestError(_FAILED, str(error)) from error

    def _completed(self, variables: Mapping[str, str]) -> dict[str, str]:
        """The environment with what the client has given on top, and the stored API key."""
        given = {_KEY: self._api_key, "GOOGLE_GEMINI_BASE_URL": self._base_url}
        known = {**variables, **{name: value for name, value in given.items() if value}}
        if not known.get(_KEY) and (stored := _stored_key(variables)) is not None:
            known[_KEY] = stored
        return known


def _stored_key(variables: Mapping[str, str]) -> str | None:
    # It needs a cipher, and `initialize` is answered before.
    from services.sign_in.api_key import ApiKeyStore

    home = variables.get("GEMINI_CLI_HOME")
    return ApiKeyStore(Path(home) if home else Path.home()).load()


def _gateway(given: object) -> tuple[str | None, Mapping[str, str]]:
    """The address and the headers of a gateway.

    Raises:
        RequestError: they have another shape.
    """
    if given is None:
        return None, {}
    url = given.get("baseUrl") if isinstance(given, dict) else None
    headers = given.get("headers", {}) if isinstance(given, dict) else None
    well_formed = isinstance(headers, dict) and all(
        isinstance(value, str) for value in headers.values()
    )
    if not isinstance(given, dict) or not well_formed or not isinstance(url, str | None):
        raise RequestError(
            _FAILED,
            'Malformed gateway payload: write {"baseUrl": "https://…", "headers": {"Name": "x"}}',
        )
    return url or None, dict(headers or {})
