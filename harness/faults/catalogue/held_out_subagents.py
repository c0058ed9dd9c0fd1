"""Faults of agents that were written once their cassettes were done."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.SUBAGENTS, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.SUBAGENTS, held_out=True)
_service = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.SUBAGENTS, held_out=True)


def _softer_words(turns: Any) -> Any:
    async def broken(self: Any, parts: Any, *args: Any, recovery: bool) -> Any:
        if recovery:
            parts = [{"text": part["text"].replace("MUST", "should")} for part in parts]
        return await turns(self, parts, *args, recovery=recovery)

    return broken


def _reported_twice(translate: Any) -> Any:
    def broken(self: Any, activity: Any) -> None:
        translate(self, activity)
        translate(self, activity)

    return broken


def _goal_untold(recovered: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        kept, self._child = self._child, _Quiet(self._child)
        try:
            return await recovered(self, *args)
        finally:
            self._child = kept

    return broken


class _Quiet:
    """A child whose thoughts are not told."""

    def __init__(self, child: Any) -> None:
        self._quietened = child

    def __getattr__(self, name: str) -> Any:
        return getattr(self._quietened, name)

    def tell(self, type: Any, data: Any) -> None:
        """All but thoughts."""
        if str(type) != "THOUGHT_CHUNK":
            self._quietened.tell(type, data)


def _heard_by_the_grace(recovered: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        self.max_turns._turns += 1
        return await recovered(self, *args)

    return broken


def _compressed_by_parents_model(compress: Any) -> Any:
    async def broken(*args: Any) -> None:
        return None

    return broken


def _ended_completed(conduct: Any) -> Any:
    async def broken(self: Any, stream: Any, inputs: Any) -> None:
        end = stream.end

        def ended(reason: str) -> None:
            end("completed" if reason in ("max_turns", "max_time") else reason)

        stream.end = ended
        await conduct(self, stream, inputs)

    return broken


def _in_order_of_results(answers: Any) -> Any:
    def broken(self: Any, signal: Any) -> Iterator[Any]:
        return iter(list(answers(self, signal))[::-1])

    return broken


def _all_activity(newest: Any) -> Any:
    return None


def _star_is_nothing(named: Any) -> Any:
    def broken(self: Any, name: str) -> Any:
        return () if name.endswith("*") and name != "*" else named(self, name)

    return broken


def _own_scope(model_key: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        key = await model_key(self, *args)
        return type(key)(model=key.model)

    return broken


def _order_of_names(register: Any) -> Any:
    async def broken(self: Any, agents: Any, place: str) -> None:
        await register(self, list(agents)[::-1], place)

    return broken


FAULTS: Final = (
    _legacy(
        name="subagent-softer-warning",
        says="The last turn is asked for in softer words.",
        origin="a prompt that was polished",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._turns", _softer_words
        ),
    ),
    _legacy(
        name="subagent-grace-untold",
        says="That an agent was given a turn of grace is no activity.",
        origin="a recovery that is taken for an inner matter",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._recovered", _goal_untold
        ),
    ),
    _legacy(
        name="subagent-end-is-completed",
        says="The stream of an agent that ended at a limit ends as completed.",
        origin="two reasons for one end",
        breaks=lambda: replaced(
            "runtimes.legacy.subagent:LegacyChildAgent._conduct", _ended_completed
        ),
    ),
    _adk(
        name="subagent-told-twice",
        says="An agent's activities are told twice.",
        origin="a subscription made in the constructor and at the start",
        breaks=lambda: replaced("runtimes.adk.child.session:AdkChild.report", _reported_twice),
    ),
    _adk(
        name="subagent-grace-counted",
        says="The turn of grace has the number of the turn after it.",
        origin="a counter moved behind the check",
        breaks=lambda: replaced(
            "runtimes.adk.child.termination:ChildTermination._recovered", _heard_by_the_grace
        ),
    ),
    _adk(
        name="subagent-not-compressed-adk",
        says="An agent's history is never compressed.",
        origin="a processor list copied without one of them",
        breaks=lambda: replaced(
            "runtimes.adk.child.processors:compress_chat", _compressed_by_parents_model
        ),
    ),
    _service(
        name="subagent-answers-reversed",
        says="The results of an agent's calls come in another order than the calls.",
        origin="results gathered as they are done",
        breaks=lambda: replaced("services.children.calls:_Batch.answers", _in_order_of_results),
    ),
    _service(
        name="subagent-wildcards-unknown",
        says="Wildcards for servers stand for nothing.",
        origin="a list of tools that is matched by equality",
        breaks=lambda: replaced("services.subagents.toolset:Toolset._named", _star_is_nothing),
    ),
    _service(
        name="subagent-scope-lost",
        says="Settings of models for one agent do not apply to it.",
        origin="a model chosen by name where its scope was forgotten",
        breaks=lambda: replaced(
            "services.children.child_services:ChildServices.model_key", _own_scope
        ),
    ),
    _service(
        name="subagent-last-definition-wins",
        says="Of two definitions with one name in one folder the last counts.",
        origin="a mapping that is filled in order",
        closed_by="subagent_definitions/duplicates",
        breaks=lambda: replaced(
            "services.subagents.registry:AgentRegistry._register_all", _order_of_names
        ),
    ),
    _service(
        name="subagent-all-activity-shown",
        says="As a session, too, an agent shows all of its activity.",
        origin="one trail for both ways of running",
        closed_by="subagent/as_session",
        breaks=lambda: replaced(
            "services.subagents.session_invocation:LocalSessionInvocation.newest", _all_activity
        ),
    ),
)
