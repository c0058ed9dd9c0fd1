"""`/mcp`: the session's MCP servers.

Source: `packages/cli` `ui/commands/mcpCommand.ts`, `ui/components/views/McpStatus.tsx`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from services.mcp.enablement import server_id
from services.mcp.states import McpServerStatus, SignedIn
from services.tools.contract import Tool, as_server_tool
from services.wire import js_json_pretty
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

if TYPE_CHECKING:
    # The client library is slow to import, and most sessions have no servers.
    from services.mcp.manager import McpManager

__all__ = ["MCP"]

_MOST_RESOURCES: Final = 10
_STATES: Final = {
    McpServerStatus.CONNECTED: ("\U0001f7e2", "Ready"),
    McpServerStatus.CONNECTING: ("\U0001f504", "Starting... (first startup may take longer)"),
}
_DISCONNECTED: Final = ("\U0001f534", "Disconnected")
_SIGNED_IN: Final = {
    SignedIn.NOT_NEEDED: "",
    SignedIn.YES: " (OAuth)",
    SignedIn.EXPIRED: " (OAuth expired)",
    SignedIn.NO: " (OAuth not authenticated)",
}
_SESSION: Final = "--session"
_NONE: Final = (
    "No MCP servers configured.\nPlease view MCP documentation in your browser: "
    "https://goo.gle/gemini-cli-docs-mcp or use the cli /docs command"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """How much to show of each tool and prompt."""

    described: bool = False
    schemas: bool = False


async def _list(context: CommandContext, detail: _Detail) -> None:
    servers = context.services.servers
    await servers.settled()
    manager = _manager(context)
    wanted = context.args.lower()
    configured = () if manager is None else manager.names
    names = [name for name in configured if wanted in name.lower()]
    if manager is None or not names:
        context.panel(_NONE)
        return
    lines = ["Configured MCP servers:"]
    for name in names:
        lines += ["", *_server(context, manager, name, detail)]
    context.panel("\n".join(lines))


def _server(
    context: CommandContext, manager: McpManager, name: str, detail: _Detail
) -> Iterable[str]:
    tools = _tools_of(context, name)
    prompts = manager.main.prompts.of_server(name)
    resources = manager.main.resources.of_server(name)
    config = manager.config(name)
    extension = f" (from {config.extension})" if config and config.extension else ""
    if name in manager.blocked:
        yield f"\U0001f534 {name}{extension} - Blocked"
        return
    counts = ((len(tools), "tool"), (len(prompts), "prompt"), (len(resources), "resource"))
    parts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    connected = manager.status(name) is McpServerStatus.CONNECTED
    ready = f" ({', '.join(parts)})" if parts and connected else ""
    signed_in = _SIGNED_IN[manager.signed_in(name)]
    yield f"{_state(manager, name, extension)}{ready}{signed_in}"
    if name in manager.errors and not manager.enablement.is_off(name):
        yield f"  Error: {manager.errors[name]}"
    if detail.described and config is not None and config.description:
        yield config.description.strip()
    if tools:
        yield "  Tools:"
        for tool in tools:
            yield from _tool(context, tool, detail)
    if prompts:
        yield "  Prompts:"
        for prompt in prompts:
            yield f"  - {prompt.name}"
            yield from _described(str(prompt.wire.get("description") or ""), detail)
    if resources:
        yield "  Resources:"
        for resource in resources[:_MOST_RESOURCES]:
            kind = f" [{resource.mime_type}]" if resource.mime_type else ""
            yield f"  - {resource.name or resource.uri} ({resource.uri}){kind}"
            yield from _described(resource.description or "", detail)
        hidden = len(resources) - _MOST_RESOURCES
        if hidden > 0:
            yield f"    ... {hidden} {'resource' if hidden == 1 else 'resources'} hidden"


def _state(manager: McpManager, name: str, extension: str) -> str:
    if manager.enablement.is_off(name):
        here = " (session)" if manager.enablement.is_off_here(name) else ""
        return f"\u23f8\ufe0f {name}{extension} - Disabled{here}"
    icon, words = _STATES.get(manager.status(name), _DISCONNECTED)
    return f"{icon} {name}{extension} - {words}"


def _manager(context: CommandContext) -> McpManager | None:
    """The session's servers. The user uses them: from now on their problems are reported."""
    manager = context.services.servers.manager
    if manager is not None:
        manager.diagnostics.user_interacted()
    return manager


def _tools_of(context: CommandContext, server: str) -> list[Tool]:
    served = ((tool, as_server_tool(tool)) for tool in context.services.tools.active())
    return [tool for tool, of in served if of is not None and of.server_name == server]


def _tool(context: CommandContext, tool: Tool, detail: _Detail) -> Iterable[str]:
    declared = tool.declaration(context.services.state.active_model)
    yield f"  - {tool.name}"
    yield from _described(str(declared.get("description") or ""), detail)
    schema = declared.get("parametersJsonSchema") or declared.get("parameters")
    if detail.schemas and schema:
        yield "      Parameters:"
        yield from (f"      {line}" for line in js_json_pretty(schema).split("\n"))


def _described(text: str, detail: _Detail) -> Iterable[str]:
    return (f"    {line}" for line in text.strip().splitlines()) if detail.described else ()


async def _reload(context: CommandContext) -> None:
    await _restart(context)
    await _list(context, _Detail())


