"""Names of tools as policy files write them: which are valid, and which look like a typing error.

Source: core `tools/tool-names.ts` (`isValidToolName`), `policy/toml-loader.ts`
(`validateToolName`, `validateMcpPolicyToolNames`), `utils/tool-utils.ts` (`getToolSuggestion`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from services.edit_distance import edit_distance, nearest_names
from services.policy.rules import MCP_PREFIX, PolicyRule, tool_aliases

__all__ = [
    "BUILT_IN_TOOLS",
    "is_valid_tool_name",
    "mcp_tool_warnings",
    "tool_name_warning",
]

BUILT_IN_TOOLS: Final = (
    "glob",
    "write_todos",
    "write_file",
    "google_web_search",
    "web_fetch",
    "replace",
    "run_shell_command",
    "grep_search",
    "read_many_files",
    "read_file",
    "list_directory",
    "activate_skill",
    "ask_user",
    "tracker_create_task",
    "tracker_update_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_add_dependency",
    "tracker_visualize",
    "get_internal_docs",
    "enter_plan_mode",
    "exit_plan_mode",
    "update_topic",
    "complete_task",
    "invoke_agent",
    "read_mcp_resource",
    "list_mcp_resources",
)
"""Every tool of the product's own, in its order, which decides between equally near names."""

_FARTHEST_SLIP: Final = 3
_SLUG: Final = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE | re.ASCII)


def tool_name_warning(name: str, index: int) -> str | None:
    """The warning about the tool name of the rule with this index (from 0), if any."""
    rule = f"Rule #{index + 1}"
    if "__" in name:
        return (
            f'{rule}: The "__" syntax for MCP tools is strictly deprecated. Please use the '
            "'mcpName = \"...\"' property or the 'mcp_server_tool' format instead."
        )
    if is_valid_tool_name(name):
        return None
    if min(edit_distance(name, known) for known in BUILT_IN_TOOLS) > _FARTHEST_SLIP:
        return None
    return f'{rule}: Unrecognized tool name "{name}".{nearest_names(name, BUILT_IN_TOOLS)}'


def mcp_tool_warnings(
    server: str, discovered: Sequence[str], rules: Iterable[PolicyRule]
) -> list[str]:
    """The warnings about rules for a server's tools, which `discovered` names.

    Call it when a server has connected; each warning is for the user.
    """
    prefix = f"{MCP_PREFIX}{server}_"
    warnings = []
    for rule in rules:
        tool = rule.tool_name.removeprefix(prefix)
        if tool == rule.tool_name or tool == "*" or tool in discovered or not discovered:
            continue
        if min(edit_distance(tool, known) for known in discovered) > _FARTHEST_SLIP:
            continue
        source = f" (from {rule.source})" if rule.source else ""
        warnings.append(
            f'Unrecognized MCP tool "{tool}" for server "{server}"{source}.'
            f"{nearest_names(tool, discovered)}"
        )
    return warnings


def is_valid_tool_name(name: str) -> bool:
    """Whether `name`, wildcards included, is a valid tool name; the tool need not exist."""
    if name == "*" or name.startswith("discovered_tool_"):
        return True
    if not set(BUILT_IN_TOOLS).isdisjoint(tool_aliases(name)):
        return True
    if not name.startswith(MCP_PREFIX):
        return False
    if name == f"{MCP_PREFIX}*":
        return True
    server, _, tool = name.removeprefix(MCP_PREFIX).partition("_")
    if not _SLUG.fullmatch(server) or not tool:
        return False
    return tool == "*" or (bool(tool.strip("_")) and _SLUG.fullmatch(tool) is not None)
