"""Warnings about agents that list agents among their tools, which no agent can call.

Upstream does not warn about `invoke_agent`, and reports an agent's name only as an unknown tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.subagents.definition import INVOKE_AGENT, AgentDefinition, LocalAgentDefinition
from services.subagents.loader import AgentLoadError

__all__ = ["warnings_about_calls"]


def warnings_about_calls(
    agents: Iterable[AgentDefinition], failed: Iterable[AgentLoadError]
) -> list[str]:
    """Return a warning for each agent that lists agents among its tools.

    `failed` are files that did not load, perhaps for that reason.
    """
    tools: dict[str, Sequence[str]] = {}
    files: dict[str, str] = {}
    for agent in agents:
        if isinstance(agent, LocalAgentDefinition):
            tools[agent.name] = [tool for tool in agent.tools or () if isinstance(tool, str)]
            files[agent.name] = agent.file or "its definition"
    for error in failed:
        if error.name is not None:
            tools.setdefault(error.name, error.tools)
            files.setdefault(error.name, str(error.path))
    calls = {name: [tool for tool in listed if tool in tools] for name, listed in tools.items()}
    warnings = []
    for name, listed in tools.items():
        named = dict.fromkeys([*(tool for tool in listed if tool == INVOKE_AGENT), *calls[name]])
        if not named:
            continue
        circle = _circle(name, calls)
        warnings.append(
            f"Agent '{name}' lists {', '.join(named)} among its tools ({files[name]})"
            f"{f', which makes a circle: {circle}' if circle else ''}. "
            'Agents cannot call agents. Take this out of "tools"; let the main agent call both.'
        )
    return warnings


def _circle(start: str, calls: Mapping[str, Sequence[str]]) -> str:
    """Return a path from an agent back to itself, or an empty text."""
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        for called in calls[name]:
            if called == start:
                way = [start]
                while name != start:
                    way.append(name)
                    name = came_from[name]
                return " → ".join([start, *reversed(way)])
            if called not in came_from:
                came_from[called] = name
                waiting.append(called)
    return ""