async def _restart(context: CommandContext) -> None:
    manager = _manager(context)
    context.info("Reloading MCP servers...")
    if manager is not None:
        await manager.restart()
    if context.reload is not None:
        await context.reload()


async def _set_enabled(context: CommandContext, *, on: bool) -> Result:
    verb = "enable" if on else "disable"
    words = context.args.split()
    here = _SESSION in words
    named = next((word for word in words if word != _SESSION), None)
    if named is None:
        raise CommandError(f"Server name required. Usage: /mcp {verb} <server-name> [--session]")
    manager, name = _manager(context), server_id(named)
    if manager is None or name not in map(server_id, manager.names):
        raise CommandError(f"Server '{named}' not found. Use /mcp list to see available servers.")
    if on:
        _refuse_blocked(context, name)
    if here:
        manager.enablement.set_here(name, on=on)
    else:
        manager.enablement.set(name, on=on)
    await _restart(context)
    only = " for this session" if here else ""
    return Item(kind=ItemKind.INFO, text=f"MCP server '{name}' {verb}d{only}.")


def _refuse_blocked(context: CommandContext, name: str) -> None:
    """Raise a `CommandError` for a server that the settings forbid."""
    settings = context.services.settings
    allowed = settings.allowed_mcp_servers
    if allowed and name not in map(server_id, allowed):
        raise CommandError(
            f"Server '{name}' is not in mcp.allowed list. Add it to settings.json mcp.allowed "
            "array to enable."
        )
    if name in map(server_id, settings.blocked_mcp_servers):
        raise CommandError(
            f"Server '{name}' is blocked by mcp.excluded. Remove it from settings.json "
            "mcp.excluded array to enable."
        )


async def _auth(context: CommandContext) -> Result:
    from services.mcp.sign_in import SignInError  # Its libraries are slow to import.

    manager, name = _manager(context), context.args
    if not name:
        return Item(kind=ItemKind.INFO, text=_sign_ins(manager))
    if manager is None or name not in manager.names:
        raise CommandError(f"MCP server '{name}' not found.")
    context.info(f"Starting OAuth authentication for MCP server '{name}'...")
    try:
        await manager.sign_in(name)
    except SignInError as error:
        raise CommandError(f"Failed to authenticate with MCP server '{name}': {error}") from error
    context.info(f"\u2705 Successfully authenticated with MCP server '{name}'!")
    if context.reload is not None:
        await context.reload()
    text = f"Successfully authenticated and reloaded tools for '{name}'"
    return Item(kind=ItemKind.INFO, text=text)


def _sign_ins(manager: McpManager | None) -> str:
    names = [] if manager is None else manager.wanting_sign_in()
    if not names:
        return "No MCP servers configured with OAuth authentication."
    listed = "\n".join(f"  - {name}" for name in names)
    return (
        f"MCP servers with OAuth authentication:\n{listed}\n\n"
        "Use /mcp auth <server-name> to authenticate."
    )


async def _complete_server(context: CommandContext, typed: str) -> Sequence[str]:
    manager = context.services.servers.manager
    return [name for name in (manager.names if manager else ()) if name.startswith(typed)]


_SERVER: Final = (Argument(name="server", description="A part of a server's name"),)
_SWITCHED: Final = (
    Argument(name="server", description="A server's name", required=True),
    Argument(name="session", description="--session: not in the settings"),
)


async def _complete_enablement(context: CommandContext, typed: str, *, off: bool) -> Sequence[str]:
    manager = context.services.servers.manager
    if manager is None:
        return []
    names = (name for name in manager.names if manager.enablement.is_off(name) is off)
    return [name for name in names if name.startswith(typed)]


def _listing(name: str, aliases: tuple[str, ...], further: str, detail: _Detail) -> SlashCommand:
    return SlashCommand(
        name=name,
        aliases=aliases,
        description=f"List configured MCP servers and tools{further}",
        arguments=_SERVER,
        runs_at_once=True,
        action=partial(_list, detail=detail),
        complete=_complete_server,
    )


MCP: Final = SlashCommand(
    name="mcp",
    description="Manage configured Model Context Protocol (MCP) servers",
    arguments=_SERVER,
    action=partial(_list, detail=_Detail()),
    subcommands=(
        _listing("list", ("ls", "nodesc", "nodescription"), "", _Detail()),
        _listing("desc", ("description",), " with descriptions", _Detail(described=True)),
        _listing(
            "schema",
            (),
            " with descriptions and schemas",
            _Detail(described=True, schemas=True),
        ),
        SlashCommand(
            name="auth",
            description="Authenticate with an OAuth-enabled MCP server",
            runs_at_once=True,
            arguments=(Argument(name="server", description="A server's name"),),
            action=_auth,
            complete=_complete_server,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reloads MCP servers",
            runs_at_once=True,
            takes_args=False,
            action=_reload,
        ),
        SlashCommand(
            name="enable",
            description="Enable a disabled MCP server",
            runs_at_once=True,
            arguments=_SWITCHED,
            action=partial(_set_enabled, on=True),
            complete=partial(_complete_enablement, off=True),
        ),
        SlashCommand(
            name="disable",
            description="Disable an MCP server",
            runs_at_once=True,
            arguments=_SWITCHED,
            action=partial(_set_enabled, on=False),
            complete=partial(_complete_enablement, off=False),
        ),
    ),
)
