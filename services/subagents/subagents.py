"""`Subagents`: a session's agents, and the runtime's factory that runs them.

The session's witnesses observe every child before it begins.
"""

from __future__ import annotations

from dataclasses import replace

from services.subagents.activity import OnActivity, SubagentActivity
from services.subagents.child import (
    ChildAgent,
    ChildFactory,
    ChildRequest,
    ChildWitness,
    StartedChild,
)
from services.subagents.registry import AgentRegistry
from services.subagents.remote.agents import RemoteAgents
from services.threads import ThreadPaths

__all__ = ["NoRuntimeForChildren", "Subagents"]


class NoRuntimeForChildren(RuntimeError):
    """The session's runtime has not registered a factory of children."""


class Subagents:
    """Starts the children of one session."""

    def __init__(self, threads: ThreadPaths) -> None:
        self._threads = threads
        self._registry: AgentRegistry | None = None
        self._remote: RemoteAgents | None = None
        self._factory: ChildFactory | None = None
        self._witnesses: list[ChildWitness] = []

    def know(self, registry: AgentRegistry, remote: RemoteAgents | None = None) -> None:
        """Set the registry and the remote agents, once, when the session opens."""
        self._registry, self._remote = registry, remote

    @property
    def registry(self) -> AgentRegistry:
        """The session's agents.

        Raises:
            LookupError: the registry is not set.
        """
        if self._registry is None:
            raise LookupError("the session has no agents")
        return self._registry

    @property
    def remote(self) -> RemoteAgents:
        """The session's remote agents.

        Raises:
            LookupError: they are not set.
        """
        if self._remote is None:
            raise LookupError("the session has no remote agents")
        return self._remote

    @property
    def threads(self) -> ThreadPaths:
        """The paths of the session's threads."""
        return self._threads

    def run_on(self, factory: ChildFactory) -> None:
        """Set the runtime's factory of children, once."""
        self._factory = factory

    def watch(self, witness: ChildWitness) -> None:
        """Notify `witness` of every child from now on."""
        self._witnesses.append(witness)

    def start(self, request: ChildRequest) -> ChildAgent:
        """Make a child on the session's runtime, which has not started yet.

        Raises:
            NoRuntimeForChildren: no runtime is open.
        """
        if self._factory is None:
            raise NoRuntimeForChildren("no runtime is open that could run a subagent")
        observers: list[OnActivity] = []

        def report(activity: SubagentActivity) -> None:
            for observe in observers:
                observe(activity)
            request.on_activity(activity)

        child = self._factory(replace(request, on_activity=report))
        observers.append(
            self.seen(
                StartedChild(
                    thread=self._threads.child(request.parent_call_id),
                    agent=request.definition.name,
                    agent_id=child.agent_id,
                    session=child,
                )
            )
        )
        return child

    def thread_of(self, request: ChildRequest) -> str:
        """Return the thread of a request's child."""
        return self._threads.of_call(request.parent_call_id)

    def seen(self, child: StartedChild) -> OnActivity:
        """Notify the witnesses of a child; return the function that reports its activities to them.

        A runtime that starts children by itself calls this before a child does anything.
        """
        for witness in self._witnesses:
            witness.child_started(child)

        def report(activity: SubagentActivity) -> None:
            for witness in self._witnesses:
                witness.child_activity(child, activity)

        return report
