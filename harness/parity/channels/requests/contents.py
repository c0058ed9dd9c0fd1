"""Names the seam where the contents of a request differ: the history, or what was made of it."""

from __future__ import annotations

import json
import re
from typing import Final

from harness.parity.divergence import ABSENT, ChannelName, Kind
from harness.parity.evidence import Evidence, lines_of
from harness.parity.guess import Guess, Seam, probably
from harness.timeline.model import MomentKind, Row
from harness.timeline.words import quoted

__all__ = ["SAID", "contents_seam"]

SAID: Final = (
    ("<hook_context>", Seam.HOOKS),
    ("System: Potential loop detected", Seam.LOOPS),
    ("[System: You previously", Seam.RETRY),
    ("[System: You successfully", Seam.UNKNOWN),
    ("<tool_output_masked>", Seam.REQUEST_ASSEMBLY),
    ("<state_snapshot>", Seam.REQUEST_ASSEMBLY),
)
"""Texts that the product itself puts into a conversation, and their seams. An empty answer after
tools is unknown: one seam finds it empty, another reacts."""

_ENDED_OTHERWISE: Final = (
    ("hook:", Seam.HOOKS),
    ("abort:", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
)
"""Probes that, if only one side reached them, explain a different conversation so far."""

_CONTENT: Final = re.compile(r"contents\[(\d{1,9})\]")
_COUNT: Final = re.compile(r": (\d{1,9}) contents?\b")
_AFTERWARDS: Final = "the history may have been corrected afterwards"
_USER_SAID: Final = "emitted message of the user: "
_CUT_SHORT: Final = ("emitted agent_end: aborted", "emitted agent_end: failed")


def contents_seam(evidence: Evidence) -> Guess:
    """The seam of a first cause in the contents of a main request."""
    if evidence.read_otherwise:
        return probably("said-read-otherwise", Seam.STREAM)
    if evidence.ended_otherwise and evidence.failed_once:
        return probably("said-failed-otherwise", Seam.RETRY)
    if evidence.ended_otherwise:
        return probably("said-ended-otherwise", Seam.LIFECYCLE)
    first = next(found for found in evidence.beside if found.path.startswith("contents"))
    number = _number(first.path)
    is_new = _is_new(evidence, number)
    for sign, seam in SAID:
        if evidence.says(sign) and not (seam is Seam.HOOKS and evidence.resumed):
            return _sign_seam(evidence, seam, is_new=is_new)
    for prefix, seam in _ENDED_OTHERWISE:
        if evidence.reached_once(prefix) and not evidence.resumed:
            return probably("said-once", seam, "it may be a consequence of the difference")
    values = json.dumps([first.control, first.candidate])
    if "functionResponse" in first.path or "functionResponse" in values:
        return _result_seam(evidence, is_new)
    if any("(utility_compressor" in line for line in _asked_before(evidence)):
        return probably("said-summarised", Seam.REQUEST_ASSEMBLY)
    of_the_model = _is_of_the_model(evidence, number)
    begins_anew = evidence.says("<session_context>") and not evidence.reached_once("compression:")
    if is_new and not (begins_anew or of_the_model or _is_of_earlier(evidence)):
        return probably("said-new", Seam.REQUEST_ASSEMBLY)
    if ChannelName.TRANSCRIPT not in evidence.channels:
        return probably("not-remembered", Seam.REQUEST_ASSEMBLY, _AFTERWARDS)
    return _remembered_seam(evidence, of_the_model=of_the_model)


def _sign_seam(evidence: Evidence, seam: Seam, *, is_new: bool) -> Guess:
    """The seam where one of the texts in `SAID` differs."""
    if seam is Seam.REQUEST_ASSEMBLY and evidence.resumed:
        return probably("sign-resumed", Seam.HISTORY, "the session was resumed")
    if seam is Seam.UNKNOWN:
        return probably("sign-nudge", Seam.RETRY, "the stream decides which response is empty")
    if seam is Seam.RETRY and not is_new and ChannelName.TRANSCRIPT in evidence.channels:
        return probably("sign-stayed", Seam.HISTORY, "the request assembly may differ instead")
    return probably("sign", seam)


def _remembered_seam(evidence: Evidence, *, of_the_model: bool) -> Guess:
    """The seam where an earlier content differs, in the stored conversation, too."""
    if of_the_model and not evidence.resumed and _unsigned(evidence):
        return probably("answer-unsigned", Seam.STREAM, "the history may have lost the signature")
    if _read_back_otherwise(evidence):
        doubt = "the recording or its reader may differ"
        return probably("before-read-back", Seam.RECORDING, doubt)
    if evidence.reached("abort:") and evidence.events_before:
        doubt = "the history depends on the course of the stream"
        return probably("before-abort", Seam.LIFECYCLE, doubt)
    if evidence.reached("loop:") and of_the_model and not evidence.resumed:
        doubt = "the history or the reading of the stream may differ instead"
        return probably("before-loop", Seam.LOOPS, doubt)
    if evidence.shrinks and not evidence.resumed:
        doubt = "the history has the same difference"
        return probably("before-shrunk", Seam.REQUEST_ASSEMBLY, doubt)
    if of_the_model and not (evidence.shares_services or evidence.resumed):
        return probably("before-of-model", Seam.STREAM, "the history may store it differently")
    return probably("before", Seam.HISTORY, "the request assembly may differ instead")


def _is_new(evidence: Evidence, number: int) -> bool:
    """Whether a content was added since the request before."""
    row = evidence.row
    counts = [] if row is None else _counts(row)
    before = [count for row in evidence.earlier(MomentKind.REQUEST)[:1] for count in _counts(row)]
    if before and _same_conversation(evidence):
        return number >= max(before)
    return bool(counts) and all(number >= count - 1 for count in counts)


def _same_conversation(evidence: Evidence) -> bool:
    """Whether the request before is a main request."""
    return not any(" (" in line.partition(":")[0] for line in _asked_before(evidence)[:2])


def _counts(row: Row) -> list[int]:
    """The number of contents of a request on each side."""
    return [int(match[1]) for line in lines_of(row) if (match := _COUNT.search(line))]


def _number(path: str) -> int:
    found = _CONTENT.match(path)
    return int(found[1]) if found else 0


def _asked_before(evidence: Evidence) -> list[str]:
    return [line for row in evidence.earlier(MomentKind.REQUEST) for line in lines_of(row)]


def _is_of_the_model(evidence: Evidence, number: int) -> bool:
    for side in (0, 1):
        contents = (evidence.fields(side) or {}).get("contents")
        if not isinstance(contents, list) or number >= len(contents):
            continue
        content = contents[number]
        if isinstance(content, dict) and content.get("role") == "model":
            return True
    return False


def _is_of_earlier(evidence: Evidence) -> bool:
    """Whether the difference is in an earlier prompt of the user."""
    said = [
        moment.line
        for row in evidence.before
        if (moment := row.control or row.candidate) is not None
        and moment.line.startswith(_USER_SAID)
    ]
    values = {
        text
        for found in evidence.beside
        for value in (found.control, found.candidate)
        for text in (value, value.get("text") if isinstance(value, dict) else None)
        if isinstance(text, str) and text != ABSENT
    }
    return any(line.endswith(f"text {quoted(text)}") for text in values for line in said[:-1])


def _unsigned(evidence: Evidence) -> bool:
    """Whether only the signatures of an answer differ.

    A signature comes with a chunk of the stream, and may be lost when chunks are joined.
    """
    return all(found.path.endswith("thoughtSignature") for found in evidence.beside)


def _read_back_otherwise(evidence: Evidence) -> bool:
    """Whether the conversation may have been resumed from differing recordings."""
    kinds = {found.kind for found in evidence.of(ChannelName.RECORDING)}
    return evidence.resumed and {Kind.MISSING, Kind.EXTRA} <= kinds


def _in_another_order(evidence: Evidence) -> bool:
    """Whether the same results stand in another order."""
    places = [found for found in evidence.beside if "functionResponse." in found.path]
    if sum(found.path.endswith("functionResponse.name") for found in places) > 1:
        return True
    here = sorted(json.dumps(found.control) for found in places)
    return len(places) > 1 and here == sorted(json.dumps(found.candidate) for found in places)


def _result_seam(evidence: Evidence, is_new: bool) -> Guess:
    """The seam where the result of a call differs."""
    if _in_another_order(evidence):
        return probably("results-swapped", Seam.SCHEDULER, "the request assembly may order them")
    if not is_new:
        if ChannelName.TRANSCRIPT not in evidence.channels:
            return probably("not-remembered", Seam.REQUEST_ASSEMBLY, _AFTERWARDS)
        return _remembered_seam(evidence, of_the_model=False)
    emitted = any(found.label == "tool_response" for found in evidence.of(ChannelName.EVENTS))
    if evidence.about("policy"):
        return probably("result-about-policy", Seam.POLICY, "the cassette tests the policy")
    if evidence.shares_services:
        if emitted or ChannelName.TOOL_STATES in evidence.channels:
            return probably("result-sent", Seam.SCHEDULER, "both sides use the same tools")
        return probably("result-not-sent", Seam.REQUEST_ASSEMBLY)
    doubt = "the tool result or the request assembly may differ"
    if evidence.reached("truncation:") or evidence.about("truncation", "distillation"):
        return probably("result-cut", Seam.SCHEDULER, doubt)
    return probably("result-of-engines", Seam.TOOL, doubt)
