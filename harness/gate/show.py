"""The gate's answer for people: what was asked, each condition with a mark, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, TextIO

from rich.markup import escape

from harness.canonical import printable
from harness.gate.answer import Answer, GateAnswer, Reason
from harness.screen import Screen
from services.redaction import redacted

__all__ = ["EXITS", "STYLE", "Lines", "show_answer", "show_changes", "show_reasons"]

EXITS: Final = {Answer.YES: 0, Answer.NO: 1, Answer.UNKNOWN: 3}
"""What the process says to whoever started it."""

_MARK: Final = {Answer.YES: "✓", Answer.NO: "✗", Answer.UNKNOWN: "?"}
_ASCII: Final = {Answer.YES: "+", Answer.NO: "x", Answer.UNKNOWN: "?"}
STYLE: Final = {Answer.YES: "green", Answer.NO: "red", Answer.UNKNOWN: "yellow"}
"""How each answer is coloured where there is colour."""
_MEANS: Final = {
    Answer.YES: "phase {phase} may be flipped, as far as profile {profile} asks",
    Answer.NO: "phase {phase} must not be flipped",
    Answer.UNKNOWN: "whether phase {phase} may be flipped cannot be said",
}


class Lines:
    """Lines for people on a stream, whatever it can show and whatever is in them."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Screen(stream)
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self.marks = _MARK if self._fitting("✓✗") == "✓✗" else _ASCII

    def line(self, text: str, style: str = "") -> None:
        """Write one line."""
        self._console.print(escape(self._fitting(printable(redacted(text)))), style=style)

    def _fitting(self, text: str) -> str:
        return text.encode(self._encoding, "replace").decode(self._encoding)


def show_changes(source: str, changes: Sequence[str], stream: TextIO) -> None:
    """Say in what the files here differ from those that are judged by. Before anything else."""
    out = Lines(stream)
    if not changes:
        out.line(f"gates and waivers are those of {source}")
        return
    out.line(f"judged by {source}; here these are otherwise:", "bold")
    for line in changes:
        out.line(f"  {line}", "yellow")


def show_answer(answer: GateAnswer, title: str, source: str, stream: TextIO) -> None:
    """Write what is judged, every condition, what would change it, and the answer last."""
    out = Lines(stream)
    out.line(f"phase {answer.phase} ({title}), profile {answer.profile}, at {answer.as_of}", "bold")
    out.line(f"judged by {source}", "dim")
    for condition in answer.conditions:
        words = f"{out.marks[condition.answer]} {condition.about}: {condition.says}"
        out.line(words, STYLE[condition.answer])
        reasons = [each for each in answer.reasons if each.condition == condition.about]
        for _, alike in groupby(reasons, key=lambda reason: reason.change):
            show_reasons(list(alike), out)
    for remark in answer.remarks:
        out.line(f"remark: {remark}", "dim")
    means = _MEANS[answer.answer].format(phase=answer.phase, profile=answer.profile)
    out.line(f"{answer.answer.value}: {means}", f"bold {STYLE[answer.answer]}")


def show_reasons(reasons: Sequence[Reason], out: Lines) -> None:
    """Write why a condition does not hold, beneath it, and what one thing would change all that."""
    for reason in reasons:
        out.line(f"    {reason.kind.value}: {reason.says}")
    for change in dict.fromkeys(reason.change for reason in reasons):
        out.line(f"    to change that: {change}")
