"""At which seam the first difference was observed, as far as what was observed can tell.

One function for each channel, each a list of signs: what differs, what stands before it, which
other channels differ. Each sign is a rule with a name. A rule speaks plainly only where nothing
else gives its sign; the others say `probably`, and why that is not sure.
"""

from __future__ import annotations

from typing import Final

from harness.explain.evidence import Evidence
from harness.explain.guess import Guess, plainly, probably, unknown
from harness.explain.model import Seam
from harness.explain.questions import request_seam
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.timeline.model import MomentKind

__all__ = ["seam_of"]

_LONE: Final = frozenset({Kind.MISSING, Kind.EXTRA})


def seam_of(evidence: Evidence) -> Guess:
    """The seam, with the rule that gave it."""
    guess = _channel_seam(evidence)
    if guess.sure and any(found.kind is Kind.REPLAY for _, found in evidence.open):
        # What a run did that broke off, or was asked too little, has more causes than one.
        return probably(guess.rule, guess.seam, "the replay itself went differently")
    return guess


def _channel_seam(evidence: Evidence) -> Guess:
    first = evidence.first
    if first.kind is Kind.NONDETERMINISTIC:
        return unknown("unsteady")
    if first.kind is Kind.REPLAY:
        return _replay_seam(first)
    if (child := _of_a_child(evidence)) is not None:
        return child
    match first.channel:
        case ChannelName.REQUESTS:
            return request_seam(evidence)
        case ChannelName.PROVIDER:
            return probably("objection", Seam.REQUEST_ASSEMBLY)
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
        case ChannelName.CHILDREN:
            return _child_seam(evidence)
        case ChannelName.EVENTS:
            return _event_seam(evidence)
        case ChannelName.COST:
            return unknown("cost-alone")


def _replay_seam(first: Divergence) -> Guess:
    if first.path == "stalled":
        return probably("stalled", Seam.LIFECYCLE, "anything that never ends stalls a replay")
    return unknown("replay")


def _of_a_child(evidence: Evidence) -> Guess | None:
    """The seam of what a child agent did, or what its parent was given of it."""
    first = evidence.first
    if first.channel is ChannelName.CHILDREN:
        return _child_seam(evidence)
    doubt = "what a child shares with its parent may differ, too"
    if "thread " in first.label and first.channel is not ChannelName.PROVIDER:
        return probably("done-by-child", Seam.SUBAGENTS, doubt)
    if "recentActivity" in first.path or evidence.shows("function response invoke_agent"):
        return probably("result-of-child", Seam.SUBAGENTS, doubt)
    return None


def _child_seam(evidence: Evidence) -> Guess:
    """Up to here both asked the model the same, made the same calls and recorded the same."""
    sort = evidence.first.sort
    if sort == "child":
        return probably("child-itself", Seam.SUBAGENTS, "which agents there are is a definition's")
    if not sort.isupper():  # activities are, events are not
        return probably("child-event", Seam.EVENTS, "the child may have told it so")
    return probably("child-told", Seam.SUBAGENTS, "it may have gone so, and be told as it went")


def _retry_seam(evidence: Evidence) -> Guess:
    first = evidence.first
    if first.sort != "retry":
        return _report_seam(evidence)
    if "retry.model" in {found.path for found in evidence.beside}:
        return probably("retry-of-model", Seam.FALLBACK, "the model may have been routed so")
    if first.kind is Kind.CHANGED:
        if evidence.reached("fallback:", "handler:"):
            return probably("retry-paced-at-fallback", Seam.RETRY, "a fallback paces retries too")
        return plainly("retry-paced", Seam.RETRY)
    if evidence.channels == {ChannelName.RETRIES}:
        # The same questions follow: the question was asked again, and was only not announced so.
        return probably("retry-not-announced", Seam.RETRY, "the announcement may be lost elsewhere")
    if evidence.read_otherwise:
        return probably("answer-read-otherwise", Seam.STREAM, "or such an answer is not retried")
    if _asks_another_model(evidence):
        return probably("retry-or-model", Seam.RETRY, "another model is asked, too")
    return probably("retry-alone", Seam.RETRY, "whatever ends the waiting ends the retries")


