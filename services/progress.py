"""`ProgressFeed`: what a session shows while it works, as one stream of typed notices.

A surface subscribes to the feed and needs to know neither the runtime nor its scheduler. The feed
reads the message bus, the core events and, after `follow`, the events of an agent. The scheduler
publishes every call at every change; the feed emits only what is new to the user.

Source: core `scheduler/state-manager.ts` (`TOOL_CALLS_UPDATE`), `utils/events.ts` (`RetryAttempt`),
`agents/types.ts` (`SubagentProgress`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from agent_protocol.content import ThoughtPart
from agent_protocol.events import AgentEvent, Message
from services.message_bus import MessageBus, ToolCallsUpdate, ToolCallView
from services.state import CoreEvent, CoreEvents, RetryAttempt
from services.tools.contract import CallProgress, ConfirmationDetails
from services.wire import Json, JsonObject

__all__ = [
    "AgentActivity",
    "CallKey",
    "CallMoved",
    "CallOutput",
    "CallProcess",
    "CallQuestion",
    "CallReport",
    "Notice",
    "ProgressFeed",
    "Thought",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """One call of the session, or of a subagent.

    Calls of one id in one batch are different calls; `nth` counts them from 0.
    """

    call_id: str
    nth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMoved:
    """A call has reached another state: `validating`, `executing`, `success`, …"""

    call: CallKey
    name: str
    status: str
    parent_call_id: str | None = None
    """For a subagent's call: the call that runs the subagent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallQuestion:
    """A call waits for the user. The answer is a `ToolConfirmationResponse` with this id."""

    call: CallKey
    correlation_id: str
    details: ConfirmationDetails | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutput:
    """The whole output of an executing call so far; it replaces the output before."""

    call: CallKey
    output: Json
    """Text; a tool of a third party may show another JSON value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentActivity:
    """The activities of the subagent that an executing call runs; they replace those before."""

    call: CallKey
    agent: str
    state: str
    """`running`, `completed`, `error` or `cancelled`."""
    activities: Sequence[JsonObject]
    """`{id, type, content, displayName?, description?, args?, status}`, oldest first."""
    result: Json = None
    terminate_reason: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProcess:
    """An executing call runs a process."""

    call: CallKey
    process_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """A server reports the progress of an executing call."""

    call: CallKey
    progress: CallProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A thought of the agent that the feed follows."""

    text: str
    subject: str | None = None


CallNotice = CallMoved | CallQuestion | CallOutput | AgentActivity | CallProcess | CallReport
Notice = CallNotice | RetryAttempt | Thought


class _Session(Protocol):
    """The part of `Services` that the feed reads."""

    @property
    def bus(self) -> MessageBus: ...

    @property
    def events(self) -> CoreEvents: ...


@dataclass(slots=True)
class _Shown:
    """The latest values of one call that the subscribers know."""

    status: str | None = None
    question: str | None = None
    output: Json = None
    process_id: int | None = None
    progress: CallProgress | None = None


class ProgressFeed:
    """The notices of one session, from its creation to `close`.

    Subscribers are called at once and in order. One that raises is logged and skipped.
    """

    def __init__(self, session: _Session) -> None:
        self._subscribers: list[Callable[[Notice], None]] = []
        self._shown: dict[CallKey, _Shown] = {}
        self._until_close = ExitStack()
        self._until_close.callback(session.bus.subscribe(ToolCallsUpdate, self._on_update))
        self._until_close.callback(session.events.subscribe(self._on_core_event))

    def subscribe(self, subscriber: Callable[[Notice], None]) -> Callable[[], None]:
        """Call `subscriber` with every notice from now on; return the unsubscribe."""
        self._subscribers.append(subscriber)

        def off() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return off

    def follow(self, agent: AgentProtocol) -> None:
        """Emit the thoughts of `agent`, too."""
        self._until_close.callback(agent.subscribe(self._on_agent_event))

    def close(self) -> None:
        """Stop reading the session."""
        self._until_close.close()

    def _emit(self, notice: Notice) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(notice)
            except Exception:
                logger.exception("a subscriber of the progress failed on %r", notice)

    def _on_core_event(self, event: CoreEvent) -> None:
        if isinstance(event, RetryAttempt):
            self._emit(event)

    def _on_agent_event(self, event: AgentEvent) -> None:
        if not isinstance(event, Message) or event.role != "agent":
            return
        subject = (event.meta or {}).get("subject")
        for part in event.content:
            if isinstance(part, ThoughtPart):
                self._emit(
                    Thought(
                        text=part.thought, subject=subject if isinstance(subject, str) else None
                    )
                )

    def _on_update(self, update: ToolCallsUpdate) -> None:
        numbers: Counter[str] = Counter()
        for view in update.calls:
            call = CallKey(call_id=view.call_id, nth=numbers[view.call_id])
            numbers[view.call_id] += 1
            self._on_call(call, view)

    def _on_call(self, call: CallKey, view: ToolCallView) -> None:
        shown = self._shown.get(call)
        if shown is None or shown.status != view.status:
            # A state ends what was shown in the state before.
            shown = self._shown[call] = _Shown(status=str(view.status))
            self._emit(
                CallMoved(
                    call=call,
                    name=view.name,
                    status=str(view.status),
                    parent_call_id=view.parent_call_id,
                )
            )
        if view.correlation_id is not None and view.correlation_id != shown.question:
            shown.question = view.correlation_id
            details = view.confirmation_details
            self._emit(CallQuestion(call=call, correlation_id=view.correlation_id, details=details))
        if view.process_id is not None and view.process_id != shown.process_id:
            shown.process_id = view.process_id
            self._emit(CallProcess(call=call, process_id=view.process_id))
        if view.progress is not None and view.progress != shown.progress:
            shown.progress = view.progress
            self._emit(CallReport(call=call, progress=view.progress))
        if view.live_output is not None and view.live_output != shown.output:
            shown.output = view.live_output
            self._emit(_output(call, view.live_output))


def _output(call: CallKey, output: Json) -> CallOutput | AgentActivity:
    if not (isinstance(output, dict) and output.get("isSubagentProgress") is True):
        return CallOutput(call=call, output=output)
    activities = output.get("recentActivity")
    return AgentActivity(
        call=call,
        agent=str(output.get("agentName")),
        state=str(output.get("state")),
        activities=activities if isinstance(activities, list) else (),
        result=output.get("result"),
        terminate_reason=output.get("terminateReason"),
    )
