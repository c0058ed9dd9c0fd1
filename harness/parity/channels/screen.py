"""What a surface with a screen shows: its settled screens, in order. An item is one screen."""

from __future__ import annotations

import re
from typing import Any, Final

from harness.parity.channel import Channel, When
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.items import Item, list_of, rule
from harness.parity.rules import EVERYWHERE
from harness.replay.observation import Observation
from harness.replay.screens import steady_line
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted
from services.wire import JsonObject

__all__ = ["CHANNEL"]


_LINE: Final = re.compile(r"lines\[(\d+)\]")


@rule(marker=re.escape("(esc to cancel, "))
def activity_clock(item: Item) -> None:
    """The line of the activity has a sign that moves, and counts seconds of real time.

    Which difference could hide here: a session that works for longer shows more seconds to its
    user. The times of the runs are compared elsewhere (`harness.parity.times`). The words of the
    line, and whether there is such a line, are compared.
    """
    lines = list_of(item.value.get("lines"))
    for number, line in enumerate(lines):
        shown = steady_line(line)
        if shown != line:
            item.hide("activity_clock", lines, number, f"lines[{number}]", shown)


class _Screen(Channel):
    name = ChannelName.SCREEN
    about = "what the surface shows"
    did = "showed"
    item = "screen"
    cannot = "The user does the same on both sides, so only one screen can be right."

    rules = (activity_clock, *EVERYWHERE)
    when = When.AS_EMITTED
    kind = MomentKind.EVENT

    def items(self, seen: Observation) -> list[JsonObject]:
        return [{"lines": list(screen.lines)} for screen in seen.screens]

    def picture(self, seen: Observation, index: int) -> str | None:
        return seen.screens[index].picture() or None

    def text(self, item: Any) -> str:
        lines = [line.strip() for line in item["lines"] if line.strip()]
        return f"showed {len(lines)} lines, the first {quoted(lines[0] if lines else '')}"

    def meaning(self, path: str) -> str:
        found = _LINE.match(path)
        return f" (line {int(found[1]) + 1} of the screen)" if found else ""

    def seam(self, evidence: Evidence) -> Guess:
        return probably("screen", Seam.SURFACE, "an event that no other channel has may be missing")


CHANNEL: Final = _Screen()
