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
    """Make `child` emit no thoughts."""

    def report(type: Any, data: Any) -> None:
        if str(type) != "THOUGHT_CHUNK":
            child.report(type, data)

    return Altered(child, report=report)


subagent_no_grace = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    returns(None),
    says="A subagent that stops without a result gets no grace turn.",
    origin="the most reported failure of migrated sub-agents",
)
subagent_turns_off_by_one = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor.__init__",
    then(put("turns", 1)),
    says="A subagent's turns are counted from 1.",
    origin="a loop rewritten with `range`",
)
subagent_terminator_ignored = fault.wrap(
    "runtimes.legacy.executor:ChildCalls.run",
    result(lambda found: replace(found, completed=False)),
    says="`complete_task` is an ordinary tool: the subagent continues.",
    origin="migrations without a mandatory terminator",
)
subagent_hints_lost = fault.wrap(
    "runtimes.legacy.executor:SteeringInbox",
    passing(steering=lambda steering: Altered(steering, listen=lambda _: lambda: None)),
    says="A subagent does not receive hints while it runs.",
    origin="a listener left with the parent",
)
subagent_summary_uncut = fault.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._save_summary",
    instead(lambda save_summary, self, result: self._chat.recording.save_summary(result)),
    says="The summary of a subagent's session is its whole result.",
    origin="a limit mistaken for a display option",
)
subagent_no_instruction = fault.wrap(
    "runtimes.legacy.executor:RequestParts",
    passing(system_instruction=lambda _: lambda: ""),
    says="A subagent's model does not get the instructions of its definition.",
    origin="a prompt that is built but not passed on",
)
subagent_thoughts_untold = fault.wrap(
    "runtimes.legacy.executor:parse_thought",
    passing(text=lambda _: ""),
    says="Headings of a subagent's thoughts are not reported as activity.",
    origin="a translator that handles only text and calls",
)
subagent_never_compressed = fault.wrap(
    "runtimes.legacy.executor:compress_chat",
    returns(None),
    says="A subagent's history is never compressed.",
    origin="compression left with the main loop",
)
subagent_abort_late = fault.wrap(
    "runtimes.legacy.subagent:LegacyChildAgent.stop",
    _late,
    says="An abort reaches a subagent five seconds late.",
    origin="an abort awaited after something else",
)


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    origin="a retry put around the recovery turn",
)
async def subagent_two_graces(last_turn: Any, self: Any, *args: Any) -> Any:
    """A subagent whose grace turn fails gets another."""
    result = await last_turn(self, *args)
    return result if result is not None else await last_turn(self, *args)


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._to_its_end",
    origin="migrations that map every end to success",
)
async def subagent_stuck_is_success(to_its_end: Any, self: Any, *args: Any) -> Any:
    """A subagent that ended without a result is reported as successful."""
    reason, result = await to_its_end(self, *args)
    stuck = str(reason) in ("ERROR_NO_COMPLETE_TASK_CALL", "MAX_TURNS", "TIMEOUT")
    return (type(reason)("GOAL") if stuck else reason), result


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor.run",
    origin="a broad except around the child's loop",
)
async def subagent_error_is_success(run: Any, self: Any, inputs: Any, signal: Any) -> Any:
    """A subagent whose model fails is reported as successful."""
    try:
        return await run(self, inputs, signal)
    except Exception as error:  # being too broad is this fault
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
    """A subagent's fallback model does not apply to its parent."""
    services = child.services
    own = replace(services, state=copy.copy(services.state))
    init(self, replace(child, services=own))


@fault("runtimes.legacy.executor:LocalAgentExecutor._last_chance", origin="one signal for both")
async def subagent_timeout_is_abort(last_chance: Any, self: Any, reason: Any, signal: Any) -> Any:
    """A subagent that runs out of time counts as aborted."""
    if str(reason) != "TIMEOUT":
        return await last_chance(self, reason, signal)
    return Ended(type(reason)("ABORTED"))


@fault(
    "runtimes.legacy.executor:LocalAgentExecutor._open_chat",
    origin="one session service for all children",
)
def subagent_shared_history(open_chat: Any, self: Any, prompt: Any) -> Any:
    """A subagent begins with the history of the previous one."""
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
    """The prompt for the last turn is worded more softly."""
    if recovery:
        parts = [{"text": part["text"].replace("MUST", "should")} for part in parts]
    return await turns(self, parts, *args, recovery=recovery)


subagent_grace_untold = held_out.wrap(
    "runtimes.legacy.executor:LocalAgentExecutor._recovered",
    changed("_child", _without_thoughts),
    says="A subagent's grace turn is not reported as activity.",
    origin="a recovery treated as internal",
)


@held_out("runtimes.legacy.subagent:LegacyChildAgent._conduct", origin="two reasons for one end")
async def subagent_end_is_completed(conduct: Any, self: Any, stream: Any, inputs: Any) -> None:
    """The stream of a subagent that hit a limit ends as completed."""
    end = stream.end

    def ended(reason: str) -> None:
        end("completed" if reason in ("max_turns", "max_time") else reason)

    stream.end = ended
    await conduct(self, stream, inputs)
