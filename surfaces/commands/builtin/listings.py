"""`/tools`, `/skills`, `/agents`, `/hooks`, `/policies` and `/extensions`: what the session has.

Source: `packages/cli` `ui/commands/toolsCommand.ts`, `skillsCommand.ts`, `agentsCommand.ts`,
`hooksCommand.ts`, `policiesCommand.ts`, `extensionsCommand.ts`, `ui/components/views`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.policy.rules import PolicyRule
from services.settings import Settings
from services.skills.loader import Skill
from services.state import ApprovalMode
from services.subagents.definition import AgentDefinition, RemoteAgentDefinition
from services.tools.collation import collation_key
from services.tools.contract import as_server_tool
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["AGENTS", "EXTENSIONS", "HOOKS", "POLICIES", "SKILLS", "TOOLS"]


def _indented(text: str, by: str = "    ") -> list[str]:
    return [f"{by}{line}".rstrip() for line in text.splitlines()]


def _list_tools(context: CommandContext, *, described: bool) -> None:
    own = [tool for tool in context.services.tools.active() if as_server_tool(tool) is None]
    lines = ["Available tools:", ""]
    for tool in sorted(own, key=lambda each: collation_key(each.display_name)):
        lines.append(f"  - {tool.display_name} ({tool.name})")
        if described:
            model = context.services.state.active_model
            lines += _indented(str(tool.declaration(model)["description"]))
    context.panel("\n".join(lines if own else [*lines, " No tools available"]))


async def _tools(context: CommandContext) -> None:
    _list_tools(context, described=context.args in {"desc", "descriptions"})


async def _tool_names(context: CommandContext) -> None:
    _list_tools(context, described=False)


async def _tool_descriptions(context: CommandContext) -> None:
    _list_tools(context, described=True)


async def _skills(context: CommandContext) -> None:
    words = {word.removeprefix("--") for word in context.args.split()}
    skills = context.services.skills.all()
    shown = [each for each in skills if "all" in words or not each.is_builtin]
    described = "nodesc" not in words
    sections = [
        _skill_lines(title, [each for each in shown if each.disabled is disabled], described)
        for title, disabled in (("Available Agent Skills:", False), ("Disabled Skills:", True))
    ]
    text = f"\n{'-' * 20}\n".join("\n".join(lines) for lines in sections if lines)
    context.panel(text or "No skills available.")


def _skill_lines(title: str, skills: Sequence[Skill], described: bool) -> list[str]:
    if not skills:
        return []
    lines = [title, ""]
    for skill in sorted(skills, key=lambda each: (each.is_builtin, collation_key(each.name))):
        lines.append(f"  - {skill.name}{' [Built-in]' if skill.is_builtin else ''}")
        if described and skill.description:
            lines += _indented(skill.description, "      ")
    return lines


async def _reload_skills(context: CommandContext) -> Result:
    services = context.services
    before = {skill.name for skill in services.skills.skills}
    services.skills.reload()
    if context.reload is not None:
        await context.reload()
    after = {skill.name for skill in services.skills.skills}
    changes = [
        f"{len(names)} {verb} skill{'' if len(names) == 1 else 's'}"
        for names, verb in ((after - before, "newly available"), (before - after, "removed"))
        if names
    ]
    said = "Agent skills reloaded successfully."
    return Item(kind=ItemKind.INFO, text=f"{said} {' and '.join(changes)}." if changes else said)


async def _agents(context: CommandContext) -> None:
    agents = context.services.subagents.registry.definitions()
    remote = [each for each in agents if isinstance(each, RemoteAgentDefinition)]
    local = [each for each in agents if not isinstance(each, RemoteAgentDefinition)]
    sections = [
        "\n".join(_agent_lines(title, of_kind))
        for title, of_kind in (("Local Agents", local), ("Remote Agents", remote))
        if of_kind
    ]
    context.panel("\n\n".join(sections) or "No agents available.")


def _agent_lines(title: str, agents: Iterable[AgentDefinition]) -> Iterable[str]:
    yield title
    yield ""
    for agent in agents:
        name = agent.name if agent.shown_name != agent.name else ""
        yield f"  - {agent.shown_name}{f' ({name})' if name else ''}"
        yield from _indented(agent.description)


async def _reload_agents(context: CommandContext) -> Result:
    registry = context.services.subagents.registry
    context.info("Reloading agent registry...")
    await registry.reload()
    return Item(kind=ItemKind.INFO, text="Agents reloaded successfully.")


async def _hooks(context: CommandContext) -> None:
    lines = hook_lines(context.services.settings)
    context.panel("\n".join(["Configured Hooks", "", *lines]) if lines else "No hooks configured.")


def hook_lines(settings: Settings) -> list[str]:
    """The hooks of each event, with what limits them."""
    lines: list[str] = []
    for event in dict.fromkeys(each.event for each in settings.hooks):
        lines.append(f"{event} :")
        for definition in (each for each in settings.hooks if each.event == event):
            for hook in definition.hooks:
                off = not settings.enable_hooks or hook.shown_name in settings.disabled_hooks
                facts = [
                    f"Command: {hook.command}",
                    f"Matcher: {definition.matcher}" if definition.matcher else "",
                    "Sequential" if definition.sequential else "",
                    f"Timeout: {hook.timeout_ms / 1000:g}s",
                ]
                state = "disabled" if off else "enabled"
                lines.append(f"  {hook.shown_name} [{state}]")
                lines.append("    " + " | ".join(fact for fact in facts if fact))
    return lines


async def _policies(context: CommandContext) -> Result:
    rules = context.services.policy.rules
    if not rules:
        return Item(kind=ItemKind.INFO, text="No active policies.")
    normal = _of_mode(rules, ApprovalMode.DEFAULT)
    sections = {
        "Normal Mode Policies": normal,
        "Auto Edit Mode Policies (combined with normal mode policies)": _further(
            rules, ApprovalMode.AUTO_EDIT, normal
        ),
        "Yolo Mode Policies (combined with normal mode policies)": _further(
            rules, ApprovalMode.YOLO, normal
        ),
        "Plan Mode Policies (combined with normal mode policies)": _further(
            rules, ApprovalMode.PLAN, normal
        ),
    }
    texts = [
        f"### {title}\n"
        + ("\n".join(map(_rule_line, enumerate(found, 1))) or "_No policies._")
        + "\n"
        for title, found in sections.items()
    ]
    text = "**Active Policies**\n\n" + "".join(texts)
    return Item(kind=ItemKind.INFO, text=text, markdown=True)


def _of_mode(rules: Iterable[PolicyRule], mode: ApprovalMode) -> list[PolicyRule]:
    return [rule for rule in rules if not rule.modes or mode in rule.modes]


def _further(
    rules: Iterable[PolicyRule], mode: ApprovalMode, normal: Sequence[PolicyRule]
) -> list[PolicyRule]:
    known = set(map(id, normal))
    return [rule for rule in _of_mode(rules, mode) if id(rule) not in known]


def _rule_line(numbered: tuple[int, PolicyRule]) -> str:
    number, rule = numbered
    tool = "all tools" if rule.tool_name == "*" else f"tool: `{rule.tool_name}`"
    pattern = f" (args match: `{rule.args_pattern.source}`)" if rule.args_pattern else ""
    source = f" [Source: {rule.source}]" if rule.source else ""
    priority = f" [Priority: {rule.priority:g}]"
    return f"{number}. **{rule.decision.upper()}** {tool}{pattern}{priority}{source}"


async def _extensions(context: CommandContext) -> Result:
    if context.args:
        raise CommandError(
            f"Unknown subcommand of /extensions: {context.args.split()[0]}. Only list is built."
        )
    names = [f"- {name} ({folder})" for name, folder in context.session.extensions]
    return Item(kind=ItemKind.INFO, text="\n".join(names) or "No extensions installed.")


TOOLS: Final = SlashCommand(
    name="tools",
    description="List available tools. Use /tools desc to include descriptions.",
    arguments=(Argument(name="desc", description="Include the descriptions"),),
    action=_tools,
    subcommands=(
        SlashCommand(
            name="list",
            description="List available tools.",
            runs_at_once=True,
            action=_tool_names,
        ),
        SlashCommand(
            name="desc",
            aliases=("descriptions",),
            description="List available tools with descriptions.",
            runs_at_once=True,
            action=_tool_descriptions,
        ),
    ),
)
_OF_SKILLS: Final = (
    Argument(name="nodesc", description="Leave the descriptions out"),
    Argument(name="all", description="Include the built-in skills"),
)
SKILLS: Final = SlashCommand(
    name="skills",
    description="List or reload agent skills. Usage: /skills [list | reload]",
    arguments=_OF_SKILLS,
    action=_skills,
    subcommands=(
        SlashCommand(
            name="list",
            description="List available agent skills. Usage: /skills list [nodesc] [all]",
            arguments=_OF_SKILLS,
            action=_skills,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reload the list of discovered skills. Usage: /skills reload",
            runs_at_once=True,
            action=_reload_skills,
        ),
    ),
)
AGENTS: Final = SlashCommand(
    name="agents",
    description="Manage agents",
    subcommands=(
        SlashCommand(
            name="list",
            description="List available local and remote agents",
            runs_at_once=True,
            action=_agents,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reload the agent registry",
            runs_at_once=True,
            action=_reload_agents,
        ),
    ),
    action=_agents,
)
_HOOKS_LIST: Final = SlashCommand(
    name="panel",
    aliases=("list", "show"),
    description="Display all registered hooks with their status",
    runs_at_once=True,
    action=_hooks,
)
HOOKS: Final = SlashCommand(
    name="hooks", description="Manage hooks", subcommands=(_HOOKS_LIST,), action=_hooks
)
POLICIES: Final = SlashCommand(
    name="policies",
    description="Manage policies",
    subcommands=(
        SlashCommand(
            name="list",
            description="List all active policies grouped by mode",
            runs_at_once=True,
            action=_policies,
        ),
    ),
)
EXTENSIONS: Final = SlashCommand(
    name="extensions",
    description="Manage extensions",
    action=_extensions,
    subcommands=(
        SlashCommand(
            name="list",
            description="List active extensions",
            runs_at_once=True,
            action=_extensions,
        ),
    ),
)