_REPORTS: Final = {
    "fallback-handler": Seam.FALLBACK,
    "approval-mode-changed": Seam.POLICY,
    "approval-mode-rejected": Seam.POLICY,
    "confirmation": Seam.POLICY,
    "send-rejected": Seam.LIFECYCLE,
}


def _report_seam(evidence: Evidence) -> Guess:
    label = evidence.first.sort
    if label in _REPORTS:
        return probably("report", _REPORTS[label])
    if evidence.earlier(MomentKind.RETRY) or evidence.reached("handler:", "fallback:"):
        return probably("model-changed-after-failure", Seam.FALLBACK)
    return probably("model-changed", Seam.ROUTING)


def _asks_another_model(evidence: Evidence) -> bool:
    return any(found.path == "model" for found in evidence.of(ChannelName.REQUESTS))


def _call_seam(evidence: Evidence) -> Guess:
    first = evidence.first
    values = {
        value
        for found in evidence.beside
        for value in (found.control, found.candidate)
        if isinstance(value, str)
    }
    # Both of our own runtimes are given the same tools.
    made = Seam.SCHEDULER if evidence.shares_services else Seam.TOOL
    if first.path == "call":
        return probably("call-itself", Seam.SCHEDULER, "the model's stream names the call")
    if evidence.reached_once("tool_error:tool_not_registered"):
        return probably("call-unregistered", made, "what there is, or what may be done")
    if evidence.reached_once("policy:denied", "policy:asked"):
        return probably("call-policy-once", Seam.POLICY, "a hook or the caller may ask less")
    if evidence.reached_once("hook:"):
        return probably("call-hook-once", Seam.HOOKS)
    if evidence.about("policy"):
        return probably("call-about-policy", Seam.POLICY, "the cassette is about it")
    if evidence.about("hooks"):
        return probably("call-about-hooks", Seam.HOOKS, "the cassette is about them")
    if first.kind is Kind.ORDER:
        if '"error"' in evidence.text:
            return probably("calls-swapped-failing", made, "one of them failed")
        return probably("calls-swapped", Seam.SCHEDULER)
    if first.kind in _LONE:
        return _lone_call(evidence)
    if "awaiting_approval" in values or evidence.value(ChannelName.RETRIES, "confirmation"):
        return probably("call-waited", Seam.POLICY)
    if "cancelled" in values and evidence.reached("abort:"):
        return probably("call-cancelled", Seam.LIFECYCLE, "the scheduler cancels as well")
    if "error" in values:
        doubt = "arguments, policy and tool all end a call so"
        return probably("call-failed", made, doubt)
    if ABSENT in values and _told_otherwise(evidence, "tool_request", "tool_response"):
        return probably("call-cut-and-told", Seam.STREAM, "the answer may have been read otherwise")
    return probably("call-steps", Seam.SCHEDULER)


def _lone_call(evidence: Evidence) -> Guess:
    for prefix, seam in _ONE_SIDED:
        if evidence.reached_once(prefix):
            return probably("lone-call-reached", seam, "that may follow from the call")
    if evidence.reached("loop:") or evidence.about("loops"):
        return probably("lone-call-at-loop", Seam.LOOPS, "a loop is noticed at calls")
    if _told_otherwise(evidence, "tool_request"):
        return probably("lone-call-told", Seam.STREAM, "the answer may have been read otherwise")
    return probably("lone-call", Seam.SCHEDULER)


