"""Faults of the runtimes in the agents that a call starts."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, holding
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.children.run import Ended

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.SUBAGENTS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.SUBAGENTS)
_LATE_MS: Final = 5_000


def _no_last_turn(last_turn: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        return None

    return broken


def _two_last_turns(last_turn: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        result = await last_turn(self, *args)
        return result if result is not None else await last_turn(self, *args)

    return broken


def _one_turn_less(begin: Any) -> Any:
    def broken(self: Any, *args: Any) -> None:
        begin(self, *args)
        self.turns = 1

    return broken


def _always_well(to_its_end: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        reason, result = await to_its_end(self, *args)
        stuck = str(reason) in ("ERROR_NO_COMPLETE_TASK_CALL", "MAX_TURNS", "TIMEOUT")
        return (type(reason)("GOAL") if stuck else reason), result

    return broken


def _never_complete(run: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        return replace(await run(self, *args), completed=False)

    return broken


def _deaf(inbox: Any) -> Any:
    def broken(steering: Any) -> Any:
        return inbox(Altered(steering, listen=lambda _: lambda: None))

    return broken


def _errors_swallowed(run: Any) -> Any:
    async def broken(self: Any, inputs: Any, signal: Any) -> Any:
        try:
            return await run(self, inputs, signal)
        except Exception as error:
            if signal.aborted:
                raise
            return _Done(str(error))

    return broken


class _Done:
    """An output of an agent that is done."""

    terminate_reason = "GOAL"
    turn_count = 1
    duration_ms = 0.0

    def __init__(self, result: str) -> None:
        self.result = result


def _own_state(init: Any) -> Any:
    def broken(self: Any, child: Any) -> None:
        services = child.services
        own = replace(services, state=copy.copy(services.state))
        init(self, replace(child, services=own))

    return broken


def _uncut(save_summary: Any) -> Any:
    def broken(self: Any, result: str) -> None:
        self._chat.recording.save_summary(result)

    return broken


def _without_instruction(request_parts: Any) -> Any:
    def broken(**fields: Any) -> Any:
        return request_parts(**{**fields, "system_instruction": lambda: ""})

    return broken


def _no_subject(parse: Any) -> Any:
    def broken(text: str) -> Any:
        return parse("")

    return broken


def _out_of_time_is_aborted(last_chance: Any) -> Any:
    async def broken(self: Any, reason: Any, signal: Any) -> Any:
        if str(reason) != "TIMEOUT":
            return await last_chance(self, reason, signal)
        return Ended(type(reason)("ABORTED"))

    return broken


def _not_compressing(_: Any) -> Any:
    async def broken(*args: Any) -> None:
        return None

    return broken


def _late(stop: Any) -> Any:
    def broken(self: Any) -> None:
        async def later() -> None:
            await self._child.services.clock.sleep(_LATE_MS)
            stop(self)

        self.__dict__.setdefault("_stopping", []).append(
            asyncio.get_running_loop().create_task(later())
        )

    return broken


def _history_goes_on(open_chat: Any) -> Any:
    def broken(self: Any, prompt: Any) -> Any:
        chat = open_chat(self, prompt)
        kept = self._services.subagents.__dict__.setdefault("_chats", [])
        if kept:
            chat.become([*kept[-1].history(), *chat.history()])
        kept.append(chat)
        return chat

    return broken


def _recovered_anyway(last_chance: Any) -> Any:
    async def broken(self: Any, reason: Any, *args: Any) -> Any:
        ended = await last_chance(self, reason, *args)
        return ended._replace(reason=type(reason)("GOAL"))

    return broken


def _begun_at_one(init: Any) -> Any:
    def broken(self: Any, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        self.turns = 1

    return broken


def _other_way_round(before_answers: Any) -> Any:
    def broken(self: Any, answers: Any) -> Any:
        return [*before_answers(self, [])[::-1], *answers]

    return broken


def _not_saved(save: Any) -> Any:
    def broken(self: Any, result: str) -> None:
        return None

    return broken


def _not_terminating(completed: Any) -> Any:
    def broken(self: Any, submitted: Any, event: Any) -> None:
        return None

    return broken


def _routed_anew(step: Any) -> Any:
    async def broken(self: Any, *args: Any) -> None:
        self._child._choice.model = None
        await step(self, *args)

    return broken


def _parents_tools(declarations: Any) -> Any:
    class Broken(declarations):  # type: ignore[misc]
        def current(self, model: str) -> Any:
            return [{"functionDeclarations": self._toolset._parent.declarations(model)}]

    return Broken


def _calls_untold(relay: Any) -> Any:
    def broken(self: Any, activity: Any) -> None:
        if str(activity.type) != "TOOL_CALL_END":
            relay(self, activity)

    return broken


def _nothing_given(given_up: Any) -> Any:
    def broken(self: Any, reason: Any) -> str:
        given_up(self, reason)
        return ""

    return broken


def _endless(init: Any) -> Any:
    def broken(self: Any, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        self._ms *= 1000

    return broken


def _never_waiting(waiting: Any) -> Any:
    def broken(self: Any, waits: bool) -> None:
        return None

    return broken


def _none_out_of_time(recovered: Any) -> Any:
    async def broken(self: Any, reason: Any, *args: Any) -> Any:
        return None if str(reason) == "TIMEOUT" else await recovered(self, reason, *args)

    return broken


def _last_chunk_only(see: Any) -> Any:
    def broken(self: Any, delta: Any) -> Any:
        if type(delta.request).__name__ == "ChildCall":
            if delta.index <= getattr(self, "last_index", -1):
                self.calls.clear()
            self.last_index = delta.index
        return see(self, delta)

    return broken


def _no_events(report: Any) -> Any:
    def broken(self: Any, activity: Any) -> None:
        if str(activity.type) == "ERROR":
            self._on_activity(activity)
        else:
            report(self, activity)

    return broken


FAULTS: Final = (
    _legacy(
        name="subagent-no-grace",
        says="An agent that stops without a result gets no turn of grace.",
        origin="the most reported failure of migrated sub-agents",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._recovered", _no_last_turn
        ),
    ),
    _legacy(
        name="subagent-two-graces",
        says="An agent whose turn of grace fails gets another.",
        origin="a retry put around the recovery turn",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._recovered", _two_last_turns
        ),
    ),
    _legacy(
        name="subagent-turns-off-by-one",
        says="An agent's turns are counted from one.",
        origin="a loop rewritten with a range",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor.__init__", _one_turn_less
        ),
    ),
    _legacy(
        name="subagent-stuck-is-success",
        says="An agent that ended without a result is told of as one that reached its goal.",
        origin="migrations that map every end to success",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._to_its_end", _always_well
        ),
    ),
    _legacy(
        name="subagent-terminator-ignored",
        says="Complete_task is a tool like any other: the agent goes on.",
        origin="migrations without a mandatory terminator",
        breaks=lambda: replaced("runtimes.legacy.executor:ChildCalls.run", _never_complete),
    ),
    _legacy(
        name="subagent-hints-lost",
        says="An agent does not hear what is said while it runs.",
        origin="a listener that was left with the parent",
        breaks=lambda: replaced("runtimes.legacy.executor:SteeringInbox", _deaf),
    ),
    _legacy(
        name="subagent-error-is-success",
        says="An agent whose model fails is told of as one that is done.",
        origin="a broad except around the child's loop",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor.run", _errors_swallowed
        ),
    ),
    _legacy(
        name="subagent-fallback-its-own",
        says="A model that an agent falls back to is not its parent's.",
        origin="a session state copied for each child",
        breaks=lambda: replaced("runtimes.legacy.executor:LocalAgentExecutor.__init__", _own_state),
    ),
    _legacy(
        name="subagent-summary-uncut",
        says="The summary of an agent's session is its whole result.",
        origin="a limit taken for a matter of display",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._save_summary", _uncut
        ),
    ),
    _legacy(
        name="subagent-no-instruction",
        says="An agent's model is not told its definition's instructions.",
        origin="a prompt that is built and not handed on",
        breaks=lambda: replaced("runtimes.legacy.executor:RequestParts", _without_instruction),
    ),
    _legacy(
        name="subagent-thoughts-untold",
        says="Headings of an agent's thoughts are no activity.",
        origin="a translator that knows text and calls alone",
        breaks=lambda: replaced("runtimes.legacy.executor:parse_thought", _no_subject),
    ),
    _legacy(
        name="subagent-timeout-is-abort",
        says="An agent that is out of time counts as aborted.",
        origin="one signal for both",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._last_chance", _out_of_time_is_aborted
        ),
    ),
    _legacy(
        name="subagent-never-compressed",
        says="An agent's history is never compressed.",
        origin="compression left with the main loop",
        breaks=lambda: replaced("runtimes.legacy.executor:compress_chat", _not_compressing),
    ),
    _legacy(
        name="subagent-abort-late",
        says="An abort reaches an agent five seconds later.",
        origin="an abort that is awaited behind something else",
        breaks=lambda: replaced("runtimes.legacy.subagent:LegacyChildAgent.stop", _late),
    ),
    _legacy(
        name="subagent-shared-history",
        says="An agent begins with the history of the one before it.",
        origin="one session service for all children",
        breaks=lambda: replaced(
            "runtimes.legacy.executor:LocalAgentExecutor._open_chat", _history_goes_on
        ),
    ),
    _adk(
        name="subagent-failed-grace-is-success",
        says="An agent whose turn of grace failed has reached its goal all the same.",
        origin="migrations that map every end to success",
        breaks=lambda: replaced(
            "runtimes.adk.child.termination:ChildTermination._last_chance", _recovered_anyway
        ),
    ),
    _adk(
        name="subagent-turns-off-by-one-adk",
        says="An agent's turns are counted from one.",
        origin="a plugin that counts before the callback, not after",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.__init__", _begun_at_one
        ),
    ),
    _adk(
        name="subagent-hints-first",
        says="Hints come before the completions of the background.",
        origin="two queues joined in the order of their names",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.child:SteeringAdkPlugin.before_answers", _other_way_round
        ),
    ),
    _adk(
        name="subagent-summary-missing",
        says="An agent's session is left without a summary.",
        origin="a recording closed before the result is known",
        breaks=lambda: replaced(
            "runtimes.adk.child.termination:ChildTermination._save_summary", _not_saved
        ),
    ),
    _adk(
        name="subagent-abort-late-adk",
        says="An abort reaches an agent five seconds later.",
        origin="an abort that waits for the runner",
        breaks=lambda: replaced("runtimes.adk.child.session:AdkChild.stop", _late),
    ),
    _adk(
        name="subagent-terminator-ignored-adk",
        says="Complete_task is a tool like any other: the agent goes on.",
        origin="a termination plugin that is not registered for children",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.child:CompleteTaskAdkPlugin.task_completed",
            _not_terminating,
        ),
    ),
    _adk(
        name="subagent-routed-each-turn",
        says="An agent's automatic model is chosen anew for every turn.",
        origin="a routing processor without a memory",
        breaks=lambda: replaced("runtimes.adk.child.processors:ChildRouting._step", _routed_anew),
    ),
    _adk(
        name="subagent-declares-parents-tools",
        says="An agent's model is offered all of its parent's tools.",
        origin="one tool list for parent and child",
        breaks=lambda: replaced("runtimes.adk.factory:ChildDeclarations", _parents_tools),
    ),
    _adk(
        name="subagent-results-untold",
        says="Results of an agent's calls are no activity.",
        origin="events of ADK translated one by one, function responses left out",
        breaks=lambda: replaced("runtimes.adk.child.session:AdkChild.report", _calls_untold),
    ),
    _adk(
        name="subagent-end-without-words",
        says="An agent that ends at a limit says nothing of it.",
        origin="an end reason without a message",
        breaks=lambda: replaced(
            "runtimes.adk.child.termination:ChildTermination._given_up", _nothing_given
        ),
    ),
    _adk(
        name="subagent-time-unlimited",
        says="An agent's time is seconds where minutes were meant, or the other way round.",
        origin="a unit lost between a definition and a plugin",
        breaks=lambda: replaced("runtimes.adk.plugins.limits:MaxTimeAdkPlugin.__init__", _endless),
    ),
    _adk(
        name="subagent-asked-on-its-time",
        says="An agent's time goes on while a person is asked.",
        origin="a deadline around the runner, which knows nothing of questions",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:MaxTimeAdkPlugin.waiting", _never_waiting
        ),
    ),
    _adk(
        name="subagent-no-grace-out-of-time",
        says="An agent that is out of time gets no turn of grace.",
        origin="a recovery that runs under the signal that has ended the task",
        breaks=lambda: replaced(
            "runtimes.adk.child.termination:ChildTermination._recovered", _none_out_of_time
        ),
    ),
    _adk(
        name="subagent-last-chunks-calls",
        says="Of an answer's calls only those of its last chunk are run.",
        origin="a final event that is taken for all of them",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", see=_last_chunk_only)
        ),
    ),
    _adk(
        name="subagent-errors-no-events",
        says="Errors inside an agent are no events of its stream.",
        origin="only what the parent shows is translated",
        breaks=lambda: replaced("runtimes.adk.child.session:AdkChild.report", _no_events),
    ),
)
