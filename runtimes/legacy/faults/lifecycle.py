"""Faults of the legacy runtime in starts, ends, aborts and the order of events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, given
from seeded_faults.wrappers import result, returns
from services.abort import AbortController
from services.presentation.finish import end_reason_of_calls

fault = Faults(Site.LEGACY, Behaviour.LIFECYCLE)
fault_answers = Faults(Site.LEGACY, Behaviour.ANSWERS)
fault_recording = Faults(Site.LEGACY, Behaviour.RECORDING)
held_out = Faults(Site.LEGACY, Behaviour.LIFECYCLE, held_out=True)
fault_interactive = Faults(Site.LEGACY, Behaviour.INTERACTIVE)


def _deaf_to_aborts(scheduler: Any) -> Any:
    def schedule(requests: Any, signal: Any) -> Any:
        return scheduler.schedule(requests, AbortController().signal)

    return Altered(scheduler, schedule=schedule)


ends_always_completed = fault_answers.wrap(
    "runtimes.legacy.agent:end_reason",
    returns("completed"),
    says="An answer that was refused, or cut off at its length limit, ends like any other.",
    origin="seen in agent migrations: wrong end reason",
)
tools_outlive_abort = fault.wrap(
    "runtimes.legacy.agent:_Stream.__init__",
    given(scheduler=_deaf_to_aborts),
    says="At an abort, running tools and their processes continue to their end.",
    origin="seen in agent migrations: children left running after an abort",
)
resumed_under_new_ids = fault_recording.wrap(
    "runtimes.legacy.chats:Chats._turns_of",
    result(lambda found: [(f"{number}", turn) for number, (_, turn) in enumerate(found)]),
    says="A resumed history gets new ids, and its turns are recorded again.",
    origin="upstream's history: durable ids came with resuming, later than the recording",
)


@fault(
    "runtimes.legacy.agent:_Stream.end",
    origin="seen in agent migrations: a missing `agent_end` on one exit path",
)
def no_end_at_turn_limit(end: Any, self: Any, reason: str, data: Any = None) -> None:
    """A stream that reaches the turn limit emits no `agent_end`."""
    if reason == "max_turns":
        self.active = False
    else:
        end(self, reason, data)


@fault("runtimes.legacy.agent:_Stream.__init__", origin="an abort signal checked once per loop")
def results_told_after_abort(init: Any, self: Any, services: Any, *args: Any) -> None:
    """Results of tools that an abort interrupted are emitted and recorded before the end."""
    init(self, services, *args)
    schedule = services.scheduler.schedule

    async def answering(requests: Any, signal: Any) -> Any:
        completed = await schedule(requests, signal)
        if signal.aborted:
            self._answer(completed)
        return completed

    scheduler = Altered(services.scheduler, schedule=answering)
    self._services = replace(services, scheduler=scheduler)


@fault(
    "runtimes.legacy.agent:_Stream._turn",
    origin="a field of the send mistaken for one of the stream",
)
def display_content_kept(turn: Any, self: Any, parts: Any, shown: Any) -> Any:
    """A message's display content is also used for the requests that follow it."""
    self.shown = shown or getattr(self, "shown", None)
    return turn(self, parts, self.shown)


@held_out(
    "runtimes.legacy.agent:LegacyAgentProtocol.send",
    origin="a client's habit of aborting before it sends, moved down a layer",
)
async def refused_send_aborts(send: Any, self: Any, payload: Any) -> Any:
    """A send that is refused because a stream is active aborts that stream."""
    await self.abort()
    return await send(self, payload)


@held_out(
    "runtimes.legacy.agent:_Stream.__init__",
    origin="one abort controller per conversation, which cannot be armed again",
)
def abort_outlives_its_stream(init: Any, self: Any, services: Any, client: Any, *args: Any) -> None:
    """After an abort every later send of the conversation ends as aborted."""
    init(self, services, client, *args)
    client.controller = self.controller = getattr(client, "controller", self.controller)


@fault_interactive(
    "runtimes.legacy.agent:_Stream._answer",
    origin="hints put in before it is known whether the stream goes on",
)
def hints_lost_with_the_end(answer: Any, self: Any, completed: Any) -> Any:
    """A hint is lost if the calls that it came with end the stream."""
    parts = answer(self, completed)
    if end_reason_of_calls(completed) is not None:
        self._services.steering.main.clear()
    return parts
