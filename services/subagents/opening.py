"""Opens the agents of a session: their tool, their registry, and the remote ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from services.message_bus import MessageBus
from services.model.configs import ModelConfigs
from services.policy.engine import PolicyEngine
from services.prompts import Prompts
from services.session import Session
from services.steering import InjectionService
from services.subagents.agent_tool import AgentTool, MeasuredRun
from services.subagents.builtin.cli_help import cli_help
from services.subagents.builtin.codebase_investigator import codebase_investigator
from services.subagents.builtin.generalist import generalist
from services.subagents.child_run import SessionParts
from services.subagents.definition import INVOKE_AGENT, RemoteAgentDefinition
from services.subagents.loader import LoadedAgents
from services.subagents.prompt_section import agents_section
from services.subagents.registry import AgentRegistry
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.invocation import remote_invocation
from services.subagents.subagents import Subagents
from services.tools.base import Invocation
from services.tools.host import ToolHost
from services.tools.internal_docs import GetInternalDocsTool
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["agent_tool", "agents_in_prompt", "open_agents"]


def agents_in_prompt(subagents: Subagents, tools: ToolRegistry) -> str:
    """Return the prompt's section about agents; empty where the model cannot call any."""
    if tools.get(INVOKE_AGENT) is None:
        return ""
    return agents_section(subagents.registry.descriptions())


def agent_tool(
    session: Session,
    subagents: Subagents,
    *,
    host: ToolHost,
    bus: MessageBus,
    steering: InjectionService,
    measured: MeasuredRun | None,
) -> AgentTool:
    """Build the tool that calls agents.

    Args:
        session: The session.
        subagents: Finds agents when the tool is called.
        host: For calls of remote agents.
        bus: Receives the progress of local agents.
        steering: The user's hints.
        measured: Runs each agent under telemetry.
    """

    def remote(definition: RemoteAgentDefinition, inputs: JsonObject) -> Invocation:
        return remote_invocation(
            definition,
            inputs,
            agents=subagents.remote,
            host=host,
            sessions=session.settings.adk.agent_session_subagent_enabled,
        )

    return AgentTool(
        SessionParts(subagents=subagents, ids=session.ids, bus=bus),
        find=lambda name: subagents.registry.definition(name),
        settings=session.settings,
        steering=steering,
        remote=remote,
        measured=measured,
    )


@asynccontextmanager
async def open_agents(
    session: Session,
    subagents: Subagents,
    *,
    host: ToolHost,
    tools: ToolRegistry,
    models: ModelConfigs,
    policy: PolicyEngine,
    prompts: Prompts,
    extensions: Callable[[], Iterable[LoadedAgents]] = tuple,
    asks_remote: bool = True,
) -> AsyncIterator[AgentRegistry]:
    """Load the agents of a session, and close their connections when leaving.

    Args:
        session: The session.
        subagents: Receives the registry.
        host: For a built-in agent's own tool.
        tools: The session's tools.
        models: Receives the agents' model configs.
        policy: Receives the rules for remote agents.
        prompts: Has the main agent's instruction.
        extensions: The agents of each active extension.
        asks_remote: Whether the session has remote agents.
    """
    remote = RemoteAgents(session) if asks_remote else None
    registry = AgentRegistry(
        session,
        models=models,
        policy=policy,
        builtin=(
            codebase_investigator(host.state, models),
            cli_help(lambda: GetInternalDocsTool(host)),
            generalist(host.state, tools.all_names, prompts.headless_instruction),
        ),
        extensions=extensions,
        remote=remote,
    )
    subagents.know(registry, remote)
    try:
        await registry.load()
        yield registry
    finally:
        registry.close()
        if remote is not None:
            await remote.close()
