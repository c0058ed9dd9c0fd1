"""More of what the checks of `within` bring into the runtime: plugins that look at its session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from parity_tests.adk_probes.probe import Noting
from parity_tests.adk_probes.watching import kinds_of
from runtimes.adk.notes import Delta, note_of
from runtimes.adk.session_events import UnreadEvent, live_events

__all__ = [
    "AbortedLoop",
    "AtTheEnd",
    "Emptying",
    "Ends",
    "Listing",
    "Processing",
    "Unread",
]


class AtTheEnd(Noting):
    """Notes the session's events at the end of each run, and how many of them are not settled."""

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        session = invocation_context.session
        events: Sequence[Event] = session.events
        self.note(len(live_events(session.events)), *(kinds_of(event.content) for event in events))


class AbortedLoop(Noting):
    """Aborts the send as a user does, with the second delta of a chunk; notes how runs end."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._left = at

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        note = note_of(llm_response)
        if isinstance(note, Delta) and note.index:
            self._left -= 1
        if self._left == 0:
            self._left = -1
            signal = callback_context._invocation_context.agent.model._parts.link.run.signal
            signal._abort(None)

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        if event.error_code is not None:
            self.note(event.error_code, event.partial)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        self.note("the run is over")


class Ends(Noting):
    """Notes how each run ends, and what it says in whole events."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        if not event.partial:
            self.note("event", *kinds_of(event.content))

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        self.note("over")

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        self.note("error", type(error).__name__)


class Unread(Noting):
    """Notes how many of the session's events nothing has read, and how many there are."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(sum(type(event) is UnreadEvent for event in events), len(events))


class Listing(Noting):
    """Puts a plain list of its events into the session when a run begins."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session = invocation_context.session
        session.events = list(session.events)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*(kinds_of(event.content) for event in events))


class Emptying(Noting):
    """Leaves no event in the session when a run begins, and notes the contents of each request."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        invocation_context.session.events = []

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.note(*(kinds_of(content) for content in list.__iter__(llm_request.contents)))


class _Counting(BaseLlmRequestProcessor):
    name = "counting"

    def __init__(self, noting: Noting) -> None:
        super().__init__()
        self._noting = noting

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        contents = list.__iter__(llm_request.contents)
        self._noting.note(llm_request.model, *(kinds_of(content) for content in contents))
        for event in tuple[Event, ...]():
            yield event


class Processing(Noting):
    """Adds a processor to those of the agent, which notes each request."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        if not self.seen:
            agent.request_processors.append(_Counting(self))
