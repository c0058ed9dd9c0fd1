"""Users' definitions of agents: Markdown with front matter, valid and broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.scenarios.chooser import Chooser
from services.wire import Json, JsonObject

__all__ = ["BUILT_IN", "definitions", "overrides"]

BUILT_IN: Final = ("codebase_investigator", "generalist", "cli_help")
"""Agents without a user's definition."""

_NAMES: Final = ("helper", "other", "third")
_TOOLS: Final[tuple[Sequence[str] | None, ...]] = (
    ("read_file", "list_directory"),
    None,
    ("*",),
    (),
    ("read_file", "write_file", "replace", "run_shell_command"),
    ("grep_search", "glob", "google_web_search"),
    ("invoke_agent", "complete_task", "read_file"),
    ("mcp_*", "search_file_content"),
)
_MODELS: Final = ("inherit", "gemini-2.5-pro", "auto", "flash", "gemini-2.5-flash", "own-model")
_BODIES: Final = (
    "You are an agent. Answer the query.",
    "Your query is ${query}, on ${activeModel}.",
    "Line one.\n\n---\n\nLine two.",
    "Ask for ${what} is missing.",
    "",
)
_BROKEN: Final = (
    "no front matter\n",
    "---\nname: broken\n",
    "---\nname: [broken\ndescription: x\n---\nBody.\n",
    "---\nname: Not A Slug\ndescription: x\n---\nBody.\n",
    "---\nname: broken\ndescription: x\ntools:\n  - no_such_tool\n---\nBody.\n",
    "---\nname: broken\ndescription: x\nmax_turns: 0\n---\nBody.\n",
    "---\nname: helper\ndescription: The same name again.\n---\nYou come second.\n",
)


def definitions(choose: Chooser) -> tuple[JsonObject, Sequence[str]]:
    """Files of a home with definitions, and the names of the valid ones."""
    names = _NAMES[: 1 + len([*choose.times("another_agent", 2, 400)])]
    found: JsonObject = {f".gemini/agents/{name}.md": _definition(choose, name) for name in names}
    if choose.chance("broken_agent", 100):
        found[".gemini/agents/zz_broken.md"] = choose.among(_BROKEN)
    return found, names


def overrides(choose: Chooser, names: Sequence[str]) -> JsonObject:
    """The settings' overrides of one agent."""
    changed: Json = choose.among(
        (
            {"runConfig": {"maxTurns": 1}},
            {"enabled": False},
            {"modelConfig": {"model": "gemini-2.5-pro"}},
            {"runConfig": {"maxTimeMinutes": 1}},
        )
    )
    return {choose.among((*names, *BUILT_IN)): changed}


def _definition(choose: Chooser, name: str) -> str:
    lines = ["---", f"name: {name}", f"description: Test agent {name}."]
    if choose.chance("agent_model", 250):
        lines.append(f"model: {choose.among(_MODELS)}")
    if choose.chance("agent_temperature", 100):
        lines.append(f"temperature: {choose.among((0.2, 0, 1.5))}")
    if choose.chance("agent_turns", 350):
        lines.append(f"max_turns: {choose.among((1, 2, 3, 30))}")
    if choose.chance("agent_minutes", 200):
        lines.append(f"timeout_mins: {choose.among((1, 2))}")
    # The plainest agent has the two tools of the corpus' agents.
    tools = _TOOLS[0] if not choose.chance("agent_tools", 400) else choose.among(_TOOLS)
    if tools is not None:
        lines.append("tools:" if tools else "tools: []")
        lines += [f'  - "{tool}"' for tool in tools]
    body = _BODIES[0] if not choose.chance("agent_body", 100) else choose.among(_BODIES)
    return "\n".join([*lines, "---", body, ""])
