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
    about = "the files of the workspace"
    did = "left"
    item = "file"
    cannot = "Both sides did the same work, so only one of the files can be right."

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
                return plainly("hook-input", Seam.HOOKS)
            return probably(
                "hook-input-of-engines",
                Seam.HOOKS,
                "its input depends on other code",
            )
        if evidence.reached("hook:") or evidence.about("hooks"):
            return probably("file-at-hook", Seam.HOOKS, "tools write files, too")
        if evidence.shares_services:
            return unknown("file-of-the-same-tools", "both sides use the same tools")
        return probably("file-of-tool", Seam.TOOL, "later steps write files, too")


CHANNEL: Final = _Workspace()
