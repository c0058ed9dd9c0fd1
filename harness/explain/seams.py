"""At which seam the first difference was observed, as far as what was observed can tell.

One function for each channel, each a list of signs: what differs, what stands before it, which
other channels differ. A sign either singles out a seam or says nothing; where none does the answer
is `unknown`, for a wrong seam costs its reader more than none.
"""

from __future__ import annotations

from typing import Final

from harness.explain.evidence import Evidence
from harness.explain.model import Seam
from harness.explain.questions import request_seam
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.timeline.model import MomentKind

__all__ = ["seam_of"]


def seam_of(evidence: Evidence) -> Seam:
    """The seam, or `unknown`."""
    first = evidence.first
    if first.kind is Kind.NONDETERMINISTIC:
        return Seam.UNKNOWN
    if first.kind is Kind.REPLAY:
        return Seam.LIFECYCLE if first.path == "stalled" else Seam.UNKNOWN
    match first.channel:
        case ChannelName.REQUESTS:
            return request_seam(evidence)
        case ChannelName.PROVIDER:
            return Seam.REQUEST_ASSEMBLY
        case ChannelName.RETRIES:
            return _retry_seam(evidence)
        case ChannelName.TOOL_STATES:
            return _call_seam(evidence)
        case ChannelName.WORKSPACE:
            return _workspace_seam(evidence)
        case ChannelName.TRANSCRIPT:
            return _memory_seam(evidence)
        case ChannelName.RECORDING:
            return _recording_seam(evidence)
        case ChannelName.EVENTS:
            return _event_seam(evidence)
        case ChannelName.COST:
            return Seam.UNKNOWN


def _retry_seam(evidence: Evidence) -> Seam:
    first = evidence.first
    if first.label != "retry":
        return _SIDES.get(first.label) or _model_changed(evidence)
    if "retry.model" in {found.path for found in evidence.beside}:
        return Seam.FALLBACK
    if first.kind is Kind.CHANGED:
        return Seam.UNKNOWN if evidence.about("fallback") else Seam.RETRY
    if evidence.read_otherwise:
        return Seam.STREAM
    if _asks_another_model(evidence):
        return Seam.UNKNOWN
    return Seam.RETRY


_SIDES: Final = {
    "fallback-handler": Seam.FALLBACK,
    "approval-mode-changed": Seam.POLICY,
    "approval-mode-rejected": Seam.POLICY,
    "confirmation": Seam.POLICY,
    "send-rejected": Seam.LIFECYCLE,
}


def _model_changed(evidence: Evidence) -> Seam:
    failed = evidence.earlier(MomentKind.RETRY) or evidence.reached("handler:", "fallback:")
    return Seam.FALLBACK if failed else Seam.UNKNOWN


def _asks_another_model(evidence: Evidence) -> bool:
    return any(found.path == "model" for found in evidence.of(ChannelName.REQUESTS))


def _call_seam(evidence: Evidence) -> Seam:
    first = evidence.first
    if first.path == "call":
        return Seam.UNKNOWN
    values = {
        value
        for found in evidence.beside
        for value in (found.control, found.candidate)
        if isinstance(value, str)
    }
    if evidence.reached_once("tool_error:tool_not_registered"):
        return Seam.UNKNOWN  # what is declared, what may be done, or what there is
    if evidence.about("policy"):
        return Seam.POLICY
    if evidence.about("hooks") or evidence.reached_once("hook:"):
        return Seam.HOOKS
    if first.kind is Kind.ORDER and '"error"' not in evidence.text:
        return Seam.SCHEDULER
    if first.kind is Kind.ORDER:
        return Seam.UNKNOWN
    if first.kind in (Kind.MISSING, Kind.EXTRA):
        return _lone_call(evidence)
    if "awaiting_approval" in values or evidence.value(ChannelName.RETRIES, "confirmation"):
        return Seam.POLICY
    if "cancelled" in values and evidence.reached("abort:"):
        return Seam.UNKNOWN if "scheduled" in values else Seam.LIFECYCLE
    if evidence.reached_once("policy:denied", "policy:asked"):
        return Seam.POLICY
    if "error" in values or (
        ABSENT in values and _told_otherwise(evidence, "tool_request", "tool_response")
    ):
        return Seam.UNKNOWN  # arguments, policy, tool: all of them end a call so
    return Seam.SCHEDULER


