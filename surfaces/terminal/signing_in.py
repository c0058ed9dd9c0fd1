"""`SigningIn`: the user chooses how to sign in, before a session or in it.

Source: `packages/cli` `ui/auth/useAuth.ts`, `ui/commands/authCommand.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from services.mcp.sealed_file import UnreadableSecrets
from services.model.auth import AuthType
from services.model.errors import FatalAuthenticationError, FatalError
from services.sign_in.api_key import ApiKeyStore
from services.sign_in.opening import token_server
from services.sign_in.store import AccountStore
from surfaces.commands import CommandError
from surfaces.headless.google_sign_in import ensure_account
from surfaces.headless.model import ModelSource, choose_model
from surfaces.headless.preferences import Preferences
from surfaces.headless.sessions import NoSessions, SessionNotFound, find_session
from surfaces.terminal.dialogs.auth import (
    AuthDialog,
    SignedOut,
    WaitingDialog,
    api_key_dialog,
    auth_options,
    signed_out_dialog,
)
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.prepared import Prepared

__all__ = ["SigningIn"]

logger = logging.getLogger(__name__)

_SELECTED: Final = "security.auth.selectedType"
_KEY: Final = "GEMINI_API_KEY"
_DEFAULT: Final = "GEMINI_DEFAULT_AUTH_TYPE"
_WAITING: Final = "Waiting for authentication... (Press Esc to cancel)"
_NO_VERTEX: Final = (
    "When using Vertex AI, you must specify either:\n"
    "• GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION environment variables.\n"
    "• GOOGLE_API_KEY environment variable (if using express mode).\n"
    "Update your environment and try again (no reload needed if using .env)!"
)


class SigningIn:
    """Asks in dialogs, and keeps the choice in the user's settings.

    Args:
        prepared: what the session is opened with.
        preferences: the user's settings.
        host: where the dialogs open.
    """

    def __init__(self, prepared: Prepared, preferences: Preferences, host: DialogHost) -> None:
        self._prepared = prepared
        self._machine = prepared.machine
        self._preferences = preferences
        self._host = host
        self._keys = ApiKeyStore(prepared.machine.workspace.home)

    async def required(self, problem: str | None, leaving: asyncio.Event) -> Prepared | None:
        """Let the user sign in, and return what opens the session; `None`: the user leaves.

        Args:
            problem: why there is a question.
            leaving: set when the user leaves the program.
        """
        choosing = asyncio.create_task(self._choose(problem, required=True), name="sign-in")
        waiting = asyncio.create_task(leaving.wait(), name="leaving")
        try:
            await asyncio.wait({choosing, waiting}, return_when=asyncio.FIRST_COMPLETED)
            source = choosing.result() if choosing.done() else None
        finally:
            for each in (choosing, waiting):
                each.cancel()
            await asyncio.wait({choosing, waiting})
        return None if source is None else await self._again(source)

    async def changed(self) -> Prepared | None:
        """Let the user change how to sign in; `None`: the session goes on as it is."""
        source = await self._choose(None, required=False)
        return None if source is None else await self._again(source)

    async def signed_out(self) -> Prepared | None:
        """Sign the user out, and in again; `None`: the user leaves.

        Raises:
            CommandError: the choice cannot be removed from the settings.
        """
        await self._sign_out()
        if await self._host.ask(signed_out_dialog()) is SignedOut.EXIT:
            return None
        source = await self._choose(None, required=True)
        return None if source is None else await self._again(source)

    async def _again(self, source: ModelSource) -> Prepared:
        """What opens the session again, with the conversation that it has so far."""
        prepared, clock = self._prepared, self._machine.clock
        project = self._machine.workspace.project_temp
        session = prepared.resumed
        with clock.real_work(), suppress(NoSessions, SessionNotFound):
            session = await asyncio.to_thread(find_session, project, prepared.session_id, clock)
        return replace(prepared, source=source, unsigned=None, resumed=session)

    async def _choose(self, problem: str | None, *, required: bool) -> ModelSource | None:
        """Let the user choose until a choice works; `None`: the user keeps what there is."""
        while True:
            kind = await self._host.ask(self._dialog(problem, required=required))
            if kind is None:
                return None
            try:
                source = await self._source(kind)
            except (CommandError, FatalError) as error:
                problem = str(error)
                continue
            if source is not None:
                return source
            problem = None

    async def _sign_out(self) -> None:
        """Forget the Google account and the choice."""
        machine = self._machine
        store = AccountStore(machine.workspace.home, machine.clock, lambda _: None)
        stored = store.read()
        store.clear()
        await self._preferences.save(_SELECTED, None)
        if stored is not None:
            server = token_server(machine.environment.variables, machine.clock)
            await server.revoke(stored.tokens.refresh or stored.tokens.access)

    def _dialog(self, problem: str | None, *, required: bool) -> AuthDialog:
        variables = self._machine.environment.variables
        options = auth_options(variables, self._prepared.plan.enforced_auth)
        wanted = self._preferences.in_force(_SELECTED) or variables.get(_DEFAULT)
        if wanted is None and variables.get(_KEY):
            wanted = AuthType.USE_GEMINI
        kinds: list[str] = [kind for _, kind in options]
        first = kinds.index(wanted) if wanted in kinds else 0
        return AuthDialog(options, first=first, problem=problem, required=required)

    async def _source(self, kind: AuthType) -> ModelSource | None:
        """The source of answers; `None`: the user has gone back.

        Raises:
            CommandError, FatalError: this way does not work.
        """
        variables = dict(self._machine.environment.variables)
        if kind is AuthType.USE_VERTEX_AI:
            _check_vertex(variables)
        if kind is AuthType.USE_GEMINI and not await self._have_key(variables):
            return None
        await self._preferences.save(_SELECTED, kind.value)
        if kind in (AuthType.LOGIN_WITH_GOOGLE, AuthType.COMPUTE_ADC):
            await self._have_account(kind)
        options = self._prepared.options
        return choose_model(
            variables,
            fake=options.fake_responses,
            record=options.record_responses,
            selected=kind.value,
            enforced=self._prepared.plan.enforced_auth,
            strict=options.strict_responses,
            home=self._machine.workspace.home,
        )

    async def _have_key(self, variables: dict[str, str]) -> bool:
        """Ask for the API key, and keep it; `False`: the user has gone back.

        Raises:
            CommandError: the key cannot be kept.
        """
        known = variables.get(_KEY) or self._keys.load() or ""
        key = await self._host.ask(api_key_dialog(known, self._forget_key))
        if key is None:
            return False
        if not key.strip():
            raise CommandError("API key cannot be empty.")
        if key != known:
            try:
                await asyncio.to_thread(self._keys.save, key, self._machine.clock)
            except (OSError, UnreadableSecrets) as error:
                raise CommandError(f"The API key cannot be kept: {error}") from error
        variables[_KEY] = key
        return True

    def _forget_key(self) -> None:
        try:
            self._keys.save("", self._machine.clock)
        except (OSError, UnreadableSecrets) as error:
            logger.warning("the stored API key cannot be removed: %s", error)

    async def _have_account(self, kind: AuthType) -> None:
        """Find the account, or let the user sign in with the browser.

        Raises:
            FatalAuthenticationError: there is none, or the user has cancelled.
        """
        dialog = WaitingDialog(_WAITING)
        asking = asyncio.create_task(self._host.ask(dialog), name="sign-in dialog")
        finding = asyncio.create_task(
            ensure_account(kind, self._machine, dialog.say), name="sign-in"
        )
        try:
            await asyncio.wait({asking, finding}, return_when=asyncio.FIRST_COMPLETED)
            if not finding.done():
                raise FatalAuthenticationError("Authentication cancelled.")
            await finding
        finally:
            for each in (asking, finding):
                each.cancel()
            await asyncio.wait({asking, finding})


def _check_vertex(variables: Mapping[str, str]) -> None:
    """Raise a `CommandError` if the variables for Vertex AI are missing."""
    placed = variables.get("GOOGLE_CLOUD_PROJECT") and variables.get("GOOGLE_CLOUD_LOCATION")
    if not placed and not variables.get("GOOGLE_API_KEY"):
        raise CommandError(_NO_VERTEX)
