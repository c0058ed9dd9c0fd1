"""`Witness`: records the events, calls, retries and side events of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from agent_protocol.codec import to_wire
from agent_protocol.errors import ProtocolViolation
from agent_protocol.events import AgentEvent
from agent_protocol.lifecycle import LifecycleChecker
from harness.canonical import canonical
from harness.replay.children import SeenChildren
from harness.replay.observation import ChildObservation, HookRun
from harness.replay.progress import SeenProgress
from services.bundle import Services
from services.hooks.events import HookNotice, HookStart
from services.progress import Notice, ProgressFeed
from services.state import (
    AgentsDiscovered,
    AgentsRefreshed,
    ApprovalModeChanged,
    CoreEvent,
    HintsKept,
    HookMessage,
    Logged,
    ModelChanged,
    QuotaErrorOccurred,
    RetryAttempt,
    SessionUpdated,
    UserFeedback,
)
from services.threads import MAIN, ThreadPaths, executing_call
from services.wire import JsonObject

__all__ = ["Witness", "in_stable_order"]

_FEEDBACK = "feedback"


class Witness:
    """The record of one run: events in wire form, states of tool calls, retries, side events.

    Listeners receive an agent event after it is recorded. For everything else, a mark records the
    number of events before it.
    """

    def __init__(
        self, now_ms: Callable[[], int] = lambda: 0, place: Callable[[], str] | None = None
    ) -> None:
        """Start recording.

        Args:
            now_ms: Returns the time of the run; by default it is always 0.
            place: Returns the line of a third party's code that has led to a call. With it, an
                event against the contract ends the case (`broke`), instead of being a note.
        """
        self._place = place
        self.broke: str | None = None
        """What the runtime did that no runtime may do, with its place."""
        self._now_ms = now_ms
        self._began = now_ms()
        self._event_times: list[int] = []
        self.events: list[JsonObject] = []
        self._progress = SeenProgress(self._call_moved, self._call_showed)
        self.retries: list[RetryAttempt] = []
        self.side_events: list[JsonObject] = []
        self.hooks: list[HookRun] = []
        self.notes: list[str] = []
        self._listeners: list[Callable[[AgentEvent], None]] = []
        self._output_listeners: list[Callable[[str], None]] = []
        self._lifecycle = LifecycleChecker()
        self._requests = 0
        self._marked_sides = 0
        self._marks: list[tuple[str, int | str, int, int]] = []
        """Channel, number or call id, events before it, time."""
        self._children = SeenChildren(self.notes.append)
        self._paths = ThreadPaths()
        self._call_threads: dict[str, str] = {}
        self._retry_threads: dict[int, str] = {}
        self._side_threads: dict[int, str] = {}

    def listen(self, listener: Callable[[AgentEvent], None]) -> None:
        """Call `listener` with every event from now on."""
        self._listeners.append(listener)

    def listen_to_output(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the tool's name whenever a running call shows something."""
        self._output_listeners.append(listener)

    def watch(self, services: Services) -> None:
        """Record what the services of a run emit."""
        ProgressFeed(services).subscribe(self.on_progress)
        services.subagents.watch(self._children)
        self._paths = services.subagents.threads

    @property
    def children(self) -> list[ChildObservation]:
        """Return the child agents so far, by thread."""
        return self._children.children

    @property
    def threads(self) -> dict[str, dict[int, str]]:
        """Return `Observation.threads` so far."""
        calls = enumerate(self.tool_states)
        found = {
            "tool_states": {
                number: self._call_threads[call]
                for number, call in calls
                if call in self._call_threads
            },
            "retries": dict(self._retry_threads),
            "side_events": dict(self._side_threads),
        }
        return {name: placed for name, placed in found.items() if placed}

    def side(self, event: JsonObject, *, call_id: str | None = None) -> None:
        """Record a side event of the given call, or of the thread that is running."""
        paths = self._paths
        thread = paths.inside(executing_call()) if call_id is None else paths.making(call_id)
        if thread != MAIN:
            self._side_threads[len(self.side_events)] = thread
        self.side_events.append(event)
        self._mark_sides()

    def on_event(self, event: AgentEvent) -> None:
        """Record an event of the agent."""
        self._mark_sides()
        if self._place is not None and (problem := _misshapen(event)):
            self._break(problem)
            return
        self.events.append(to_wire(event))
        self._event_times.append(self._passed())
        try:
            self._lifecycle.feed(event)
        except ProtocolViolation as violation:
            if self._place is None:
                self.notes.append(f"lifecycle: {violation}")
            else:
                self._break(f"it emits its events out of order: {violation}")
        for listener in list(self._listeners):
            listener(event)

    def _break(self, problem: str) -> None:
        """Keep what the runtime breaks first."""
        if self.broke is None and self._place is not None:
            place = self._place()
            self.broke = f"{problem} ({place})" if place else problem

    def on_hook(self, notice: HookNotice) -> None:
        """Record the start of a hook. Its end is a matter of real time."""
        if isinstance(notice, HookStart):
            thread = self._paths.inside(executing_call())
            self.hooks.append(
                HookRun(
                    event=notice.event_name,
                    hook=notice.hook_name,
                    at_ms=self._passed(),
                    thread=thread,
                )
            )

    def on_request(self) -> None:
        """Record the next model request."""
        self._mark("requests", self._requests)
        self._requests += 1

    @property
    def order(self) -> list[tuple[str, int, int]]:
        """Return `Observation.order` so far."""
        return [place for place, _ in self._placed()]

    @property
    def times(self) -> dict[tuple[str, int], int]:
        """Return `Observation.times` so far."""
        events = {("events", number): at for number, at in enumerate(self._event_times)}
        return events | {(channel, index): at for (channel, index, _), at in self._placed()}

    def _placed(self) -> list[tuple[tuple[str, int, int], int]]:
        """Return the entries of `order`, with their times."""
        self._mark_sides()
        last = {mark[1]: number for number, mark in enumerate(self._marks)}
        places: dict[int | str, int] = {call: n for n, call in enumerate(self.tool_states)}
        found = []
        for number, (channel, key, events, at) in enumerate(self._marks):
            if isinstance(key, int):
                sides = len(self.retries) if channel == "side" else 0
                name = "retries" if channel == "side" else channel
                found.append(((name, key + sides, events), at))
            elif key in places and last[key] == number:
                found.append(((channel, places[key], events), at))
        return found

    def _passed(self) -> int:
        return self._now_ms() - self._began

    def _mark(self, channel: str, key: int | str) -> None:
        self._mark_sides()
        self._marks.append((channel, key, len(self.events), self._passed()))

    def _mark_sides(self) -> None:
        """Mark the side events that others have added since the last mark."""
        for number in range(self._marked_sides, len(self.side_events)):
            self._marks.append(("side", number, len(self.events), self._passed()))
        self._marked_sides = len(self.side_events)

    def on_core_event(self, event: CoreEvent) -> None:
        """Record what the services report beside the agent's events."""
        match event:
            case ModelChanged(model=model):
                self.side({"event": "model-changed", "model": model})
            case ApprovalModeChanged(mode=mode):
                self.side({"event": "approval-mode-changed", "mode": str(mode)})
            case SessionUpdated(model=model):
                self.side({"event": "session-updated", "model": model})
            case HintsKept(texts=texts):
                self.side({"event": "hints-kept", "texts": list(texts)})
            case UserFeedback(severity=severity, message=message):
                # For the user alone: it does not say which agent it is about.
                self.side_events.append(
                    {"event": _FEEDBACK, "severity": severity, "message": message}
                )
            case AgentsDiscovered() | AgentsRefreshed() | QuotaErrorOccurred() | Logged():
                pass  # what follows of the first three is compared; the log is not
            case RetryAttempt() | HookMessage():
                pass  # in the progress feed, and among the notices of hooks

    @property
    def tool_states(self) -> dict[str, list[str]]:
        """Return `Observation.tool_states` so far."""
        return self._progress.states

    @property
    def progress(self) -> dict[str, list[JsonObject]]:
        """Return `Observation.progress` so far."""
        return self._progress.shown

    def on_progress(self, notice: Notice) -> None:
        """Record what a call does or shows, or a retry."""
        if isinstance(notice, RetryAttempt):
            self._retry(notice)
        else:
            self._progress.take(notice)

    def _call_moved(self, call_id: str) -> None:
        thread = self._paths.making(call_id)
        if thread != MAIN:
            self._call_threads[call_id] = thread
        self._mark("tool_states", call_id)

    def _call_showed(self, tool: str) -> None:
        for listener in list(self._output_listeners):
            listener(tool)

    def _retry(self, retry: RetryAttempt) -> None:
        self._mark("retries", len(self.retries))
        thread = self._paths.inside(executing_call())
        if thread != MAIN:
            self._retry_threads[len(self.retries)] = thread
        self.retries.append(retry)


def _misshapen(event: AgentEvent) -> str:
    """Why an event is none of the contract, or has a value that is not JSON; empty if it is one."""
    try:
        canonical(to_wire(event))
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        return f"it emits an event that is not JSON ({type(event).__name__}): {error}"
    return ""


def in_stable_order(side_events: Sequence[JsonObject]) -> list[JsonObject]:
    """Sort the messages to the user that follow each other directly.

    Hooks of parallel calls and servers are real processes, so chance decides which message comes
    first. A message that comes before another side event instead of after it stays a difference.
    """
    ordered: list[JsonObject] = []
    for is_feedback, group in groupby(side_events, lambda event: event["event"] == _FEEDBACK):
        events = list(group)
        ordered += sorted(events, key=canonical) if is_feedback else events
    return ordered
