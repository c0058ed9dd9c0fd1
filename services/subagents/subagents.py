"""`Subagents`: a session's agents, and how its runtime runs one.

The registry says which agents there are; the runtime, when it is opened, says how it starts a
child. Whoever watches a session hears of every child before it begins.
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
    """The session's runtime has not said how it runs a child."""


class Subagents:
    """Starts the children of one session."""

    def __init__(self, threads: ThreadPaths) -> None:
        self._threads = threads
        self._registry: AgentRegistry | None = None
        self._remote: RemoteAgents | None = None
        self._factory: ChildFactory | None = None
        self._witnesses: list[ChildWitness] = []

    def know(self, registry: AgentRegistry, remote: RemoteAgents | None = None) -> None:
        """Take in which agents there are, and who speaks with remote ones; the session's opener
        does so once.
        """
        self._registry, self._remote = registry, remote

    @property
    def registry(self) -> AgentRegistry:
        """Which agents there are.

        Raises:
            LookupError: nobody has said so.
        """
        if self._registry is None:
            raise LookupError("the session has no agents")
        return self._registry

    @property
    def remote(self) -> RemoteAgents:
        """Who speaks with remote agents.

        Raises:
            LookupError: nobody does.
        """
        if self._remote is None:
            raise LookupError("the session has no remote agents")
        return self._remote

    @property
    def threads(self) -> ThreadPaths:
        """On whose behalf things happen in this session."""
        return self._threads

    def run_on(self, factory: ChildFactory) -> None:
        """From now on children are made by `factory`: the session's runtime says so once."""
        self._factory = factory

    def watch(self, witness: ChildWitness) -> None:
        """Tell `witness` of every child from now on."""
        self._witnesses.append(witness)

    def start(self, request: ChildRequest) -> ChildAgent:
        """Make a child on the session's runtime; nothing of it has happened yet.

        Raises:
            NoRuntimeForChildren: no runtime is open.
        """
        if self._factory is None:
            raise NoRuntimeForChildren("no runtime is open that could run a subagent")
        begun: list[OnActivity] = []

        def tell(activity: SubagentActivity) -> None:
            for told in begun:
                told(activity)
            request.on_activity(activity)

        child = self._factory(replace(request, on_activity=tell))
        begun.append(
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
        """On which thread a child of this request runs."""
        return self._threads.of_call(request.parent_call_id)

    def seen(self, child: StartedChild) -> OnActivity:
        """Tell the witnesses of a child; what it returns tells them of an activity of that child.

        For an engine that starts its children by itself. Call it before the child does anything.
        """
        for witness in self._witnesses:
            witness.child_started(child)

        def tell(activity: SubagentActivity) -> None:
            for witness in self._witnesses:
                witness.child_told(child, activity)

        return tell
