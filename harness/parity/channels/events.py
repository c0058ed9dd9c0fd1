"""The events that the client receives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.parity.channel import Channel, When
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import LONE, Evidence
from harness.parity.guess import Guess, Seam, plainly, probably
from harness.parity.rules import (
    EVERYWHERE,
    call_ids,
    error_stacks,
    event_ids,
    own_stacks,
    progress_ids,
    stream_ids,
    timestamps,
)
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted, short_json
from services.wire import JsonObject

__all__ = ["CHANNEL", "event_label", "event_text"]

_TOKENS: Final = (("inputTokens", "in"), ("outputTokens", "out"), ("cachedTokens", "cached"))
_COMMON: Final = frozenset({"type", "id", "timestamp", "streamId", "threadId", "_meta"})


class _Events(Channel):
    name = ChannelName.EVENTS
    about = "the events of the client"
    did = "emitted"
    item = "event"
    cannot = "Both runs did the same up to this event, so only one of the two can be right."

    rules = (
        event_ids,
        stream_ids,
        timestamps,
        own_stacks,
        error_stacks,
        call_ids,
        progress_ids,
        *EVERYWHERE,
    )
    when = When.AS_EMITTED
    timing = True
    kind = MomentKind.EVENT

    def items(self, seen: Observation) -> Sequence[JsonObject]:
        return seen.events

    def label(self, item: JsonObject) -> str:
        return event_label(item)

    def kind_of(self, item: JsonObject) -> MomentKind:
        """The kind of an event: a message of the model has its own."""
        said = item.get("type") == "message" and item.get("role") == "agent"
        return MomentKind.ANSWER if said else MomentKind.EVENT

    def text(self, item: Any) -> str:
        return event_text(item)

    def item_of(self, found: Divergence) -> str:
        return f"{self.item} ({found.label})" if found.label else self.item

    def seam(self, evidence: Evidence) -> Guess:
        return _event_seam(evidence)


def event_label(event: JsonObject) -> str:
    """The sort of event: `usage`, `message(agent)`."""
    kind = str(event.get("type"))
    return f"{kind}({event.get('role')})" if kind == "message" else kind


def event_text(event: Mapping[str, Any]) -> str:
    """An event in a few words."""
    kind = str(event.get("type"))
    match kind:
        case "message":
            role = event.get("role")
            author = "model" if role == "agent" else role
            line = f"emitted message of the {author}: {_said(event.get('content'))}"
        case "tool_request":
            line = f"emitted tool_request {event.get('name')} {short_json(event.get('args'))}"
        case "tool_response":
            failed = " (error)" if event.get("isError") else ""
            line = f"emitted tool_response {event.get('name')}{failed}: {_result(event)}"
        case "usage":
            counts = [f"{event.get(key)} {name}" for key, name in _TOKENS if event.get(key)]
            line = f"emitted usage of {event.get('model')}: {', '.join(counts) or 'nothing'}"
        case "agent_end":
            line = f"emitted agent_end: {event.get('reason')}"
        case "error":
            line = f"emitted error {event.get('status')}: {quoted(event.get('message'))}"
        case "session_update":
            line = f"emitted session_update: {short_json(_own(event))}"
        case _:
            own = _own(event)
            line = f"emitted {kind}: {short_json(own)}" if own else f"emitted {kind}"
    return line


def _own(event: Mapping[str, Any]) -> JsonObject:
    return {key: value for key, value in event.items() if key not in _COMMON}


def _said(content: Any) -> str:
    parts = []
    for part in content if isinstance(content, list) else []:
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get(kind) if isinstance(kind, str) else None
        parts.append(f"{kind} {quoted(text)}" if isinstance(text, str) else f"{kind} part")
    return ", ".join(parts) or "nothing"


def _result(event: Mapping[str, Any]) -> str:
    display = event.get("display")
    result = display.get("result") if isinstance(display, dict) else None
    if event.get("content"):
        return _said(event["content"])
    return quoted(result.get("text", "")) if isinstance(result, dict) else "nothing"


def _event_seam(evidence: Evidence) -> Guess:
    """The seam where the events are the first channel that differs."""
    first = evidence.first
    lone = first.kind in LONE
    if first.label == "agent_end" and first.path.startswith("data"):
        if evidence.reached("hook:agent_stopped"):
            return probably("end-by-hook", Seam.HOOKS)
        return probably("end-data", Seam.LIFECYCLE)
    if first.label in ("agent_start", "agent_end"):
        doubt = "the stream or the emission of its end may differ"
        return probably("end-emitted", Seam.LIFECYCLE, doubt)
    if lone and _next_ends_aborted(evidence):
        return probably("event-at-abort", Seam.LIFECYCLE, "the event translation may differ")
    if lone and evidence.reached("loop:") and _spoken(first):
        if _loop_is_reported_next(evidence):
            return probably("event-before-loop", Seam.LOOPS)
        return probably("event-at-loop", Seam.EVENTS)
    if lone and _spoken(first) and (evidence.reached("hook:") or evidence.about("hooks")):
        return probably("event-at-hook", Seam.HOOKS, "a hook may change what is emitted")
    if first.label.startswith("tool_") and not evidence.shares_services:
        doubt = "the tool result or its emission may differ"
        return probably("event-of-tool", Seam.TOOL, doubt)
    if not evidence.shares_services:
        return probably("event-of-engines", Seam.EVENTS, "a service may differ")
    if first.label == "error" and evidence.value(ChannelName.EVENTS, "agent_end"):
        return probably("event-then-end", Seam.LIFECYCLE, "one run failed; look at its error first")
    if first.label in ("session_update", "error"):
        return probably("event-of-state", Seam.EVENTS, "the state itself may differ")
    return plainly("event", Seam.EVENTS)


def _loop_is_reported_next(evidence: Evidence) -> bool:
    requests = (row for row in evidence.after if row.kind is MomentKind.REQUEST)
    row = next(requests, None)
    moment = None if row is None else row.control or row.candidate
    return moment is not None and "System: Potential loop detected" in moment.line


def _spoken(found: Divergence) -> bool:
    return found.label in ("message(agent)", "tool_request", "tool_response")


def _next_ends_aborted(evidence: Evidence) -> bool:
    for row in evidence.after:
        moment = row.control or row.candidate
        if row.kind in (MomentKind.EVENT, MomentKind.ANSWER) and moment is not None:
            if moment.line == "emitted agent_end: aborted":
                return True
            if not row.divergences:
                return False
    return False


CHANNEL: Final = _Events()
