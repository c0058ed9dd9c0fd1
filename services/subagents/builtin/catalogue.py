"""All built-in agents of a session, in the order in which they are registered.

Source: core `agents/registry.ts` (`loadBuiltInAgents`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from services.model.configs import ModelConfigs
from services.prompts import Prompts
from services.subagents.builtin.cli_help import cli_help
from services.subagents.builtin.codebase_investigator import codebase_investigator
from services.subagents.builtin.generalist import generalist
from services.subagents.builtin.sources import BuiltInAgent
from services.tools.host import ToolHost
from services.tools.internal_docs import GetInternalDocsTool

__all__ = ["builtin_agents"]


def builtin_agents(
    *,
    host: ToolHost,
    models: ModelConfigs,
    prompts: Prompts,
    tool_names: Callable[[], Sequence[str]],
) -> tuple[BuiltInAgent, ...]:
    """The agents.

    Args:
        host: of the tool that is an agent's own.
        models: says which flash model is the preview.
        prompts: has the main agent's instruction.
        tool_names: the session's tools.
    """
    return (
        codebase_investigator(host.state, models),
        cli_help(lambda: GetInternalDocsTool(host)),
        generalist(host.state, tool_names, prompts.headless_instruction),
    )
