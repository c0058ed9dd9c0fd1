"""The gate's answer for people: what was asked, each condition with a mark, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console
from rich.markup import escape

from harness.canonical import printable
from harness.gate.answer import Answer, GateAnswer, Reason, answer_of
from services.redaction import redacted

if TYPE_CHECKING:  # reading records takes libraries that a gate does not
    from harness.gate.flipping import Flip

__all__ = ["EXITS", "show_answer", "show_changes", "show_flips"]

EXITS: Final = {Answer.YES: 0, Answer.NO: 1, Answer.UNKNOWN: 3}
"""What the process says to whoever started it."""

_MARK: Final = {Answer.YES: "✓", Answer.NO: "✗", Answer.UNKNOWN: "?"}
_ASCII: Final = {Answer.YES: "+", Answer.NO: "x", Answer.UNKNOWN: "?"}
_STYLE: Final = {Answer.YES: "green", Answer.NO: "red", Answer.UNKNOWN: "yellow"}
_MEANS: Final = {
    Answer.YES: "phase {phase} may be flipped, as far as profile {profile} asks",
    Answer.NO: "phase {phase} must not be flipped",
    Answer.UNKNOWN: "whether phase {phase} may be flipped cannot be said",
}


def show_changes(source: str, changes: Sequence[str], stream: TextIO) -> None:
    """Say in what the files here differ from those that are judged by. Before anything else."""
    console = _console(stream)
    if not changes:
        console.print(_plain(f"gates and waivers are those of {source}"))
        return
    console.print(_plain(f"changed since {source}, which is judged by all the same:"), style="bold")
    for line in changes:
        console.print(_plain(f"  {line}"), style="yellow")


def show_answer(answer: GateAnswer, title: str, source: str, stream: TextIO) -> None:
    """Write what is judged, every condition, what would change it, and the answer last."""
    console = _console(stream)
    head = f"phase {answer.phase} ({title}), profile {answer.profile}, at {answer.as_of}"
    console.print(_plain(head), style="bold")
    console.print(_plain(f"judged by {source}"), style="dim")
    marks = _MARK if _can(stream, "✓✗") else _ASCII
    for condition in answer.conditions:
        words = f"{marks[condition.answer]} {condition.about}: {condition.says}"
        console.print(_plain(words), style=_STYLE[condition.answer])
        for reason in answer.reasons:
            if reason.condition == condition.about:
                _show_reason(reason, console)
    for remark in answer.remarks:
        console.print(_plain(f"remark: {remark}"), style="dim")
    means = _MEANS[answer.answer].format(phase=answer.phase, profile=answer.profile)
    style = f"bold {_STYLE[answer.answer]}"
    console.print(_plain(f"{answer.answer.value}: {means}"), style=style)


def show_flips(flag: str, flips: Sequence[tuple[str, Flip]], stream: TextIO) -> Answer:
    """Write what is known of each surface, and the answer last, which is returned."""
    console = _console(stream)
    marks = _MARK if _can(stream, "✓✗") else _ASCII
    for surface, flip in flips:
        words = f"{marks[flip.answer]} {surface} (phase {flip.phase}): {_record(flip)}"
        console.print(_plain(words), style=_STYLE[flip.answer])
        for reason in flip.reasons:
            _show_reason(reason, console)
    answer = answer_of(reason for _, flip in flips for reason in flip.reasons)
    means = {
        Answer.YES: f"{flag} may be turned on",
        Answer.NO: f"{flag} must not be turned on",
        Answer.UNKNOWN: f"whether {flag} may be turned on cannot be said",
    }[answer]
    console.print(_plain(f"{answer.value}: {means}"), style=f"bold {_STYLE[answer]}")
    return answer


def _record(flip: Flip) -> str:
    record = flip.record
    if record is None:
        return "no record that counts"
    return f"record {record.number:04}, profile {record.profile}, signed {record.time[:10]}"


def _show_reason(reason: Reason, console: Console) -> None:
    console.print(_plain(f"    {reason.kind.value}: {reason.says}"))
    console.print(_plain(f"    to change that: {reason.change}"))


def _plain(text: str) -> str:
    return escape(printable(redacted(text)))


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, soft_wrap=True)


def _can(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
