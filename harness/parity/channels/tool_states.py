"""The states of each tool call in the scheduler."""

from __future__ import annotations

from typing import Final

from harness.parity.channel import Channel, SideView, When, of_thread, on_thread
from harness.parity.divergence import ABSENT, ChannelName, Kind
from harness.parity.evidence import LONE, Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.rules import EVERYWHERE, call_ids
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import one_line
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _ToolStates(Channel):
    name = ChannelName.TOOL_STATES
    about = "the states of the tool calls"
    did = "made"
    item = "tool call"
    cannot = "The model requested the same call on both sides, so only one course can be right."

    rules = (call_ids, *EVERYWHERE)
    when = When.AS_IT_HAPPENS
    kind = MomentKind.TOOL

    def items(self, seen: Observation) -> list[JsonObject]:
        threads = seen.threads.get("tool_states", {})
        return [
            {"call": call, "states": list(states), **on_thread(threads, number)}
            for number, (call, states) in enumerate(seen.tool_states.items())
        ]

    def label(self, item: JsonObject) -> str:
        return of_thread("call", item)

    def line(self, side: SideView, index: int) -> str:
        call = side.raw(self.name, index)
        name = side.once(_masked_names).get(call["call"], call["call"])
        states = call["states"]
        way = f" ({' → '.join(states)})" if len(states) > 1 else ""
        last = states[-1] if states else "nothing"
        return one_line(f"moved tool call {name} to {last}{way}")

    def seam(self, evidence: Evidence) -> Guess:
        return _call_seam(evidence)


def _masked_names(seen: Observation) -> dict[str, str]:
    """Call id → the tool's name, for reports."""
    names = {
        str(event.get("requestId")): str(event.get("name"))
        for event in seen.events
        if event.get("type") == "tool_request"
    }
    for child in seen.children:
        for activity in child.activities:
            data = activity.get("data")
            if activity.get("type") == "TOOL_CALL_START" and isinstance(data, dict):
                names[str(data.get("callId"))] = f"{data.get('name')} (thread {child.thread})"
    return {call: seen.paths.mask_text(name) for call, name in names.items()}


def _call_seam(evidence: Evidence) -> Guess:
    # Both of our own runtimes use the same tools.
    made = Seam.SCHEDULER if evidence.shares_services else Seam.TOOL
    if evidence.first.path == "call":
        return probably("call-itself", Seam.SCHEDULER, "the model's stream names the call")
    if evidence.reached_once("tool_error:tool_not_registered"):
        return probably("call-unregistered", made, "the policy may hide the tool")
    if evidence.reached_once("policy:denied", "policy:asked"):
        return probably("call-policy-once", Seam.POLICY, "a hook or the caller may confirm less")
    if evidence.reached_once("hook:"):
        return probably("call-hook-once", Seam.HOOKS)
    if evidence.about("policy"):
        return probably("call-about-policy", Seam.POLICY, "the cassette tests the policy")
    if evidence.about("hooks"):
        return probably("call-about-hooks", Seam.HOOKS, "the cassette tests hooks")
    if evidence.first.kind is Kind.ORDER:
        if '"error"' in evidence.text:
            return probably("calls-swapped-failing", made, "one of the calls failed")
        return probably("calls-swapped", Seam.SCHEDULER)
    return _lone_call(evidence) if evidence.first.kind in LONE else _changed_call(evidence, made)


def _changed_call(evidence: Evidence, made: Seam) -> Guess:
    """The seam of a call that took another way on each side; `made` is the seam of its result."""
    values = {
        value
        for found in evidence.beside
        for value in (found.control, found.candidate)
        if isinstance(value, str)
    }
    if "awaiting_approval" in values or evidence.value(ChannelName.RETRIES, "confirmation"):
        return probably("call-waited", Seam.POLICY)
    if "cancelled" in values and evidence.reached("abort:"):
        return probably("call-cancelled", Seam.LIFECYCLE, "the scheduler cancels as well")
    if "error" in values:
        doubt = "arguments, policy or tool may have failed"
        return probably("call-failed", made, doubt)
    if ABSENT in values and _emitted_otherwise(evidence, "tool_request", "tool_response"):
        return probably("call-cut-and-emitted", Seam.STREAM, "the response may be read differently")
    return probably("call-steps", Seam.SCHEDULER)


def _lone_call(evidence: Evidence) -> Guess:
    for prefix, seam in _ONE_SIDED:
        if evidence.reached_once(prefix):
            return probably("lone-call-reached", seam, "it may be a consequence of the call")
    if evidence.reached("loop:") or evidence.about("loops"):
        return probably("lone-call-at-loop", Seam.LOOPS, "calls show loops")
    if _emitted_otherwise(evidence, "tool_request"):
        return probably("lone-call-emitted", Seam.STREAM, "the response may be read differently")
    return probably("lone-call", Seam.SCHEDULER)


def _emitted_otherwise(evidence: Evidence, *labels: str) -> bool:
    """Whether only one side emitted an event with one of these labels."""
    return any(
        found.label in labels and found.kind in LONE for found in evidence.of(ChannelName.EVENTS)
    )


_ONE_SIDED: Final = (
    ("hook:", Seam.HOOKS),
    ("loop:", Seam.LOOPS),
    ("limit:", Seam.LIFECYCLE),
    ("abort:", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
    ("end:max_turns", Seam.LIFECYCLE),
)
"""Probes that, if only one side reached them, explain an extra call."""


CHANNEL: Final = _ToolStates()
