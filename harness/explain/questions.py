"""At which seam a question to the model became another one, or one that only one side asked."""

from __future__ import annotations

import json
import re
from typing import Final

from harness.explain.evidence import Evidence
from harness.explain.model import Seam
from harness.parity.divergence import ABSENT, ChannelName, Kind
from harness.timeline.model import MomentKind, Row
from harness.timeline.words import quoted

__all__ = ["request_seam"]

_OVERFLOW: Final = "Context window will overflow"
_CONTENT: Final = re.compile(r"contents\[(\d+)\]")

_SAID: Final = (
    ("<hook_context>", Seam.HOOKS),
    ("System: Potential loop detected", Seam.LOOPS),
    ("[System: You previously", Seam.RETRY),
    ("<tool_output_masked>", Seam.REQUEST_ASSEMBLY),
    ("<state_snapshot>", Seam.REQUEST_ASSEMBLY),
)
"""What the product itself puts into a conversation, and which seam does."""

_ASKED_BY: Final = {
    "utility_router": Seam.ROUTING,
    "utility_loop_detector": Seam.LOOPS,
    "utility_edit_corrector": Seam.TOOL,
    "utility_tool": Seam.TOOL,
    "utility_summarizer": Seam.TOOL,
    "utility_compressor": Seam.REQUEST_ASSEMBLY,
    "utility_state_snapshot_processor": Seam.REQUEST_ASSEMBLY,
    "utility_next_speaker": Seam.LIFECYCLE,
}
"""Questions that the product asks for itself, and what they are for."""

