"""The stored conversation at the end of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.rules import EVERYWHERE, call_ids, own_environment
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import content_line
from services.wire import Content, JsonObject

__all__ = ["CHANNEL"]


class _Transcript(Channel):
    name = ChannelName.TRANSCRIPT
    about = "the history at the end of the run"
    did = "kept"
    item = "turn of the history"
    cannot = "Both sides sent the same requests, but their next requests would differ."

    rules = (call_ids, *EVERYWHERE, own_environment)
    kept = True
    kind = MomentKind.MEMORY

    def items(self, seen: Observation) -> Sequence[Content]:
        return seen.transcript

    def label(self, item: JsonObject) -> str:
        return f"content({item.get('role')})"

    def text(self, item: Any) -> str:
        return f"kept in the history, {item.get('role')}: {content_line(item)}"

    def seam(self, evidence: Evidence) -> Guess:
        if evidence.reached_once("hook:"):
            return probably("memory-hook-once", Seam.HOOKS)
        labels = {found.label for found in evidence.of(ChannelName.EVENTS)}
        if evidence.went_otherwise:
            doubt = "the history depends on the course of the stream"
            if evidence.reached("loop:"):
                return probably("memory-otherwise-loop", Seam.LOOPS, doubt)
            if evidence.failed_once:
                return probably("memory-otherwise-error", Seam.RETRY, doubt)
            return probably("memory-otherwise", Seam.LIFECYCLE, doubt)
        if evidence.value(ChannelName.TRANSCRIPT, "inlineData", "fileData"):
            return probably(
                "memory-media", Seam.REQUEST_ASSEMBLY, "the request assembly moves media"
            )
        if evidence.first.label == "content(model)" and "message(agent)" in labels:
            return probably("answer-kept-and-emitted", Seam.STREAM)
        return probably("memory", Seam.HISTORY, "the request assembly may differ instead")


CHANNEL: Final = _Transcript()
