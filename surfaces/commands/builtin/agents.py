"""`/agents`: the subagents of the session.

Source: `packages/cli` `ui/commands/agentsCommand.ts`, `ui/components/views/AgentsStatus.tsx`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.settings.agents import read_overrides
from services.settings.declaring import look_up
from services.subagents.definition import AgentDefinition, RemoteAgentDefinition
from services.subagents.registry import AgentRegistry
from services.subagents.reload_result import ReloadResult
from surfaces.commands.builtin.words import indented
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Dialog, Item, ItemKind, OpenDialog, Result
from surfaces.commands.toggles import AGENTS as TOGGLE
from surfaces.commands.toggles import switched_off, switched_on

__all__ = ["AGENTS", "apply_overrides"]

_OVERRIDES: Final = "agents.overrides"


def _info(text: str) -> Item:
    return Item(kind=ItemKind.INFO, text=text)


def _registry(context: CommandContext) -> AgentRegistry:
    return context.services.subagents.registry


async def _list(context: CommandContext) -> None:
    agents = _registry(context).definitions()
    remote = [each for each in agents if isinstance(each, RemoteAgentDefinition)]
    local = [each for each in agents if not isinstance(each, RemoteAgentDefinition)]
    sections = [
        "\n".join(_lines(title, of_kind))
        for title, of_kind in (("Local Agents", local), ("Remote Agents", remote))
        if of_kind
    ]
    context.panel("\n\n".join(sections) or "No agents available.")


def _lines(title: str, agents: Iterable[AgentDefinition]) -> Iterable[str]:
    yield title
    yield ""
    for agent in agents:
        name = agent.name if agent.shown_name != agent.name else ""
        yield f"  - {agent.shown_name}{f' ({name})' if name else ''}"
        yield from indented(agent.description)


async def _reload(context: CommandContext) -> Result:
    context.info("Reloading agent registry...")
    return _info(_summary(await _registry(context).reload()))


def _summary(result: ReloadResult) -> str:
    how = "with errors" if result.errors else "successfully"
    counts = f"{result.local_count} local, {result.remote_count} remote"
    lines = [f"Agents reloaded {how}:", f"- Total: {result.total_loaded} ({counts})"]
    for title, names in (
        ("New", result.new_agents),
        ("Updated", result.updated_agents),
        ("Deleted", result.deleted_agents),
    ):
        lines += [f"- {title}: {', '.join(names)}"] if names else []
    if result.errors:
        lines.append(f"- Errors: {len(result.errors)} encountered during reload")
    return "\n".join([*lines, "", "Run /agents list to see all available agents."])


async def _enable(context: CommandContext) -> Result:
    name = _named(context, "enable")
    known, off = name in _registry(context).names(), name in _disabled(context)
    if known and not off:
        return _info(f"Agent '{name}' is already enabled.")
    if not known and not off:
        raise CommandError(f"Agent '{name}' not found.")
    changed, said = await switched_on(TOGGLE, context.preferences, name)
    return await _applied(context, said, f"Enabling {name}..." if changed else None)


async def _disable(context: CommandContext) -> Result:
    name = _named(context, "disable")
    if name in _disabled(context):
        return _info(f"Agent '{name}' is already disabled.")
    if name not in _registry(context).names():
        raise CommandError(f"Agent '{name}' not found.")
    changed, said = await switched_off(TOGGLE, context.preferences, name)
    return await _applied(context, said, f"Disabling {name}..." if changed else None)


async def _applied(context: CommandContext, said: str, doing: str | None) -> Result:
    if doing is not None:
        context.info(doing)
        await apply_overrides(context)
    return _info(said)


async def apply_overrides(context: CommandContext) -> None:
    """Let the session use the overrides of agents that the settings have now."""
    await _registry(context).override(read_overrides(_overrides(context)))


async def _config(context: CommandContext) -> Result:
    """The dialog's details: `definition`, the agent's definition without overrides."""
    name = _named(context, "config")
    definition = _registry(context).discovered(name)
    if definition is None:
        raise CommandError(f"Agent '{name}' not found.")

    async def saved() -> None:
        await apply_overrides(context)

    details = {"definition": definition, "saved": saved}
    return OpenDialog(dialog=Dialog.AGENT_CONFIG, details=details)


def _named(context: CommandContext, verb: str) -> str:
    if not context.args:
        raise CommandError(f"Usage: /agents {verb} <agent-name>")
    return context.args


def _overrides(context: CommandContext) -> Any:
    preferences = context.session.preferences
    document = context.session.settings if preferences is None else preferences.document
    return look_up(document, _OVERRIDES)[1] or {}


def _disabled(context: CommandContext) -> list[str]:
    found = read_overrides(_overrides(context))
    return [name for name, each in found.items() if each.enabled is False]


async def _complete_disabled(context: CommandContext, typed: str) -> Sequence[str]:
    return [name for name in _disabled(context) if name.startswith(typed)]


async def _complete_enabled(context: CommandContext, typed: str) -> Sequence[str]:
    return [name for name in _registry(context).names() if name.startswith(typed)]


async def _complete_any(context: CommandContext, typed: str) -> Sequence[str]:
    return [name for name in _registry(context).discovered_names() if name.startswith(typed)]


_NAME: Final = (Argument(name="name", description="An agent's name", required=True),)
AGENTS: Final = SlashCommand(
    name="agents",
    description="Manage agents",
    action=_list,
    subcommands=(
        SlashCommand(
            name="list",
            description="List available local and remote agents",
            runs_at_once=True,
            action=_list,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reload the agent registry",
            action=_reload,
        ),
        SlashCommand(
            name="enable",
            description="Enable a disabled agent",
            arguments=_NAME,
            action=_enable,
            complete=_complete_disabled,
        ),
        SlashCommand(
            name="disable",
            description="Disable an enabled agent",
            arguments=_NAME,
            action=_disable,
            complete=_complete_enabled,
        ),
        SlashCommand(
            name="config",
            description="Configure an agent",
            arguments=_NAME,
            action=_config,
            complete=_complete_any,
            needs=Dialog.AGENT_CONFIG,
        ),
    ),
)