def _told_otherwise(evidence: Evidence, *labels: str) -> bool:
    """Whether one side alone told the client of such an event."""
    return any(
        found.label in labels and found.kind in _LONE for found in evidence.of(ChannelName.EVENTS)
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


def _workspace_seam(evidence: Evidence) -> Guess:
    told = evidence.text
    if "hook_event_name" in told or ('"session_id' in told and "transcript_path" in told):
        if evidence.shares_services:
            return plainly("told-to-a-hook", Seam.HOOKS)
        return probably("told-to-a-hook-of-engines", Seam.HOOKS, "it is told what others did")
    if evidence.reached("hook:") or evidence.about("hooks"):
        return probably("file-at-hook", Seam.HOOKS, "tools leave files, too")
    if evidence.shares_services:
        return unknown("file-of-the-same-tools", "both sides are given the same tools")
    return probably("file-of-tool", Seam.TOOL, "what comes after a call leaves files, too")


def _memory_seam(evidence: Evidence) -> Guess:
    if evidence.reached_once("hook:"):
        return probably("memory-hook-once", Seam.HOOKS)
    labels = {found.label for found in evidence.of(ChannelName.EVENTS)}
    if _went_otherwise(evidence):
        doubt = "what is remembered follows from how the stream went"
        if evidence.reached("loop:"):
            return probably("memory-otherwise-loop", Seam.LOOPS, doubt)
        if evidence.failed_once:
            return probably("memory-otherwise-error", Seam.RETRY, doubt)
        return probably("memory-otherwise", Seam.LIFECYCLE, doubt)
    if evidence.value(ChannelName.TRANSCRIPT, "inlineData", "fileData"):
        return probably("memory-media", Seam.REQUEST_ASSEMBLY, "media are moved when they are sent")
    if evidence.first.label == "content(model)" and "message(agent)" in labels:
        return probably("answer-remembered-and-told", Seam.STREAM)
    return probably("memory", Seam.HISTORY, "it may be how it would have been sent")


def _recording_seam(evidence: Evidence) -> Guess:
    lone = evidence.first.kind in _LONE
    if ChannelName.EVENTS in evidence.channels:
        if evidence.reached("abort:") or _went_otherwise(evidence):
            doubt = "what is recorded follows from how the stream went"
            return probably("recording-otherwise", Seam.LIFECYCLE, doubt)
        doubt = "recorded and told otherwise alike"
        if any(found.label == "tool_response" for found in evidence.of(ChannelName.EVENTS)):
            return probably("result-recorded-and-told", Seam.SCHEDULER, doubt)
        return probably("recorded-and-told", Seam.STREAM, doubt)
    if lone and "message(" in evidence.first.label and evidence.shrinks:
        doubt = "a history written anew is recorded anew"
        return probably("recorded-anew", Seam.REQUEST_ASSEMBLY, doubt)
    if ".tokens" in evidence.first.path:
        return probably("recorded-tokens", Seam.RECORDING, "they may have been read otherwise")
    if not evidence.shares_services:
        return probably("recording-alone-of-engines", Seam.RECORDING, "a service may differ")
    return plainly("recording-alone", Seam.RECORDING)


def _went_otherwise(evidence: Evidence) -> bool:
    """Whether the client was told of something else happening, not only in other words.

    What is kept at the end follows from that.
    """
    return any(
        found.kind in _LONE or found.label == "agent_end"
        for found in evidence.of(ChannelName.EVENTS)
    )


def _event_seam(evidence: Evidence) -> Guess:
    """Nothing else differs by then, except in what it cost."""
    first = evidence.first
    lone = first.kind in _LONE
    if first.label == "agent_end" and first.path.startswith("data"):
        if evidence.reached("hook:agent_stopped"):
            return probably("end-by-hook", Seam.HOOKS)
        return probably("end-data", Seam.LIFECYCLE)
    if first.label in ("agent_start", "agent_end"):
        doubt = "how a stream ends and how its end is told look alike here"
        return probably("end-told", Seam.LIFECYCLE, doubt)
    if lone and _next_ends_aborted(evidence):
        return probably("event-at-abort", Seam.LIFECYCLE, "it may be told wrongly all the same")
    if lone and evidence.reached("loop:") and _spoken(first):
        if _loop_is_told_next(evidence):
            return probably("event-before-loop", Seam.LOOPS)
        return probably("event-at-loop", Seam.EVENTS)
    if lone and _spoken(first) and (evidence.reached("hook:") or evidence.about("hooks")):
        return probably("event-at-hook", Seam.HOOKS, "a hook decides what is told, too")
    if first.label.startswith("tool_") and not evidence.shares_services:
        doubt = "what a tool answers and how it is told look alike here"
        return probably("event-of-tool", Seam.TOOL, doubt)
    if not evidence.shares_services:
        return probably("event-of-engines", Seam.EVENTS, "a service may differ")
    if first.label == "error" and evidence.value(ChannelName.EVENTS, "agent_end"):
        return probably("event-then-end", Seam.LIFECYCLE, "one run failed; look at its error first")
    if first.label in ("session_update", "error"):
        return probably("event-of-state", Seam.EVENTS, "what happened may differ, not its telling")
    return plainly("event", Seam.EVENTS)


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
