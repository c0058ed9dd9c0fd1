"""Faults of the legacy runtime in subagents."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import changed, instead, passing, put, result, returns, then
from services.children.run import Ended

fault = Faults(Site.LEGACY, Behaviour.SUBAGENTS)
held_out = Faults(Site.LEGACY, Behaviour.SUBAGENTS, held_out=True)
_LATE_MS: Final = 5_000


@instead
def _late(stop: Any, self: Any) -> None:
    async def later() -> None:
        await self._child.services.clock.sleep(_LATE_MS)
        stop(self)

    self.__dict__.setdefault("_stopping", []).append(
        asyncio.get_running_loop().create_task(later())
    )


def _without_thoughts(child: Any) -> Altered:
    """`child`, which emits no thoughts."""

    def report(type: Any, data: Any) -> None:
        if str(type) != "THOUGHT_CHUNK":
            child.report(type, data)

    return Altered(child, report=report)


subagent_no_grace = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    returns(None),
    says="An agent that stops without a result gets no turn of grace.",
    origin="the most reported failure of migrated sub-agents",
)
subagent_turns_off_by_one = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor.__init__",
    then(put("turns", 1)),
    says="An agent's turns are counted from one.",
    origin="a loop rewritten with a range",
)
subagent_terminator_ignored = fault.wrap(
    "runtimes.legacy.executor:ChildCalls.run",
    result(lambda found: replace(found, completed=False)),
    says="Complete_task is a tool like any other: the agent goes on.",
    origin="migrations without a mandatory terminator",
)
subagent_hints_lost = fault.wrap(
    "runtimes.legacy.executor:SteeringInbox",
    passing(steering=lambda steering: Altered(steering, listen=lambda _: lambda: None)),
    says="An agent does not hear what is said while it runs.",
    origin="a listener that was left with the parent",
)
subagent_summary_uncut = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._save_summary",
    instead(lambda save_summary, self, result: self._chat.recording.save_summary(result)),
    says="The summary of an agent's session is its whole result.",
    origin="a limit taken for a matter of display",
)
subagent_no_instruction = fault.wrap(
    "runtimes.legacy.executor:RequestParts",
    passing(system_instruction=lambda _: lambda: ""),
    says="An agent's model does not get its definition's instructions.",
    origin="a prompt that is built and not handed on",
)
subagent_thoughts_untold = fault.wrap(
    "runtimes.legacy.executor:parse_thought",
    passing(text=lambda _: ""),
    says="Headings of an agent's thoughts are no activity.",
    origin="a translator that knows text and calls alone",
)
subagent_never_compressed = fault.wrap(
    "runtimes.legacy.executor:compress_chat",
    returns(None),
    says="An agent's history is never compressed.",
    origin="compression left with the main loop",
)
subagent_abort_late = fault.wrap(
    "runtimes.legacy.subagent:LegacyChildAgent.stop",
    _late,
    says="An abort reaches an agent five seconds later.",
    origin="an abort that is awaited behind something else",
)


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    origin="a retry put around the recovery turn",
)
async def subagent_two_graces(last_turn: Any, self: Any, *args: Any) -> Any:
    """An agent whose turn of grace fails gets another."""
    result = await last_turn(self, *args)
    return result if result is not None else await last_turn(self, *args)


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._to_its_end",
    origin="migrations that map every end to success",
)
async def subagent_stuck_is_success(to_its_end: Any, self: Any, *args: Any) -> Any:
    """An agent that ended without a result is reported as one that reached its goal."""
    reason, result = await to_its_end(self, *args)
    stuck = str(reason) in ("ERROR_NO_COMPLETE_TASK_CALL", "MAX_TURNS", "TIMEOUT")
    return (type(reason)("GOAL") if stuck else reason), result


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor.run",
    origin="a broad except around the child's loop",
)
async def subagent_error_is_success(run: Any, self: Any, inputs: Any, signal: Any) -> Any:
    """An agent whose model fails is reported as one that is done."""
    try:
        return await run(self, inputs, signal)
    except Exception as error:
        if signal.aborted:
            raise
        return SimpleNamespace(
            terminate_reason="GOAL", turn_count=1, duration_ms=0.0, result=str(error)
        )


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor.__init__",
    origin="a session state copied for each child",
)
def subagent_fallback_its_own(init: Any, self: Any, child: Any) -> None:
    """A model that an agent falls back to is not its parent's."""
    services = child.services
    own = replace(services, state=copy.copy(services.state))
    init(self, replace(child, services=own))


@fault("runtimes.legacy.executor:LocalAgentExecutor._last_chance", origin="one signal for both")
async def subagent_timeout_is_abort(last_chance: Any, self: Any, reason: Any, signal: Any) -> Any:
    """An agent that is out of time counts as aborted."""
    if str(reason) != "TIMEOUT":
        return await last_chance(self, reason, signal)
    return Ended(type(reason)("ABORTED"))


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._open_chat",
    origin="one session service for all children",
)
def subagent_shared_history(open_chat: Any, self: Any, prompt: Any) -> Any:
    """An agent begins with the history of the one before it."""
    chat = open_chat(self, prompt)
    kept = self._services.subagents.__dict__.setdefault("_chats", [])
    if kept:
        chat.become([*kept[-1].history(), *chat.history()])
    kept.append(chat)
    return chat


@held_out("runtimes.legacy.executor:LocalAgentExecutor._turns", origin="a prompt that was polished")
async def subagent_softer_warning(
    turns: Any, self: Any, parts: Any, *args: Any, recovery: bool
) -> Any:
    """The last turn is asked for in softer words."""
    if recovery:
        parts = [{"text": part["text"].replace("MUST", "should")} for part in parts]
    return await turns(self, parts, *args, recovery=recovery)


subagent_grace_untold = held_out.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    changed("_child", _without_thoughts),
    says="That an agent was given a turn of grace is no activity.",
    origin="a recovery that is taken for an inner matter",
)


@held_out("runtimes.legacy.subagent:LegacyChildAgent._conduct", origin="two reasons for one end")
async def subagent_end_is_completed(conduct: Any, self: Any, stream: Any, inputs: Any) -> None:
    """The stream of an agent that ended at a limit ends as completed."""
    end = stream.end

    def ended(reason: str) -> None:
        end("completed" if reason in ("max_turns", "max_time") else reason)

    stream.end = ended
    await conduct(self, stream, inputs)
