"""Faults of the runtimes in starts, ends, aborts, the order of events, and what is resumed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, given, holding
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.abort import AbortController
from services.scheduler.calls import CallStatus
from services.scheduler.scheduler import is_parallelizable

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.LIFECYCLE)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.LIFECYCLE)


def _without_end_at_limit(end: Any) -> Any:
    def broken(self: Any, reason: str, data: Any = None) -> None:
        if reason == "max_turns":
            self.active = False
        else:
            end(self, reason, data)

    return broken


def _always_completed(_: Any) -> Any:
    def broken(finish_reason: Any) -> str:
        return "completed"

    return broken


def _telling_results_after_abort(init: Any) -> Any:
    def broken(self: Any, services: Any, *args: Any) -> None:
        init(self, services, *args)
        schedule = services.scheduler.schedule

        async def telling(requests: Any, signal: Any) -> Any:
            completed = await schedule(requests, signal)
            if signal.aborted:
                self._answer(completed)
            return completed

        scheduler = Altered(services.scheduler, schedule=telling)
        self._services = replace(services, scheduler=scheduler)

    return broken


def _deaf_to_aborts(scheduler: Any) -> Any:
    def schedule(requests: Any, signal: Any) -> Any:
        return scheduler.schedule(requests, AbortController().signal)

    return Altered(scheduler, schedule=schedule)


def _showing_always(turn: Any) -> Any:
    def broken(self: Any, parts: Any, shown: Any) -> Any:
        self.shown = shown or getattr(self, "shown", None)
        return turn(self, parts, self.shown)

    return broken


def _with_new_ids(turns_of: Any) -> Any:
    def broken(self: Any, messages: Any) -> Any:
        return [(f"{number}", turn) for number, (_, turn) in enumerate(turns_of(self, messages))]

    return broken


def _aborts_complete(end: Any) -> Any:
    def broken(self: Any, reason: str, data: Any = None) -> None:
        end(self, "completed" if reason == "aborted" else reason, data)

    return broken


def _to_the_chunks_end(read: Any) -> Any:
    def broken(self: Any, event: Any, run: Any) -> Any:
        if getattr(getattr(event.content, "note", None), "index", 0):
            run = replace(run, signal=AbortController().signal)
        return read(self, event, run)

    return broken


def _waited(call: Any) -> bool:
    return call.status is CallStatus.CANCELLED and not is_parallelizable(call.request)


def _running_what_waited(run_batch: Any) -> Any:
    async def broken(self: Any, run: Any, tools: Any) -> Any:
        scheduler = self._services.scheduler

        async def schedule(requests: Any, signal: Any) -> Any:
            completed = await scheduler.schedule(requests, signal)
            waited = [each.request for each in completed if _waited(each)]
            if signal.aborted and waited:
                await scheduler.schedule(waited, AbortController().signal)
            return completed

        kept = self._services
        self._services = replace(kept, scheduler=Altered(scheduler, schedule=schedule))
        try:
            return await run_batch(self, run, tools)
        finally:
            self._services = kept

    return broken


def _message_after_start() -> Any:
    def holding(tell: Any) -> Any:
        def broken(self: Any, payload: Any) -> None:
            self.held = partial(tell, self, payload)

        return broken

    def releasing(emit: Any) -> Any:
        def broken(self: Any, event: Any) -> None:
            emit(self, event)
            held, self.held = getattr(self, "held", None), None
            if held is not None:
                held()

        return broken

    return all_of(
        replaced("runtimes.adk.stream:Stream.emit_user_message", holding),
        replaced("runtimes.adk.stream:Stream.emit", releasing),
    )


def _never_shown(send: Any) -> Any:
    def broken(self: Any, content: Any, **kwargs: Any) -> Any:
        return send(self, content, **{**kwargs, "display_content": None})

    return broken


def _prompt_id_per_send(send: Any) -> Any:
    async def broken(self: Any, payload: Any) -> Any:
        self.sends = getattr(self, "sends", 0) + 1
        self._prompt_id = f"{self._prompt_id.partition('#')[0]}#{self.sends}"
        return await send(self, payload)

    return broken


def _counting_all_messages(rewind: Any) -> Any:
    def broken(self: Any, to: Any) -> None:
        messages = self.recording.messages
        if isinstance(to, int) and 0 <= to < len(messages):
            to = str(messages[to].get("id"))
        rewind(self, to)

    return broken


def _first_reason(see: Any) -> Any:
    def broken(self: Any, delta: Any) -> Any:
        known = self.finish_reason
        seen = see(self, delta)
        self.finish_reason = known or self.finish_reason
        return seen

    return broken


def _keeping_pending(_: Any) -> Any:
    def broken(self: Any, session: Any) -> None:
        return None

    return broken


FAULTS: Final = (
    _legacy(
        name="no-end-at-turn-limit",
        says="A stream that reaches the turn limit has no `agent_end`.",
        origin="seen in agent migrations: a missing `agent_end` on one exit path",
        breaks=lambda: replaced("runtimes.legacy.agent:_Stream.end", _without_end_at_limit),
    ),
    _legacy(
        name="ends-always-completed",
        behaviour=Behaviour.ANSWERS,
        says="An answer that was cut off for its length or refused ends like any other.",
        origin="seen in agent migrations: wrong end reason",
        breaks=lambda: replaced("runtimes.legacy.agent:end_reason", _always_completed),
    ),
    _legacy(
        name="results-told-after-abort",
        says="Results of tools that an abort cut short are told and recorded before the end.",
        origin="an abort that is looked at once per loop",
        breaks=lambda: replaced(
            "runtimes.legacy.agent:_Stream.__init__", _telling_results_after_abort
        ),
    ),
    _legacy(
        name="tools-outlive-abort",
        says="Tools that run at an abort run on to their end, and so do their processes.",
        origin="seen in agent migrations: children left running after an abort",
        breaks=lambda: replaced(
            "runtimes.legacy.agent:_Stream.__init__", given(scheduler=_deaf_to_aborts)
        ),
    ),
    _legacy(
        name="display-content-kept",
        says="What a message is shown as also stands in for the requests that follow it.",
        origin="a field of the send that is taken for one of the stream",
        breaks=lambda: replaced("runtimes.legacy.agent:_Stream._turn", _showing_always),
    ),
    _legacy(
        name="resumed-under-new-ids",
        behaviour=Behaviour.RECORDING,
        says="A resumed history has ids of its own, and the recording's turns are written again.",
        origin="upstream's history: durable ids came with resuming, later than the recording",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats._turns_of", _with_new_ids),
    ),
    _adk(
        name="abort-told-as-completion",
        says="A stream that the user aborted ends as completed.",
        origin="seen in agent migrations: wrong end reason",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.end", _aborts_complete),
    ),
    _adk(
        name="chunk-told-after-abort",
        says="The rest of a chunk is told though somebody aborted in the middle of it.",
        origin="a signal that is looked at between events of the framework, not between ours",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.read", _to_the_chunks_end),
    ),
    _adk(
        name="waiting-calls-run-after-abort",
        says="Calls of a batch that still waited their turn at an abort are run all the same.",
        origin="seen in agent migrations: siblings not cancelled",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:Continuation._completed", _running_what_waited
        ),
    ),
    _adk(
        name="message-after-start",
        says="The user's message is told after `agent_start`.",
        origin="google-adk's Runner, which appends the message once the invocation runs",
        breaks=_message_after_start,
    ),
    _adk(
        name="display-content-not-recorded",
        says="The recording shows what was sent where something else was to be shown.",
        origin="google-adk's Runner, which takes a message and nothing beside it",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.take_request", _never_shown
        ),
    ),
    _adk(
        name="prompt-id-per-send",
        says="Every send counts as a new prompt: routed, announced and watched for loops anew.",
        origin="google-adk's invocation ids, taken for the prompt's",
        breaks=lambda: replaced("runtimes.adk.agent:AdkAgentProtocol.send", _prompt_id_per_send),
    ),
    _adk(
        name="rewind-counts-all-messages",
        behaviour=Behaviour.RECORDING,
        says="A rewind by number counts the model's messages too.",
        origin="google-adk's events, which do not tell what a person typed",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.rewind", _counting_all_messages
        ),
    ),
    _adk(
        name="first-finish-reason-decides",
        behaviour=Behaviour.ANSWERS,
        says="Of several finish reasons of a turn the first decides how the stream ends.",
        origin="seen in agent migrations: wrong end reason",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", see=_first_reason)
        ),
    ),
    _adk(
        name="pending-turn-kept",
        says="The turn that a stop kept from being sent stays in ADK's session.",
        origin="google-adk's sessions, where an event that was appended stays",
        unobservable="an invocation that is over leaves no events in the session, whatever "
        "they are: tests/harness/faults/test_unobservable.py",
        breaks=lambda: replaced(
            "runtimes.adk.sessions:GcliSessionService.discard_pending", _keeping_pending
        ),
    ),
)
