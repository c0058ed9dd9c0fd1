"""Opening and closing the servers of a session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from services.background import BackgroundTasks
from services.browser import open_browser
from services.interaction.questions import SignInQuestion, SignInSubject
from services.mcp.config import command_server, server_configs
from services.mcp.context import McpContext, Registries
from services.mcp.diagnostics import McpDiagnostics
from services.mcp.enablement import ServerEnablement
from services.mcp.manager import McpManager
from services.mcp.progress import McpProgress
from services.mcp.sign_in import SignIn, SignInSeam
from services.mcp.tokens import TokenStore, tokens_path
from services.mcp.toolbox import McpToolbox
from services.session import Session
from services.state import UserFeedback
from services.tools.registry import ToolRegistry

__all__ = ["open_mcp"]


def _no_warnings(server: str, tools: Sequence[str]) -> Sequence[str]:
    return ()


def _unheard(progress: McpProgress) -> None:
    """Drop progress: there is no listener."""


@asynccontextmanager
async def open_mcp(
    session: Session,
    *,
    trusted: Callable[[], bool] | None = None,
    tasks: BackgroundTasks,
    tools: ToolRegistry,
    version: str,
    on_progress: Callable[[McpProgress], None] = _unheard,
    policy_warnings: Callable[[str, Sequence[str]], Sequence[str]] = _no_warnings,
    sign_in: SignInSeam | None = None,
) -> AsyncIterator[McpManager]:
    """The servers of a session; none is started before `McpManager.start`.

    Leaving ends every server, and waits for the end of its processes.

    Args:
        session: its settings name the servers; processes inherit from its environment.
        trusted: whether the folder is trusted now; `None`: as the settings say.
        tasks: where lists are refreshed.
        tools: where the servers' tools are registered, after all others.
        version: the version that servers receive.
        on_progress: receives the progress of executing calls.
        policy_warnings: warnings about the policy's rules, by server and its tools.
        sign_in: the user, for servers with `oauth.enabled`; `None`: who answers the session's
            questions.

    Raises:
        McpConfigError: a server's configuration is malformed.
    """
    settings, clock = session.settings, session.clock
    configs = {
        **server_configs(settings.mcp_servers),
        **command_server(settings.mcp_server_command),
    }

    def feedback(severity: str, message: str) -> None:
        session.events.emit(UserFeedback(severity=severity, message=message))

    diagnostics = McpDiagnostics(session.events)
    tokens = TokenStore(tokens_path(session.workspace.home), clock, feedback=feedback)
    user = sign_in or _asking(session)
    context = McpContext(
        session=session,
        trusted=trusted or (lambda: settings.folder_trusted),
        tasks=tasks,
        diagnostics=diagnostics,
        tokens=tokens,
        sign_in=None
        if user is None
        else SignIn(
            tokens,
            clock,
            user,
            show=lambda message: feedback("info", message),
            variables=session.environment.variables,
        ),
        version=version,
        on_progress=on_progress,
        policy_warnings=policy_warnings,
        warn=lambda message: feedback("warning", message),
    )
    enablement = ServerEnablement(
        session.workspace.home, report=lambda message: feedback("error", message)
    )
    manager = McpManager(configs, context, Registries(tools=McpToolbox(tools)), enablement)
    try:
        yield manager
    finally:
        await manager.stop()


def _asking(session: Session) -> SignInSeam | None:
    """The user of the session's surface; `None` where it does not answer the question."""
    if not session.interaction.answers(SignInQuestion):
        return None

    async def consent(server: str, prompt: str) -> bool:
        subject = SignInSubject.MCP_SERVER
        return await session.interaction.ask(
            SignInQuestion(subject=subject, name=server, prompt=prompt)
        )

    return SignInSeam(
        consent=consent,
        open_browser=partial(open_browser, session.environment, session.workspace.home),
    )
