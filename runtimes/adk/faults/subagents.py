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
    class Broken(declarations):  # type: ignore[misc]  # the base is a parameter
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


@instead
def _hints_first(before_answers: Any, self: Any, answers: Any) -> Any:
    parts = before_answers(self, answers)
    injected = len(parts) - len(answers)
    return [*parts[:injected][::-1], *parts[injected:]]


subagent_turns_off_by_one_adk = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.__init__",
    then(put("turns", 1)),
    says="A subagent's turns are counted from 1.",
    origin="a plugin that counts before the callback, not after",
)
subagent_hints_first = fault.wrap(
    "runtimes.adk.plugins.steering:SteeringAdkPlugin.before_answers",
    _hints_first,
    says="Hints come before background completions.",
    origin="two queues joined in the order of their names",
)
subagent_summary_missing = fault.wrap(
    "runtimes.adk.child.termination:ChildTermination._save_summary",
    returns(None),
    says="A subagent's session gets no summary.",
    origin="a recording closed before the result is known",
)
subagent_abort_late_adk = fault.wrap(
    "runtimes.adk.child.session:AdkChild.stop",
    _late,
    says="An abort reaches a subagent five seconds late.",
    origin="an abort that waits for the runner",
)
subagent_terminator_ignored_adk = fault.wrap(
    "runtimes.adk.plugins.child:CompleteTaskAdkPlugin.task_completed",
    returns(None),
    says="`complete_task` is an ordinary tool: the subagent continues.",
    origin="a termination plugin that is not registered for children",
)
subagent_routed_each_turn = fault.wrap(
    "runtimes.adk.child.processors:ChildRouting._step",
    first(put("_child._choice.model", None)),
    says="A subagent's automatic model is chosen again for every turn.",
    origin="a routing processor without a memory",
)
subagent_declares_parents_tools = fault.wrap(
    "runtimes.adk.factory:ChildDeclarations",
    _parents_tools,
    says="A subagent's model is offered all tools of its parent.",
    origin="one tool list for parent and child",
)
subagent_results_untold = fault.wrap(
    "runtimes.adk.child.session:AdkChild.report",
    only_when(lambda self, activity: str(activity.type) != "TOOL_CALL_END"),
    says="Results of a subagent's calls are not reported as activity.",
    origin="ADK events translated one by one, without function responses",
)
subagent_end_without_words = fault.wrap(
    "runtimes.adk.child.termination:ChildTermination._given_up",
    result(lambda _: ""),
    says="A subagent that ends at a limit does not report it.",
    origin="an end reason without a message",
)
subagent_asked_on_its_time = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTimeAdkPlugin.waiting",
    returns(None),
    says="A subagent's time limit runs while the user is asked.",
    origin="a deadline around the runner, which does not know of questions",
)
subagent_last_chunks_calls = fault.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", see=_last_chunk_only),
    says="Only the calls of an answer's last chunk are run.",
    origin="a final event taken for the whole answer",
)
subagent_told_twice = held_out.wrap(
    "runtimes.adk.child.session:AdkChild.report",
    twice,
    says="A subagent's activities are emitted twice.",
    origin="a subscription made in the constructor and at the start",
)
subagent_not_compressed_adk = held_out.wrap(
    "runtimes.adk.child.processors:compress_chat",
    returns(None),
    says="A subagent's history is never compressed.",
    origin="a processor list copied without one processor",
)


@fault(
    "runtimes.adk.child.termination:ChildTermination._last_chance",
    origin="migrations that map every end to success",
)
async def subagent_failed_grace_is_success(
    last_chance: Any, self: Any, reason: Any, *args: Any
) -> Any:
    """A subagent whose grace turn failed is reported as successful."""
    ended = await last_chance(self, reason, *args)
    return ended._replace(reason=type(reason)("GOAL"))


@fault(
    "runtimes.adk.plugins.limits:MaxTimeAdkPlugin.__init__",
    origin="a unit lost between a definition and a plugin",
)
def subagent_time_unlimited(init: Any, /, self: Any, *args: Any, **options: Any) -> None:
    """A subagent's time limit is read in seconds instead of minutes, or vice versa."""
    init(self, *args, **options)
    self._ms *= 1000


@fault(
    "runtimes.adk.child.termination:ChildTermination._recovered",
    origin="a recovery that runs under the signal that ended the task",
)
async def subagent_no_grace_out_of_time(recovered: Any, self: Any, reason: Any, *args: Any) -> Any:
    """A subagent that runs out of time gets no grace turn."""
    return None if str(reason) == "TIMEOUT" else await recovered(self, reason, *args)


@fault(
    "runtimes.adk.child.session:AdkChild.report", origin="only what the parent shows is translated"
)
def subagent_errors_no_events(report: Any, self: Any, activity: Any) -> None:
    """Errors inside a subagent are not events of its stream."""
    if str(activity.type) == "ERROR":
        self._on_activity(activity)
    else:
        report(self, activity)


@held_out(
    "runtimes.adk.child.termination:ChildTermination._recovered",
    origin="a counter moved behind the check",
)
async def subagent_grace_counted(recovered: Any, self: Any, *args: Any) -> Any:
    """The grace turn gets the number of the turn after it."""
    self.max_turns._turns += 1
    return await recovered(self, *args)
