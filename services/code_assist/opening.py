"""Opens Code Assist for one session.

Source: core `code_assist/codeAssist.ts` (`createCodeAssistContentGenerator`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from services.clock import Clock
from services.code_assist.generator import CodeAssistContentGenerator
from services.code_assist.server import CodeAssistServer, service_address
from services.code_assist.setup import project_of, set_up_user
from services.environment import Environment
from services.interaction.interaction import Interaction
from services.model.auth import AuthConfig
from services.model.errors import (
    FatalAuthenticationError,
    ModelError,
    ValidationRequiredError,
    error_message,
)
from services.sign_in.opening import find_account

__all__ = ["open_code_assist"]


@asynccontextmanager
async def open_code_assist(
    auth: AuthConfig,
    *,
    session_id: str,
    environment: Environment,
    home: Path,
    clock: Clock,
    interaction: Interaction,
    warn: Callable[[str], None],
) -> AsyncIterator[CodeAssistContentGenerator]:
    """Find the account, set it up, and yield its models; leaving closes the connections.

    Args:
        auth: the way to sign in, one of `GOOGLE_ACCOUNTS`.
        session_id: sent with each request.
        environment: names the account, the project and the server's address.
        home: the user's home folder.
        clock: decides which tokens have expired.
        interaction: asks the user to verify the account.
        warn: receives the problem of a stored sign-in that cannot be read.

    Raises:
        FatalAuthenticationError: there is no account, it cannot be used, or the server refuses or
            cannot be reached.
    """
    variables = environment.variables
    address, project = service_address(variables), project_of(variables)
    account = await find_account(auth.type, variables, home, clock, warn)
    server = CodeAssistServer(account, address, auth.headers, clock)
    try:
        try:
            user = await set_up_user(server, project, interaction, clock)
        except FatalAuthenticationError:
            raise
        except ModelError as error:
            raise FatalAuthenticationError(_failure(error)) from error
        yield CodeAssistContentGenerator(server, user, session_id)
    finally:
        await server.aclose()


def _failure(error: ModelError) -> str:
    link = error.validation_link if isinstance(error, ValidationRequiredError) else None
    mend = "" if link is None else f"\nVerify the account at {link}, and try again."
    return f"Failed to sign in. Message: {error_message(error)}{mend}"
