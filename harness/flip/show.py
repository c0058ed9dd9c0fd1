"""The answer about a flag, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from harness.flip.judge import Flip
from harness.gate.answer import Answer, answer_of
from harness.gate.show import STYLE, Lines, show_reasons

__all__ = ["show_flips"]


def show_flips(flag: str, flips: Sequence[tuple[str, Flip]], stream: TextIO) -> Answer:
    """Write what is known of each surface, and the answer last, which is returned."""
    out = Lines(stream)
    for surface, flip in flips:
        words = f"{out.marks[flip.answer]} {surface} (phase {flip.phase}): {_record(flip)}"
        out.line(words, STYLE[flip.answer])
        for reason in flip.reasons:
            show_reasons([reason], out)
    answer = answer_of(reason for _, flip in flips for reason in flip.reasons)
    means = {
        Answer.YES: f"{flag} may be turned on",
        Answer.NO: f"{flag} must not be turned on",
        Answer.UNKNOWN: f"it is not known whether {flag} may be turned on",
    }[answer]
    out.line(f"{answer.value}: {means}", f"bold {STYLE[answer]}")
    return answer


def _record(flip: Flip) -> str:
    record = flip.record
    if record is None:
        return "no record that counts"
    return f"record {record.number:04}, profile {record.profile}, signed {record.time[:10]}"
