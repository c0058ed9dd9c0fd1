"""The seam between the tool that invokes an agent and the runtime that runs it.

A runtime registers its factory of children when it opens (`Subagents.run_on`); the tool makes a
child and awaits its result. So services import no runtime.
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
    """The request for a child; its other parts are those of its parent's services."""

    definition: LocalAgentDefinition
    parent_call_id: str
    """The call of `invoke_agent` in whose execution the child runs."""
    on_activity: OnActivity
    """Called with each activity, before its event is made."""


class ChildAgent(AgentProtocol, Protocol):
    """A child's session: an agent that takes inputs and has a result.

    `send(UpdateSend(config))` buffers inputs and returns no stream id; `send(MessageSend)` starts
    the only stream, with the message's text as the input `query`. Source: core
    `agents/local-subagent-protocol.ts`.
    """

    @property
    def agent_id(self) -> str:
        """Its id, also of its session and its recording."""
        ...

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs`, as the direct invocation does."""
        ...

    def stop(self) -> None:
        """Abort before returning.

        Upstream, parent and agent share a signal, so that an abort also prevents a call that the
        agent's model makes in the same step.
        """
        ...

    async def result(self) -> AgentOutput:
        """Wait until nothing of the child runs; return its output or raise its error.

        After an abort: `AgentOutput(result="", terminate_reason=ABORTED)`, or the run's own output.
        """
        ...


ChildFactory = Callable[[ChildRequest], ChildAgent]
"""Makes a child, which does nothing before a send.

Raises:
    Exception: the definition is invalid; the tool reports it to the model.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedChild:
    """A child as observers of a session see it, before it does anything."""

    thread: str
    """Its path `T/C` of `services.threads`."""
    agent: str
    """The definition's name."""
    agent_id: str
    session: AgentProtocol | None
    """The session that emits its events; `None` where they are not visible."""


class ChildWitness(Protocol):
    """Observes the children of a session."""

    def child_started(self, child: StartedChild) -> None:
        """A child was made and has done nothing yet: subscribe here."""
        ...

    def child_activity(self, child: StartedChild, activity: SubagentActivity) -> None:
        """A child reported an activity; its invocation receives it next."""
        ...