_ONE_SIDED: Final = (
    ("hook:", Seam.HOOKS),
    ("loop:", Seam.LOOPS),
    ("policy:denied", Seam.POLICY),
    ("policy:asked", Seam.POLICY),
    ("confirmed:", Seam.POLICY),
    ("handler:", Seam.FALLBACK),
    ("fallback:", Seam.FALLBACK),
    ("limit:", Seam.LIFECYCLE),
    ("end:max_turns", Seam.LIFECYCLE),
    ("end:max_time", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
)
"""What one side alone reached, which is why it went on or stopped where the other did not."""


_ENDED_OTHERWISE: Final = (
    ("hook:", Seam.HOOKS),
    ("abort:", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
)
"""What of it also says why the conversation before the question is another one."""


_SHRUNK: Final = ("masking", "compression")
"""Cassettes in which the history is written anew before a question is put."""
_FAMILY_TOOLS: Final = (("policy", Seam.POLICY), ("mcp", Seam.TOOL))
"""Of cassettes about these, who decides which tools a question declares."""


def request_seam(evidence: Evidence) -> Seam:
    """The seam of a first cause in the channel `requests`."""
    if evidence.first.kind is not Kind.CHANGED:
        return _lone_question(evidence)
    paths = {found.path for found in evidence.beside}
    if _is_main(evidence) and evidence.about("hooks"):
        return Seam.HOOKS
    if "model" in paths:
        return _model_seam(evidence)
    if any(path.startswith("contents") for path in paths):
        return _asked_for(evidence) or _contents_seam(evidence)
    for family, seam in _FAMILY_TOOLS:
        if evidence.about(family):
            return seam
    if any(path.startswith(("config", "tools", "systemInstruction")) for path in paths):
        return Seam.MODEL_CONFIG
    return Seam.UNKNOWN


def _model_seam(evidence: Evidence) -> Seam:
    if not _is_main(evidence):
        return Seam.UNKNOWN
    if evidence.earlier(MomentKind.RETRY) or _asked_again(evidence):
        return Seam.FALLBACK
    if not any(_tells_failure(row) for row in evidence.before):
        return Seam.ROUTING
    # After a failure in an earlier prompt it may be what is remembered of the failed model.
    return Seam.FALLBACK if evidence.about("fallback") else Seam.UNKNOWN


def _tells_failure(row: Row) -> bool:
    lines = [side.line for side in (row.control, row.candidate) if side is not None]
    return row.kind is MomentKind.RETRY or any(
        line.startswith(("fallback-handler", "emitted error")) for line in lines
    )


def _is_main(evidence: Evidence) -> bool:
    return evidence.first.label.startswith("generateContentStream(main")


def _asked_again(evidence: Evidence) -> bool:
    """Whether the question before it, within the same stream, was the very same on one side."""
    row, earlier = evidence.row, evidence.earlier(MomentKind.REQUEST)
    if row is None or not earlier:
        return False
    return any(
        mine is not None and before is not None and _asked(mine.line) == _asked(before.line)
        for mine, before in (
            (row.control, earlier[0].control),
            (row.candidate, earlier[0].candidate),
        )
    )


def _asked(line: str) -> str:
    return line.partition(": ")[2]


def _contents_seam(evidence: Evidence) -> Seam:
    if evidence.read_otherwise:
        return Seam.STREAM
    for sign, seam in _SAID:
        if evidence.says(sign) and not (seam is Seam.HOOKS and evidence.about("resume")):
            return seam
    for prefix, seam in _ENDED_OTHERWISE:
        if evidence.reached_once(prefix) and not evidence.about("resume"):
            return seam
    first = next(found for found in evidence.beside if found.path.startswith("contents"))
    number = _number(first.path)
    latest = [count - 1 for count in _counts(evidence) if count]
    is_latest = bool(latest) and all(number >= last for last in latest)
    values = json.dumps([first.control, first.candidate])
    if "functionResponse" in first.path or "functionResponse" in values:
        return _result_seam(evidence, is_latest)
    if any("(utility_compressor" in line for line in _asked_before(evidence)):
        return Seam.REQUEST_ASSEMBLY
    if _is_of_earlier(evidence):
        return Seam.UNKNOWN if _read_back_otherwise(evidence) else Seam.HISTORY
    begins_anew = evidence.says("<session_context>") and not evidence.reached_once("compression:")
    if is_latest and not begins_anew:
        return Seam.REQUEST_ASSEMBLY
    if ChannelName.TRANSCRIPT not in evidence.channels or evidence.about(*_SHRUNK):
        return Seam.REQUEST_ASSEMBLY
    if _is_of_the_model(evidence, number) and not evidence.shares_services:
        return Seam.UNKNOWN  # as it was read from the stream, or as it is remembered
    return Seam.UNKNOWN if _read_back_otherwise(evidence) else Seam.HISTORY


def _asked_before(evidence: Evidence) -> list[str]:
    rows = evidence.earlier(MomentKind.REQUEST)
    return [side.line for row in rows for side in (row.control, row.candidate) if side is not None]


def _is_of_the_model(evidence: Evidence, number: int) -> bool:
    for side in (0, 1):
        contents = (evidence.fields(side) or {}).get("contents", [])
        content = contents[number] if number < len(contents) else None
        if isinstance(content, dict) and content.get("role") == "model":
            return True
    return False


def _is_of_earlier(evidence: Evidence) -> bool:
    """Whether what differs is what the user had said in an earlier prompt."""
    said = [
        moment.line
        for row in evidence.before
        if (moment := row.control or row.candidate) is not None
        and moment.line.startswith("emitted message of the user: ")
    ]
    values = {
        text
        for found in evidence.beside
        for value in (found.control, found.candidate)
        for text in (value, value.get("text") if isinstance(value, dict) else None)
        if isinstance(text, str) and text != ABSENT
    }
    return any(line.endswith(f"text {quoted(text)}") for text in values for line in said[:-1])


def _read_back_otherwise(evidence: Evidence) -> bool:
    """Whether a conversation may have been read back from a recording that differed before."""
    kinds = {found.kind for found in evidence.of(ChannelName.RECORDING)}
    return evidence.about("resume") and {Kind.MISSING, Kind.EXTRA} <= kinds


def _result_seam(evidence: Evidence, is_latest: bool) -> Seam:
    """What the model is told of a call's result."""
    if not is_latest:
        remembered = ChannelName.TRANSCRIPT in evidence.channels and not evidence.about(*_SHRUNK)
        return Seam.HISTORY if remembered else Seam.REQUEST_ASSEMBLY
    names = [found for found in evidence.beside if found.path.endswith("functionResponse.name")]
    if len(names) > 1:
        return Seam.SCHEDULER  # results of other calls stand there: their order differs
    told = any(found.label == "tool_response" for found in evidence.of(ChannelName.EVENTS))
    if ChannelName.TOOL_STATES in evidence.channels:
        return Seam.SCHEDULER
    if evidence.about("truncation", "distillation"):
        return Seam.SCHEDULER
    if evidence.about("policy"):
        return Seam.POLICY
    if evidence.shares_services:
        return Seam.UNKNOWN if told else Seam.REQUEST_ASSEMBLY
    refused = evidence.first.path.endswith("response.error")
    made = told and not refused and evidence.about("tools", "mcp")
    return Seam.TOOL if made else Seam.UNKNOWN


def _number(path: str) -> int:
    found = _CONTENT.match(path)
    return int(found[1]) if found else 0


_COUNT: Final = re.compile(r": (\d+) contents?\b")


def _counts(evidence: Evidence) -> list[int]:
    """How many contents the question has on each side."""
    row = evidence.row
    sides = () if row is None else (row.control, row.candidate)
    found = (_COUNT.search(side.line) for side in sides if side is not None)
    return [int(match[1]) for match in found if match]


def _asked_for(evidence: Evidence) -> Seam | None:
    """The seam that asks questions of this sort for itself."""
    label = evidence.first.label
    if label.startswith("countTokens"):
        return Seam.UNKNOWN
    return next((seam for role, seam in _ASKED_BY.items() if role in label), None)


def _lone_question(evidence: Evidence) -> Seam:
    for prefix, seam in _ONE_SIDED[:2]:
        if evidence.reached_once(prefix):
            return seam
    asked_for = _asked_for(evidence)
    if asked_for is not None:
        return asked_for
    for prefix, seam in _ONE_SIDED[2:]:
        if evidence.reached_once(prefix):
            return seam
    if evidence.says("Please continue.") or evidence.value(ChannelName.EVENTS, _OVERFLOW):
        return Seam.LIFECYCLE
    for sign, seam in _SAID[:3]:
        if evidence.says(sign):
            return seam
    if evidence.about("hooks"):
        return Seam.HOOKS
    if any(found.label == "retry" for found in evidence.of(ChannelName.RETRIES)):
        return Seam.RETRY
    return Seam.REQUEST_ASSEMBLY if evidence.reached_once("compression:") else Seam.UNKNOWN
