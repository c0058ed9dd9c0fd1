"""The files that the run left behind in the workspace."""

from __future__ import annotations

from typing import Any, Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, plainly, probably, unknown
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import cut, quoted
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Workspace(Channel):
    name = ChannelName.WORKSPACE
    about = "the files that the run left behind"
    did = "left"
    item = "file"
    cannot = "The same work cannot leave two different files."

    kept = True
    kind = MomentKind.WORKSPACE

    def items(self, seen: Observation) -> list[JsonObject]:
        changes = sorted(seen.workspace_changes.items())
        return [{"path": path, "text": text} for path, text in changes]

    def label(self, item: JsonObject) -> str:
        return str(item["path"])

    def text(self, item: Any) -> str:
        if item["text"] is None:
            return f"deleted {item['path']}"
        return f"wrote {item['path']}: {quoted(item['text'])}"

    def place(self, found: Divergence) -> str:
        return f"the file {cut(found.label)}"

    def seam(self, evidence: Evidence) -> Guess:
        text = evidence.text
        if "hook_event_name" in text or ('"session_id' in text and "transcript_path" in text):
            if evidence.shares_services:
                return plainly("told-to-a-hook", Seam.HOOKS)
            return probably("told-to-a-hook-of-engines", Seam.HOOKS, "it receives what others did")
        if evidence.reached("hook:") or evidence.about("hooks"):
            return probably("file-at-hook", Seam.HOOKS, "tools leave files, too")
        if evidence.shares_services:
            return unknown("file-of-the-same-tools", "both sides are given the same tools")
        return probably("file-of-tool", Seam.TOOL, "what comes after a call leaves files, too")


CHANNEL: Final = _Workspace()
