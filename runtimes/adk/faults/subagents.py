"""Faults of the ADK runtime in subagents."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import holding
from seeded_faults.wrappers import first, instead, only_when, put, result, returns, then, twice

fault = Faults(Site.ADK, Behaviour.SUBAGENTS)
held_out = Faults(Site.ADK, Behaviour.SUBAGENTS, held_out=True)
_LATE_MS: Final = 5_000


@instead
def _late(stop: Any, self: Any) -> None:
    async def later() -> None:
        await self._child.services.clock.sleep(_LATE_MS)
        stop(self)

    self.__dict__.setdefault("_stopping", []).append(
        asyncio.get_running_loop().create_task(later())
    )


def _parents_tools(declarations: Any) -> Any:
    class Broken(declarations):  # type: ignore[misc]
        def current(self, model: str) -> Any:
            return [{"functionDeclarations": self._toolset._parent.declarations(model)}]

    return Broken


@instead
def _last_chunk_only(see: Any, self: Any, delta: Any) -> Any:
    if type(delta.request).__name__ == "ChildCall":
        if delta.index <= getattr(self, "last_index", -1):
            self.calls.clear()
        self.last_index = delta.index
    return see(self, delta)


subagent_turns_off_by_one_adk = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.__init__",
    then(put("turns", 1)),
    says="An agent's turns are counted from one.",
    origin="a plugin that counts before the callback, not after",
)
subagent_hints_first = fault.wrap(
    "runtimes.adk.plugins.child:SteeringAdkPlugin.before_answers",
    instead(lambda before_answers, self, answers: [*before_answers(self, [])[::-1], *answers]),
    says="Hints come before the completions of the background.",
    origin="two queues joined in the order of their names",
)
subagent_summary_missing = fault.wrap(
    "runtimes.adk.child.termination:ChildTermination._save_summary",
    returns(None),
    says="An agent's session is left without a summary.",
    origin="a recording closed before the result is known",
)
subagent_abort_late_adk = fault.wrap(
    "runtimes.adk.child.session:AdkChild.stop",
    _late,
    says="An abort reaches an agent five seconds later.",
    origin="an abort that waits for the runner",
)
subagent_terminator_ignored_adk = fault.wrap(
    "runtimes.adk.plugins.child:CompleteTaskAdkPlugin.task_completed",
    returns(None),
    says="Complete_task is a tool like any other: the agent goes on.",
    origin="a termination plugin that is not registered for children",
)
subagent_routed_each_turn = fault.wrap(
    "runtimes.adk.child.processors:ChildRouting._step",
    first(put("_child._choice.model", None)),
    says="An agent's automatic model is chosen anew for every turn.",
    origin="a routing processor without a memory",
)
subagent_declares_parents_tools = fault.wrap(
    "runtimes.adk.factory:ChildDeclarations",
    _parents_tools,
    says="An agent's model is offered all of its parent's tools.",
    origin="one tool list for parent and child",
)
subagent_results_untold = fault.wrap(
    "runtimes.adk.child.session:AdkChild.report",
    only_when(lambda self, activity: str(activity.type) != "TOOL_CALL_END"),
    says="Results of an agent's calls are no activity.",
    origin="events of ADK translated one by one, function responses left out",
)
subagent_end_without_words = fault.wrap(
    "runtimes.adk.child.termination:ChildTermination._given_up",
    result(lambda _: ""),
    says="An agent that ends at a limit says nothing of it.",
    origin="an end reason without a message",
)
subagent_asked_on_its_time = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTimeAdkPlugin.waiting",
    returns(None),
    says="An agent's time goes on while a person is asked.",
    origin="a deadline around the runner, which knows nothing of questions",
)
subagent_last_chunks_calls = fault.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", see=_last_chunk_only),
    says="Of an answer's calls only those of its last chunk are run.",
    origin="a final event that is taken for all of them",
)
subagent_told_twice = held_out.wrap(
    "runtimes.adk.child.session:AdkChild.report",
    twice,
    says="An agent's activities are emitted twice.",
    origin="a subscription made in the constructor and at the start",
)
subagent_not_compressed_adk = held_out.wrap(
    "runtimes.adk.child.processors:compress_chat",
    returns(None),
    says="An agent's history is never compressed.",
    origin="a processor list copied without one of them",
)


@fault(
    "runtimes.adk.child.termination:ChildTermination._last_chance",
    origin="migrations that map every end to success",
)
async def subagent_failed_grace_is_success(
    last_chance: Any, self: Any, reason: Any, *args: Any
) -> Any:
    """An agent whose turn of grace failed has reached its goal all the same."""
    ended = await last_chance(self, reason, *args)
    return ended._replace(reason=type(reason)("GOAL"))


@fault(
    "runtimes.adk.plugins.limits:MaxTimeAdkPlugin.__init__",
    origin="a unit lost between a definition and a plugin",
)
def subagent_time_unlimited(init: Any, /, self: Any, *args: Any, **options: Any) -> None:
    """An agent's time is seconds where minutes were meant, or the other way round."""
    init(self, *args, **options)
    self._ms *= 1000


@fault(
    "runtimes.adk.child.termination:ChildTermination._recovered",
    origin="a recovery that runs under the signal that has ended the task",
)
async def subagent_no_grace_out_of_time(recovered: Any, self: Any, reason: Any, *args: Any) -> Any:
    """An agent that is out of time gets no turn of grace."""
    return None if str(reason) == "TIMEOUT" else await recovered(self, reason, *args)


@fault(
    "runtimes.adk.child.session:AdkChild.report", origin="only what the parent shows is translated"
)
def subagent_errors_no_events(report: Any, self: Any, activity: Any) -> None:
    """Errors inside an agent are no events of its stream."""
    if str(activity.type) == "ERROR":
        self._on_activity(activity)
    else:
        report(self, activity)


@held_out(
    "runtimes.adk.child.termination:ChildTermination._recovered",
    origin="a counter moved behind the check",
)
async def subagent_grace_counted(recovered: Any, self: Any, *args: Any) -> Any:
    """The turn of grace has the number of the turn after it."""
    self.max_turns._turns += 1
    return await recovered(self, *args)
