"""At which seam a question to the model became another one, or one that only one side asked."""

from __future__ import annotations

from typing import Final

from harness.explain.contents import SAID, contents_seam
from harness.explain.evidence import Evidence
from harness.explain.model import Seam
from harness.parity.divergence import ChannelName, Kind
from harness.timeline.model import MomentKind, Row

__all__ = ["request_seam"]

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

_BY_ITSELF: Final = (
    ("hook:", Seam.HOOKS),
    ("loop:", Seam.LOOPS),
    ("end:max_turns", Seam.LIFECYCLE),
    ("end:max_time", Seam.LIFECYCLE),
)
"""What one side alone reached, which is why it went on or stopped where the other did not."""
_AT_THE_MODEL: Final = (
    ("policy:denied", Seam.POLICY),
    ("policy:asked", Seam.POLICY),
    ("confirmed:", Seam.POLICY),
    ("handler:", Seam.FALLBACK),
    ("fallback:", Seam.FALLBACK),
    ("limit:", Seam.LIFECYCLE),
    ("end:aborted", Seam.LIFECYCLE),
    ("abort:", Seam.LIFECYCLE),
)
"""The same, where the question is one of the conversation itself."""

_DECIDED_BY: Final = (("policy", Seam.POLICY), ("mcp", Seam.TOOL))
"""Of cassettes about these, who decides which tools a question declares."""
_ABOUT_MODELS: Final = ("routing", "models", "fallback")
"""Cassettes in which settings can differ because another model was meant."""
_ABOUT_GOING_ON: Final = (
    ("policy", Seam.POLICY),
    ("limits", Seam.LIFECYCLE),
)
"""Cassettes about what lets a conversation go on, or ends it."""
_OVERFLOW: Final = "Context window will overflow"


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
        return contents_seam(evidence) if _is_main(evidence) else _utility_seam(evidence)
    for family, seam in _DECIDED_BY:
        if evidence.about(family):
            return seam
    if not any(path.startswith(("config", "tools", "systemInstruction")) for path in paths):
        return Seam.UNKNOWN
    of_one_model = any(path.startswith("tools") for path in paths) or _failed_before(evidence)
    if evidence.about(*_ABOUT_MODELS) and not of_one_model:
        return Seam.UNKNOWN
    return Seam.MODEL_CONFIG


def _is_main(evidence: Evidence) -> bool:
    return evidence.first.label.startswith("generateContentStream(main")


def _model_seam(evidence: Evidence) -> Seam:
    if not _is_main(evidence):
        return Seam.UNKNOWN
    if evidence.earlier(MomentKind.RETRY) or _asked_again(evidence):
        return Seam.FALLBACK
    if not _failed_before(evidence):
        return Seam.ROUTING
    # After a failure in an earlier prompt it may be what is remembered of the failed model.
    return Seam.FALLBACK if evidence.about("fallback") else Seam.UNKNOWN


def _failed_before(evidence: Evidence) -> bool:
    return any(_tells_failure(row) for row in evidence.before)


def _tells_failure(row: Row) -> bool:
    lines = [side.line for side in (row.control, row.candidate) if side is not None]
    return row.kind is MomentKind.RETRY or any(
        line.startswith(("fallback-handler", "emitted error")) for line in lines
    )


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


def _utility_seam(evidence: Evidence) -> Seam:
    """What is shown to a model that is asked on the side is made of the conversation."""
    for found in evidence.of(ChannelName.REQUESTS):
        if found.label.startswith("generateContentStream(main") and found.path.startswith("con"):
            return Seam.UNKNOWN  # which may differ itself
    return _asked_for(evidence) or Seam.UNKNOWN


def _asked_for(evidence: Evidence) -> Seam | None:
    """The seam that asks questions of this sort for itself."""
    label = evidence.first.label
    if label.startswith("countTokens"):
        return Seam.UNKNOWN
    return next((seam for role, seam in _ASKED_BY.items() if role in label), None)


def _lone_question(evidence: Evidence) -> Seam:
    if _is_main(evidence) and evidence.about("hooks"):
        return Seam.HOOKS
    reasons = {seam for prefix, seam in _BY_ITSELF if evidence.reached_once(prefix)}
    if reasons:
        return reasons.pop() if len(reasons) == 1 else Seam.UNKNOWN
    asked_for = _asked_for(evidence)
    if asked_for is not None:
        return asked_for
    for prefix, seam in _AT_THE_MODEL:
        if evidence.reached_once(prefix):
            return seam
    if evidence.says("Please continue.") or evidence.value(ChannelName.EVENTS, _OVERFLOW):
        return Seam.LIFECYCLE
    for sign, seam in SAID[:3]:
        if evidence.says(sign):
            return seam
    for family, seam in _ABOUT_GOING_ON:
        if evidence.about(family):
            return seam
    if any(found.label == "retry" for found in evidence.of(ChannelName.RETRIES)):
        return Seam.RETRY
    return Seam.REQUEST_ASSEMBLY if evidence.reached_once("compression:") else Seam.UNKNOWN