def _lone_call(evidence: Evidence) -> Seam:
    for prefix, seam in _ONE_SIDED:
        if evidence.reached_once(prefix):
            return seam
    if evidence.about("loops", "limits") or _told_otherwise(evidence, "tool_request"):
        return Seam.UNKNOWN
    return Seam.SCHEDULER


def _told_otherwise(evidence: Evidence, *labels: str) -> bool:
    """Whether one side alone told the client of such an event."""
    return any(
        found.label in labels and found.kind in (Kind.MISSING, Kind.EXTRA)
        for found in evidence.of(ChannelName.EVENTS)
    )


_ONE_SIDED: Final = (
    ("hook:", Seam.HOOKS),
    ("loop:", Seam.LOOPS),
    ("limit:", Seam.LIFECYCLE),
    ("abort:", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
    ("end:max_turns", Seam.LIFECYCLE),
)
"""What one side alone reached, which is why it made a call that the other did not make."""


def _workspace_seam(evidence: Evidence) -> Seam:
    told = evidence.text
    if "hook_event_name" in told or ('"session_id' in told and "transcript_path" in told):
        return Seam.HOOKS
    if evidence.about("hooks"):
        return Seam.HOOKS
    if evidence.shares_services or evidence.channels > {ChannelName.WORKSPACE}:
        return Seam.UNKNOWN
    ran = any(row.kind is MomentKind.TOOL for row in evidence.before)
    return Seam.TOOL if ran else Seam.UNKNOWN


def _memory_seam(evidence: Evidence) -> Seam:
    if _went_otherwise(evidence) or evidence.about("abort", "loops", "limits"):
        return Seam.UNKNOWN
    labels = {found.label for found in evidence.of(ChannelName.EVENTS)}
    if evidence.first.label == "content(model)" and "message(agent)" in labels:
        return Seam.UNKNOWN if evidence.shares_services else Seam.STREAM
    return Seam.UNKNOWN if labels else Seam.HISTORY


def _recording_seam(evidence: Evidence) -> Seam:
    if ChannelName.EVENTS in evidence.channels:
        return Seam.UNKNOWN
    lone = evidence.first.kind in (Kind.MISSING, Kind.EXTRA)
    if lone and "message(" in evidence.first.label and evidence.about("masking", "compression"):
        return Seam.UNKNOWN  # a history written anew, or one that was written down otherwise
    if ".tokens" in evidence.first.path and not evidence.shares_services:
        return Seam.UNKNOWN  # as they were read, or as they are written down
    return Seam.RECORDING


def _went_otherwise(evidence: Evidence) -> bool:
    """Whether the client was told of something else happening, not only in other words.

    What is kept at the end follows from that.
    """
    return any(
        found.kind in (Kind.MISSING, Kind.EXTRA) or found.label == "agent_end"
        for found in evidence.of(ChannelName.EVENTS)
    )


def _event_seam(evidence: Evidence) -> Seam:
    first = evidence.first
    if first.label == "agent_end" and first.path.startswith("data"):
        return Seam.HOOKS if evidence.reached("hook:agent_stopped") else Seam.LIFECYCLE
    if first.label in ("agent_start", "agent_end"):
        return Seam.LIFECYCLE
    if first.kind in (Kind.MISSING, Kind.EXTRA) and _next_ends_aborted(evidence):
        return Seam.LIFECYCLE
    if first.kind in (Kind.MISSING, Kind.EXTRA) and evidence.reached("loop:") and _spoken(first):
        return Seam.LOOPS if _loop_is_told_next(evidence) else Seam.UNKNOWN
    if first.kind in (Kind.MISSING, Kind.EXTRA) and evidence.about("hooks") and _spoken(first):
        return Seam.UNKNOWN
    if first.label.startswith("tool_") and not evidence.shares_services:
        return Seam.UNKNOWN  # what the tool said, or how it is told
    return Seam.EVENTS


def _loop_is_told_next(evidence: Evidence) -> bool:
    questions = (row for row in evidence.after if row.kind is MomentKind.REQUEST)
    row = next(questions, None)
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
