"""`AcpAgent`: the methods of the protocol, as the package's router calls them.

Source: `packages/cli` `acp/acpRpcDispatcher.ts`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AuthenticateResponse,
    ClientCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    SetSessionModelResponse,
    SetSessionModeResponse,
)
from pydantic import BaseModel

from parity import own_name
from services.environment import Environment
from services.wire import JsonObject
from surfaces.acp.client import Client
from surfaces.headless.options import HeadlessOptions

if TYPE_CHECKING:
    from surfaces.acp.sessions import Opening, Sessions

__all__ = ["AcpAgent"]

_SESSIONS: Final = own_name("surfaces.acp.sessions")


class AcpAgent:
    """The agent of one connection.

    Sessions need most of the product. It is imported for the first one, so that `initialize` is
    answered at once.
    """

    def __init__(
        self,
        options: HeadlessOptions,
        client: Client,
        version: str,
        warn: Callable[[str], None],
        opening: Opening | None = None,
    ) -> None:
        from surfaces.acp.sign_in import SignIn

        self._options = options
        self._client = client
        self._version = version
        self._warn = warn
        self._opening = opening
        self._sign_in = SignIn()
        self._abilities: tuple[bool, bool] = (False, False)
        self._made: Sessions | None = None

    async def close(self) -> None:
        """End every session."""
        if self._made is not None:
            await self._made.end_all()

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        **_: Any,
    ) -> InitializeResponse:
        """Answer with the version of the protocol and what the agent can do."""
        from surfaces.acp.sign_in import AUTH_METHODS

        files = client_capabilities.fs if client_capabilities is not None else None
        if files is not None:
            self._abilities = bool(files.read_text_file), bool(files.write_text_file)
        return InitializeResponse.model_validate(
            {
                "protocolVersion": PROTOCOL_VERSION,
                "authMethods": list(AUTH_METHODS),
                "agentInfo": {"name": "parity", "title": "parity", "version": self._version},
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                    "mcpCapabilities": {"http": True, "sse": True},
                },
            }
        )

    async def authenticate(self, method_id: str, **meta: Any) -> AuthenticateResponse:
        """Choose how sessions reach the model."""
        variables = Environment.of_this_machine().variables
        await self._sign_in.authenticate(method_id, meta, variables, self._warn)
        return AuthenticateResponse()

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[BaseModel] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Open a session."""
        from surfaces.acp.sessions import Request

        sessions = await self._sessions()
        result = await sessions.new(Request(folder=cwd, servers=_plain(mcp_servers)))
        return NewSessionResponse.model_validate(result)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[BaseModel] | None = None,
        **_: Any,
    ) -> LoadSessionResponse:
        """Open a session of the past, and show it."""
        from surfaces.acp.sessions import Request

        sessions = await self._sessions()
        request = Request(folder=cwd, servers=_plain(mcp_servers))
        return LoadSessionResponse.model_validate(await sessions.load(session_id, request))

    async def prompt(
        self, prompt: Sequence[BaseModel], session_id: str, **_: Any
    ) -> PromptResponse:
        """Answer the user."""
        session = (await self._sessions()).get(session_id)
        return PromptResponse.model_validate(await session.prompt(_plain(prompt)))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """End the prompt that runs."""
        await (await self._sessions()).get(session_id).cancel()

    async def set_session_mode(
        self, mode_id: str, session_id: str, **_: Any
    ) -> SetSessionModeResponse:
        """Change what tools may do without a question."""
        await (await self._sessions()).get(session_id).set_mode(mode_id)
        return SetSessionModeResponse()

    async def set_session_model(
        self, model_id: str, session_id: str, **_: Any
    ) -> SetSessionModelResponse:
        """Use another model."""
        (await self._sessions()).get(session_id).set_model(model_id)
        return SetSessionModelResponse()

    async def _sessions(self) -> Sessions:
        if self._made is None:
            if _SESSIONS not in sys.modules:
                await asyncio.to_thread(import_module, _SESSIONS)
            from surfaces.acp.client_files import FileAbilities
            from surfaces.acp.sessions import Sessions

            if self._made is None:
                self._made = Sessions(
                    self._options, self._client, self._sign_in, self._warn, self._opening
                )
            reads, writes = self._abilities
            self._made.files = FileAbilities(reads=reads, writes=writes)
        return self._made


def _plain(models: Sequence[BaseModel] | None) -> list[JsonObject]:
    """Models of the package as the objects that they were on the wire."""
    dumped = (
        each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in models or ()
    )
    return list(dumped)
