"""Faults of the ADK runtime in starts, ends, aborts and the order of events."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from agent_protocol.agent import MessageSend
from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, holding
from seeded_faults.patching import all_of, replaced
from seeded_faults.wrappers import instead, passing, returns
from services.abort import AbortController
from services.scheduler.calls import CallStatus
from services.scheduler.scheduler import is_parallelizable

fault = Faults(Site.ADK, Behaviour.LIFECYCLE)
fault_recording = Faults(Site.ADK, Behaviour.RECORDING)
fault_answers = Faults(Site.ADK, Behaviour.ANSWERS)
held_out = Faults(Site.ADK, Behaviour.LIFECYCLE, held_out=True)
fault_interactive = Faults(Site.ADK, Behaviour.INTERACTIVE)
held_out_interactive = Faults(Site.ADK, Behaviour.INTERACTIVE, held_out=True)
held_out_recording = Faults(Site.ADK, Behaviour.RECORDING, held_out=True)


def _waited(call: Any) -> bool:
    return call.status is CallStatus.CANCELLED and not is_parallelizable(call.request)


def _message_after_start() -> Any:
    def holding(emit: Any) -> Any:
        def broken(self: Any, payload: Any) -> None:
            self.held = partial(emit, self, payload)

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


@instead
def _first_reason(see: Any, self: Any, delta: Any) -> Any:
    known = self.finish_reason
    seen = see(self, delta)
    self.finish_reason = known or self.finish_reason
    return seen


abort_told_as_completion = fault.wrap(
    "runtimes.adk.stream:Stream.end",
    passing(reason=lambda reason: "completed" if reason == "aborted" else reason),
    says="A stream that the user aborted ends as completed.",
    origin="seen in agent migrations: wrong end reason",
)
message_after_start = fault.breaking(
    _message_after_start,
    says="The user's message is emitted after `agent_start`.",
    origin="google-adk's Runner appends the message once the invocation runs",
)
display_content_not_recorded = fault.wrap(
    "runtimes.adk.conversation:Conversation.take_request",
    passing(display_content=lambda _: None),
    says="The recording shows the sent text instead of the display text.",
    origin="google-adk's Runner takes only a message",
)
first_finish_reason_decides = fault_answers.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", see=_first_reason),
    says="When a turn has several finish reasons, the first decides how the stream ends.",
    origin="seen in agent migrations: wrong end reason",
)
pending_turn_kept = fault.wrap(
    "runtimes.adk.sessions:GcliSessionService.discard_pending",
    returns(None),
    says="A stopped turn, which was never sent, stays in ADK's session.",
    origin="google-adk's sessions keep every appended event",
    unobservable="an invocation that is over leaves no events in the session, whatever "
    "they are: tests/harness/faults/test_unobservable.py",
)
message_told_as_sent = held_out.wrap(
    "runtimes.adk.stream:Stream.emit_user_message",
    passing(payload=lambda payload: Altered(payload, display_content=None)),
    says="Clients are shown the sent text instead of the display text.",
    origin="a field of the send that only the recording seemed to need",
)


@fault(
    "runtimes.adk.stream:Stream.read",
    origin="an abort signal checked between the framework's events, not between ours",
)
def chunk_told_after_abort(read: Any, self: Any, event: Any, run: Any) -> Any:
    """The rest of a chunk is emitted after an abort in the middle of the chunk."""
    if getattr(getattr(event.content, "note", None), "index", 0):
        run = replace(run, signal=AbortController().signal)
    return read(self, event, run)


@fault(
    "runtimes.adk.continuation:Continuation._completed",
    origin="seen in agent migrations: siblings not cancelled",
)
async def waiting_calls_run_after_abort(run_batch: Any, self: Any, run: Any, tools: Any) -> Any:
    """After an abort, the waiting calls of a batch still run."""
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


@fault(
    "runtimes.adk.agent:AdkAgentProtocol.send",
    origin="google-adk's invocation ids used as prompt ids",
)
async def prompt_id_per_send(send: Any, self: Any, payload: Any) -> Any:
    """Every send counts as a new prompt for routing, announcements and loop detection."""
    self.sends = getattr(self, "sends", 0) + 1
    prompt_id = self._config.prompt_id.partition("#")[0]
    self._config = replace(self._config, prompt_id=f"{prompt_id}#{self.sends}")
    return await send(self, payload)


@fault_recording(
    "runtimes.adk.conversation:Conversation.rewind",
    origin="google-adk's events do not mark what a user typed",
)
def rewind_counts_all_messages(rewind: Any, self: Any, to: Any) -> None:
    """A rewind by number also counts the model's messages."""
    messages = self.recording.messages
    if isinstance(to, int) and 0 <= to < len(messages):
        to = str(messages[to].get("id"))
    rewind(self, to)


@held_out(
    "runtimes.adk.agent:AdkAgentProtocol.send",
    origin="a check placed after the action that it should prevent",
)
async def refused_send_told(send: Any, self: Any, payload: Any) -> Any:
    """The message of a refused send is still emitted to clients."""
    active = self._stream
    if active is not None and active.active and isinstance(payload, MessageSend):
        type(active)(self._config.services, self._log).emit_user_message(payload)
    return await send(self, payload)


@held_out(
    "runtimes.adk.runtime:AdkRuntime.agent",
    origin="google-adk's sessions, one for each runner",
)
def new_agent_new_conversation(agent: Any, /, self: Any, **kwargs: Any) -> Any:
    """A new agent of a session starts with the environment context alone."""
    if self._agents:
        self._chats = self._conversation = type(self._conversation)(self._services)
        self._conversation.start()
        self._tools = type(self._tools)(self._conversation.declarations)
    return agent(self, **kwargs)


@held_out(
    "runtimes.adk.agent:content_to_parts",
    origin="a message that was a string before it became parts",
)
def texts_of_a_message_joined(to_parts: Any, content: Any) -> Any:
    """The texts of one message reach the model joined into one."""
    joined: list[Any] = []
    for part in to_parts(content):
        if joined and part.keys() == joined[-1].keys() == {"text"}:
            joined[-1] = {"text": joined[-1]["text"] + part["text"]}
        else:
            joined.append(part)
    return joined


@held_out_recording(
    "runtimes.adk.continuation:Continuation._results",
    origin="two paths to one batch; one was forgotten",
)
async def results_outside_a_round_unrecorded(results: Any, self: Any, stream: Any, run: Any) -> Any:
    """Calls of an abandoned answer are run and answered, but not recorded."""
    kept = self._conversation
    self._conversation = Altered(kept, record_tool_calls=lambda model, completed: None)
    try:
        return await results(self, stream, run)
    finally:
        self._conversation = kept


hints_only_outside_of_rounds = fault_interactive.wrap(
    "runtimes.adk.continuation:Continuation._steer",
    returns(None),
    says="Hints go only with results that no round of tools sends.",
    origin="two paths to one batch; one was forgotten",
)


@held_out_interactive(
    "runtimes.adk.plugins.steering:SteeringAdkPlugin.request_sent",
    origin="a plugin without the callback that follows the request",
)
def hints_never_taken_by_a_request(request_sent: Any, self: Any, parts: Any) -> None:
    """A hint for the main loop is sent with every batch of results."""
