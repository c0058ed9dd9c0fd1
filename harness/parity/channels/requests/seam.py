"""Names the seam where a request differs, or where only one side made it."""

from __future__ import annotations

from typing import Final

from harness.parity.another_order import reordered
from harness.parity.channels.requests.contents import SAID, contents_seam
from harness.parity.divergence import ChannelName, Kind
from harness.parity.evidence import Evidence, lines_of
from harness.parity.guess import Guess, Seam, plainly, probably, unknown
from harness.timeline.model import MomentKind

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
"""Roles of the product's own requests, and their seams."""

_BY_ITSELF: Final = (
    ("hook:", Seam.HOOKS),
    ("loop:", Seam.LOOPS),
    ("end:max_turns", Seam.LIFECYCLE),
    ("end:max_time", Seam.LIFECYCLE),
)
"""Probes that, if only one side reached them, explain why it continued or stopped; the first
counts."""
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
"""The same for main requests."""

_FOLLOWS: Final = "it may be a consequence of the difference"
_OVERFLOW: Final = "Context window will overflow"


def request_seam(evidence: Evidence) -> Guess:
    """The seam of a first cause in the channel `requests`."""
    if evidence.first.kind is not Kind.CHANGED:
        return _lone_request(evidence)
    paths = {found.path for found in evidence.beside}
    if _is_main(evidence) and (guess := _at_hook(evidence)) is not None:
        return guess
    if reordered(evidence) is not None:
        return probably("results-swapped", Seam.SCHEDULER, "the request assembly may order them")
    if "model" in paths:
        return _model_seam(evidence)
    if any(path.startswith("contents") for path in paths):
        return contents_seam(evidence) if _is_main(evidence) else _utility_seam(evidence)
    if evidence.about("policy"):
        return probably("config-about-policy", Seam.POLICY, "the cassette tests the policy")
    if evidence.about("mcp"):
        return probably("config-about-mcp", Seam.TOOL, "the cassette tests MCP")
    if any(path.startswith("tools") for path in paths):
        return probably("tools-declared", Seam.MODEL_CONFIG, "the policy may hide tools, too")
    if any(path.startswith(("config", "systemInstruction")) for path in paths):
        return probably("config", Seam.MODEL_CONFIG, "another model may have been chosen")
    return probably("question-otherwise", Seam.REQUEST_ASSEMBLY)


def _at_hook(evidence: Evidence) -> Guess | None:
    if evidence.resumed:
        return None
    if evidence.reached_once("hook:"):
        return plainly("question-hook-once", Seam.HOOKS)
    if evidence.reached("hook:"):
        return probably("question-at-hook", Seam.HOOKS, "hooks ran, but need not be the cause")
    if evidence.about("hooks"):
        return probably("question-about-hooks", Seam.HOOKS, "the cassette tests hooks")
    return None


def _is_main(evidence: Evidence) -> bool:
    return evidence.first.label.startswith("generateContentStream(main")


def _model_seam(evidence: Evidence) -> Guess:
    if not _is_main(evidence):
        if evidence.reached("fallback:", "handler:"):
            return probably("model-aside-fallback", Seam.FALLBACK, "a model had failed before")
        return _asked_for(evidence, "model-aside") or probably("model-aside", Seam.MODEL_CONFIG)
    if evidence.earlier(MomentKind.RETRY):
        return probably("model-after-retry", Seam.FALLBACK, "routing may choose a model again")
    if _asked_again(evidence):
        return probably("model-asked-again", Seam.FALLBACK, "routing may choose a model again")
    if evidence.reached("fallback:", "handler:"):
        return probably("model-later", Seam.FALLBACK, "a model had failed before")
    if _failed_before(evidence):
        return probably("model-after-failure", Seam.ROUTING, "an earlier request had failed")
    return probably("model", Seam.ROUTING, "settings may name the model")


def _failed_before(evidence: Evidence) -> bool:
    return any(
        row.kind is MomentKind.RETRY
        or any(line.startswith(("fallback-handler", "emitted error")) for line in lines_of(row))
        for row in evidence.before
    )


def _asked_again(evidence: Evidence) -> bool:
    """Whether one side repeated its request before, within the same stream."""
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


def _utility_seam(evidence: Evidence) -> Guess:
    """The seam where the contents of one of the product's own requests differ."""
    for found in evidence.of(ChannelName.REQUESTS):
        if found.label.startswith("generateContentStream(main") and found.path.startswith("con"):
            doubt = "main requests differ, too"
            return probably("aside-and-main", Seam.REQUEST_ASSEMBLY, doubt)
    return _asked_for(evidence, "aside") or unknown("aside-otherwise")


def _asked_for(evidence: Evidence, rule: str) -> Guess | None:
    """The seam that makes requests of this role."""
    label = evidence.first.label
    if label.startswith("countTokens"):
        return probably(f"{rule}-counted", Seam.REQUEST_ASSEMBLY, "tools may change the count")
    seams = (seam for role, seam in _ASKED_BY.items() if role in label)
    return next((probably(rule, seam) for seam in seams), None)


def _lone_request(evidence: Evidence) -> Guess:
    for prefix, seam in _BY_ITSELF:
        if evidence.reached_once(prefix):
            return probably("lone-by-itself", seam, _FOLLOWS)
    if _is_main(evidence) and (guess := _at_hook(evidence)) is not None:
        return guess
    asked_for = _asked_for(evidence, "lone-aside")
    if asked_for is not None:
        return asked_for
    for prefix, seam in _AT_THE_MODEL:
        if evidence.reached_once(prefix):
            return probably("lone-reached", seam, _FOLLOWS)
    if evidence.says("Please continue.") or evidence.value(ChannelName.EVENTS, _OVERFLOW):
        return probably("lone-continued", Seam.LIFECYCLE)
    for sign, seam in SAID[:3]:
        if evidence.says(sign):
            return probably("lone-said", seam)
    return _lone_at_last(evidence)


def _lone_at_last(evidence: Evidence) -> Guess:
    """The seam of a lone request without direct signs: what happened before decides."""
    if evidence.about("policy"):
        return probably("lone-about-policy", Seam.POLICY, "the cassette tests the policy")
    if any(found.sort == "retry" for found in evidence.of(ChannelName.RETRIES)):
        return probably("lone-retry", Seam.RETRY, "the reading of the response may differ")
    if evidence.reached("fallback:", "handler:"):
        return probably("lone-fallback", Seam.FALLBACK, "a model had failed before")
    if evidence.reached("compression:"):
        return probably("lone-compression", Seam.REQUEST_ASSEMBLY, "the history was compressed")
    if evidence.failed_once:
        doubt = "one side failed before the request; look at its error first"
        return probably("lone-after-failure", Seam.LIFECYCLE, doubt)
    return probably("lone-question", Seam.LIFECYCLE, "anything that ends a stream may differ")
