"""The seam between the tool that invokes an agent and the runtime that runs it.

A runtime, when it is opened, says how it starts a child (`Subagents.run_on`); the tool asks for
one and awaits its result. So a child gets its parent's runtime, and services know no runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from services.subagents.activity import OnActivity
from services.subagents.definition import AgentOutput, LocalAgentDefinition
from services.wire import JsonObject

__all__ = ["ChildAgent", "ChildFactory", "ChildRequest", "ChildWitness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRequest:
    """What a child is started with; everything else it has from its parent's services."""

    definition: LocalAgentDefinition
    parent_call_id: str
    """The call of `invoke_agent` in whose execution the child runs."""
    on_activity: OnActivity
    """Told of each activity before any event is made of it."""


class ChildAgent(AgentProtocol, Protocol):
    """A child's session: an agent whose `send` takes inputs, and which has a result.

    `send(UpdateSend(config))` buffers inputs and returns no stream id; `send(MessageSend)` starts
    the one stream, the message's text (if any) being the input `query`. Source: core
    `agents/local-subagent-protocol.ts`.
    """

    @property
    def agent_id(self) -> str:
        """Its id, which is its session's and its recording's too."""
        ...

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs` as they are (what the direct invocation does)."""
        ...

    async def result(self) -> AgentOutput:
        """Wait for the stream's end and return its output; raises what the run raised.

        Once the child is aborted: `AgentOutput(result="", terminate_reason=ABORTED)`, or what the
        run returned by itself. Never returns while anything of the child's still runs.
        """
        ...


ChildFactory = Callable[[ChildRequest], ChildAgent]
"""Makes a child; nothing happens before it is sent something.

Raises:
    Exception: whatever is wrong with the definition; the tool tells the model.
"""


class ChildWitness(Protocol):
    """Whoever watches a session's children, the harness for one."""

    def child_started(self, child: ChildAgent, request: ChildRequest, thread: str) -> None:
        """A child was made on `thread` and nothing has happened yet: time to subscribe."""
        ...
