"""`/mcp`: the session's MCP servers.

Source: `packages/cli` `ui/commands/mcpCommand.ts`, `ui/components/views/McpStatus.tsx`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from services.mcp.states import McpServerStatus
from services.tools.contract import Tool, as_server_tool
from services.wire import js_json_pretty
from surfaces.commands.contract import Argument, CommandContext, SlashCommand

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """How much to show of each tool and prompt."""

    described: bool = False
    schemas: bool = False


async def _list(context: CommandContext, detail: _Detail) -> None:
    servers = context.services.servers
    await servers.settled()
    manager = servers.manager
    wanted = context.args.lower()
    configured = () if manager is None else manager.names
    names = [name for name in configured if wanted in name.lower()]
    if manager is None or not names:
        context.panel("No MCP servers configured.")
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
    status = manager.status(name)
    if name in manager.blocked:
        yield f"\U0001f534 {name} - Blocked"
        return
    icon, words = _STATES.get(status, _DISCONNECTED)
    counts = ((len(tools), "tool"), (len(prompts), "prompt"), (len(resources), "resource"))
    parts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    ready = f" ({', '.join(parts)})" if parts and status is McpServerStatus.CONNECTED else ""
    yield f"{icon} {name} - {words}{ready}"
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
    manager = context.services.servers.manager
    context.info("Reloading MCP servers...")
    for name in () if manager is None else manager.names:
        if manager is not None:
            await manager.restart_server(name)
    if context.reload is not None:
        await context.reload()
    await _list(context, _Detail())


async def _complete_server(context: CommandContext, typed: str) -> Sequence[str]:
    manager = context.services.servers.manager
    return [name for name in (manager.names if manager else ()) if name.startswith(typed)]


_SERVER: Final = (Argument(name="server", description="A part of a server's name"),)


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
            name="reload",
            aliases=("refresh",),
            description="Reloads MCP servers",
            runs_at_once=True,
            takes_args=False,
            action=_reload,
        ),
    ),
)
