"""`remote_invocation`: one call of a remote agent, for the tool that invokes agents."""

from __future__ import annotations

from services.subagents.definition import DEFAULT_QUERY, RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.direct_invocation import RemoteAgentInvocation
from services.subagents.remote.session_invocation import RemoteSessionInvocation
from services.tools.base import Invocation
from services.tools.contract import InvalidToolParams
from services.tools.host import ToolHost
from services.wire import JsonObject

__all__ = ["remote_invocation"]


def remote_invocation(
    definition: RemoteAgentDefinition,
    inputs: JsonObject,
    *,
    agents: RemoteAgents,
    host: ToolHost,
    sessions: bool,
) -> Invocation:
    """One call of a remote agent.

    Args:
        definition: the agent, as it is registered.
        inputs: mapped to the agent's input schema; only `query` is read.
        agents: the session's remote agents.
        host: what tools may use.
        sessions: whether the call goes through a session of the agent's own
            (`experimental.adk.agentSessionSubagentEnabled`).

    Raises:
        InvalidToolParams: `query` is not a string.
    """
    query = inputs.get("query", DEFAULT_QUERY)
    # Nothing there reads as nothing given, as an absent key does.
    query = DEFAULT_QUERY if query is None else query
    if not isinstance(query, str):
        raise InvalidToolParams(
            f"Remote agent '{definition.name}' requires a string 'query' input."
        )
    kind = RemoteSessionInvocation if sessions else RemoteAgentInvocation
    return kind(definition, query, agents, host)
