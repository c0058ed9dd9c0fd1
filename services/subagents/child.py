"""The seam between the tool that invokes an agent and the runtime that runs it.

A runtime, when it is opened, says how it starts a child (`Subagents.run_on`); the tool asks for
one and awaits its result. So a child gets its parent's runtime, and services know no runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from services.subagents.activity import OnActivity, SubagentActivity
from services.subagents.definition import AgentOutput, LocalAgentDefinition
from services.wire import JsonObject

__all__ = ["ChildAgent", "ChildFactory", "ChildRequest", "ChildWitness", "StartedChild"]


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

    def stop(self) -> None:
        """What `abort` does, before this returns.

        Whoever invoked the agent shares its signal with it upstream, so the agent sees an abort in
        the very step in which it was made: a call that its model asks for just then is not run.
        """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedChild:
    """A child as those who watch a session see it, before anything of it has happened."""

    thread: str
    """Its path: `T/C`, as `services.threads` has it."""
    agent: str
    """The definition's name."""
    agent_id: str
    session: AgentProtocol | None
    """Where its events are told; `None` where they cannot be seen."""


class ChildWitness(Protocol):
    """Whoever watches a session's children, the harness for one."""

    def child_started(self, child: StartedChild) -> None:
        """A child was made and nothing has happened yet: time to subscribe."""
        ...

    def child_told(self, child: StartedChild, activity: SubagentActivity) -> None:
        """A child tells of its work; whoever asked for the child is told next."""
        ...
