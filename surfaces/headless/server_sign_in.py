"""Signing in to an MCP server from the command line.

Source: `packages/cli` `ui/commands/mcpCommand.ts` (`auth`); core `utils/authConsent.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final, TextIO

from services.browser import open_browser
from services.mcp.config import McpServerConfig, server_configs
from services.mcp.sign_in import SignIn, SignInError, SignInSeam
from services.mcp.tokens import TokenStore, tokens_path
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import plan_run
from surfaces.headless.streams import Streams

__all__ = ["NotSignedIn", "UnknownServer", "sign_in_to_server"]

_QUESTION: Final = (
    "Authentication required for MCP Server: '{}.' Opening authentication page in your browser. "
    "Do you want to continue? [Y/n]: "
)


class UnknownServer(Exception):
    """The settings name no such server, or one without a sign-in."""


class NotSignedIn(Exception):
    """The sign-in failed; the message says why."""


def sign_in_to_server(
    name: str | None,
    options: HeadlessOptions,
    *,
    stdin: TextIO | None,
    out: TextIO,
    err: TextIO,
) -> None:
    """Sign in to a server of the settings and store its tokens; without `name`, list the servers.

    Args:
        name: the server.
        options: which settings count.
        stdin: where the user agrees; `None`: the user has agreed.
        out: for the result.
        err: for the question and the address.

    Raises:
        FatalConfigError, McpConfigError: the settings cannot be used.
        UnknownServer: they name no such server.
        NotSignedIn: the sign-in failed, or the user declined.
    """
    machine, streams = Machine.here(), Streams(out, err)
    workspace, variables = machine.workspace, machine.environment.variables
    plan = plan_run(options, root=workspace.root, home=workspace.home, variables=variables)
    servers = server_configs(plan.settings.mcp_servers)
    if name is None:
        streams.write(_listed(servers))
        return
    config = servers.get(name)
    if config is None:
        known = ", ".join(servers) or "none"
        raise UnknownServer(f"MCP server '{name}' not found; the settings name: {known}")
    if config.endpoint is None:
        raise UnknownServer(f"MCP server '{name}' is a program; it has no address to sign in to")
    if stdin is not None and not _agrees(name, stdin, err):
        raise NotSignedIn("Authentication cancelled by user.")
    streams.report(f"Starting OAuth authentication for MCP server '{name}'...")
    try:
        asyncio.run(_signed_in(name, config, config.endpoint, machine, streams))
    except SignInError as error:
        raise NotSignedIn(f"Failed to authenticate with MCP server '{name}': {error}") from error
    streams.write(f"Successfully authenticated with MCP server '{name}'!\n")


def _listed(servers: Mapping[str, McpServerConfig]) -> str:
    names = [name for name, config in servers.items() if config.oauth.enabled]
    if not names:
        return "No MCP servers configured with OAuth authentication.\n"
    lines = "".join(f"  - {name}\n" for name in names)
    return (
        f"MCP servers with OAuth authentication:\n{lines}\n"
        "Use parity mcp auth <server-name> to authenticate.\n"
    )


def _agrees(name: str, stdin: TextIO, err: TextIO) -> bool:
    err.write(_QUESTION.format(name))
    err.flush()
    answer = stdin.readline()
    # Without an answer (the input is closed) the user has not agreed; an empty line is a yes.
    return answer != "" and answer.strip().lower() in ("y", "")


async def _signed_in(
    name: str, config: McpServerConfig, url: str, machine: Machine, streams: Streams
) -> None:
    async def agreed(server: str, prompt: str) -> bool:
        return True

    def feedback(severity: str, message: str) -> None:
        streams.report(message)

    sign_in = SignIn(
        TokenStore(tokens_path(machine.workspace.home), machine.clock, feedback=feedback),
        machine.clock,
        SignInSeam(
            consent=agreed,
            open_browser=partial(open_browser, machine.environment, machine.workspace.home),
        ),
        show=streams.report,
        variables=machine.environment.variables,
    )
    await sign_in.run(name, url, config.oauth)
