"""`Subagents`: a session's agents, and how its runtime runs one.

The registry says which agents there are; the runtime, when it is opened, says how it starts a
child. Whoever watches a session hears of every child before it begins.
"""

from __future__ import annotations

from services.subagents.child import ChildAgent, ChildFactory, ChildRequest, ChildWitness
from services.threads import ThreadPaths

__all__ = ["NoRuntimeForChildren", "Subagents"]


class NoRuntimeForChildren(RuntimeError):
    """The session's runtime has not said how it runs a child."""


class Subagents:
    """Starts the children of one session."""

    def __init__(self, threads: ThreadPaths) -> None:
        self._threads = threads
        self._factory: ChildFactory | None = None
        self._witnesses: list[ChildWitness] = []

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
        child = self._factory(request)
        thread = self._threads.of_call(request.parent_call_id)
        for witness in self._witnesses:
            witness.child_started(child, request, thread)
        return child
