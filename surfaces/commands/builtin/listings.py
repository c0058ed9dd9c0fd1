"""`/tools` and `/policies`: what the session has.

Source: `packages/cli` `ui/commands/toolsCommand.ts`, `policiesCommand.ts`, `ui/components/views`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.policy.rules import PolicyRule
from services.state import ApprovalMode
from services.tools.collation import collation_key
from services.tools.contract import as_server_tool
from surfaces.commands.builtin.words import indented
from surfaces.commands.contract import Argument, CommandContext, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["POLICIES", "TOOLS"]


def _list_tools(context: CommandContext, *, described: bool) -> None:
    own = [tool for tool in context.services.tools.active() if as_server_tool(tool) is None]
    lines = ["Available tools:", ""]
    for tool in sorted(own, key=lambda each: collation_key(each.display_name)):
        lines.append(f"  - {tool.display_name} ({tool.name})")
        if described:
            model = context.services.state.active_model
            lines += indented(str(tool.declaration(model)["description"]))
    context.panel("\n".join(lines if own else [*lines, " No tools available"]))


async def _tools(context: CommandContext) -> None:
    _list_tools(context, described=context.args in {"desc", "descriptions"})


async def _tool_names(context: CommandContext) -> None:
    _list_tools(context, described=False)


async def _tool_descriptions(context: CommandContext) -> None:
    _list_tools(context, described=True)


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
