"""`adk_runtime`: a stock agent of Google's Agent Development Kit, as `adk run` takes it.

    stock = adk_runtime("shop.agent:root_agent", tools={"order": {…}})

The agent runs on ADK's own `Runner` with its services in memory. Its model's requests reach the
model of the services. This package imports ADK only when such a runtime is checked or opened.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from adapters.adk.events import ADK_EVENTS
from adapters.agent import Begin, Shows, traits_of
from adapters.events import EventTable, Row
from adapters.runtime import IN_PROCESS, AgentRuntime, OpenedConversation
from parity import own_name
from runtimes.adk.quiet import import_quietly
from services.bundle import Services
from services.wire import JsonObject

__all__ = ["ADK_EVENTS", "adk_runtime"]

_CONVERSATION: Final = "adapters.adk.conversation"
_WARM: Final = "adapters.adk.warm"


def adk_runtime(
    agent: str | Any,
    *,
    streaming: bool = False,
    tools: Mapping[str, JsonObject] | None = None,
    table: EventTable | Mapping[type | str, Row] = ADK_EVENTS,
    begin: Begin | None = None,
    shows: Mapping[str, Shows] | None = None,
    words: str = "adk agent",
    workspace: bool = False,
    confinable: bool = True,
    pieces: bool = False,
) -> AgentRuntime:
    """Make a runtime of an ADK agent.

    Args:
        agent: `module:root_agent`, where the name may also be that of an `App`; or the object.
        streaming: Whether the model's answers are streamed (`StreamingMode.SSE`). `adk run` does
            not stream.
        tools: See `agent_runtime`, as for the other arguments.
        table: What the runner yields → events; a mapping extends `ADK_EVENTS`.
        begin: Called before a conversation, for what its tools need: a new database, for example.
            It may leave in `session.state` what the functions of custom channels read.
        shows: The custom channels that it has.
        words: Whose prompts it uses. ADK adds sentences of its own to an agent's instruction.
        workspace: Whether it works in the session's folder.
        confinable: Whether it reads no file but its code, connects to nothing and starts nothing.
        pieces: Whether each piece of text is an event of its own.
    """
    named = isinstance(agent, str)

    def prepared() -> Any:
        return import_quietly(_CONVERSATION).resolved(agent)

    @asynccontextmanager
    async def conversations(services: Services) -> AsyncIterator[OpenedConversation]:
        found = prepared()
        module = importlib.import_module(own_name(_CONVERSATION))
        opened = module.open_conversation(services, found, begin, shows or {}, streaming=streaming)
        async with opened as conversation:
            yield conversation

    return AgentRuntime(
        conversations,
        traits=traits_of(
            tools=tools,
            words=words,
            workspace=workspace,
            shows=shows,
            confinable=confinable,
            channels=IN_PROCESS,
        ),
        table=ADK_EVENTS.extended(table),
        pieces=pieces,
        prepare=prepared,
        modules=(own_name(_WARM), *([agent.partition(":")[0]] if named else [])),
    )
