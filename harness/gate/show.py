"""Prints the gate's answer on a terminal, with its conditions and the missing measurements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, TextIO

from rich.markup import escape

from harness.canonical import printable
from harness.gate.answer import Answer, Condition, GateAnswer, Measurement, Reason
from harness.gate.plan import Planned, in_about
from harness.screen import Screen
from services.redaction import redacted

__all__ = [
    "EXITS",
    "STYLE",
    "Lines",
    "alternatives",
    "consequences",
    "in_short",
    "meaning",
    "show_answer",
    "show_changes",
    "show_plan",
    "show_reasons",
    "units",
]

EXITS: Final = {Answer.YES: 0, Answer.NO: 1, Answer.UNKNOWN: 3}
"""The exit code of each answer."""

_MARK: Final = {Answer.YES: "✓", Answer.NO: "✗", Answer.UNKNOWN: "?"}
_ASCII: Final = {Answer.YES: "+", Answer.NO: "x", Answer.UNKNOWN: "?"}
STYLE: Final = {Answer.YES: "green", Answer.NO: "red", Answer.UNKNOWN: "yellow"}
"""The colour of each answer."""
_MEANS: Final = {
    Answer.YES: "phase {phase} may be switched on, by profile {profile}",
    Answer.NO: "phase {phase} must not be switched on",
    Answer.UNKNOWN: "it is not known whether phase {phase} may be switched on",
}
_WORST_FIRST: Final = (Answer.NO, Answer.UNKNOWN, Answer.YES)
_ALIKE: Final = 3
"""Number of reasons of one kind that are shown for a condition."""


class Lines:
    """Writes printable, redacted lines to a stream of any encoding.

    On a terminal, long lines wrap with a hanging indent.
    """

    def __init__(self, stream: TextIO) -> None:
        self._console = Screen(stream)
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self.marks = _MARK if self._fitting("✓✗") == "✓✗" else _ASCII

    def line(self, text: str, style: str = "") -> None:
        """Write one line."""
        self._console.print(escape(self._fitting(printable(redacted(text)))), style=style)

    def command(self, command: str, indent: str = "  ") -> None:
        """Write a command that can be copied, even if it wraps."""
        self.line(f"{indent}{command}", "bold")

    def _fitting(self, text: str) -> str:
        return text.encode(self._encoding, "replace").decode(self._encoding)


def meaning(answer: GateAnswer) -> str:
    """Return the answer in one sentence."""
    return _MEANS[answer.answer].format(phase=answer.phase, profile=answer.profile)


def consequences(answer: GateAnswer) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the conditions that missing legs leave unknown, as (legs, conditions), each once."""
    causes: dict[str, tuple[str, ...]] = {}
    for reason in answer.reasons:
        for about in reason.leaves_open:
            causes[about] = (*causes.get(about, ()), reason.about)
    blamed = {reason.condition for reason in answer.reasons}
    together: dict[tuple[str, ...], list[str]] = {}
    for about, lacking in causes.items():
        if about not in blamed:
            together.setdefault(lacking, []).append(about)
    return [(lacking, tuple(abouts)) for lacking, abouts in together.items()]


def in_short(reasons: Sequence[Reason]) -> list[str]:
    """Format a condition's reasons: the first few of each kind, and the number of the others."""
    lines = []
    for kind, group in groupby(reasons, key=lambda reason: reason.kind):
        alike = list(group)
        lines += [f"{kind.value}: {reason.says}" for reason in alike[:_ALIKE]]
        if len(alike) > _ALIKE:
            lines.append(f"{kind.value}: {len(alike) - _ALIKE} more; --json writes all of them")
    return lines


def alternatives(reasons: Iterable[Reason]) -> list[str]:
    """Return the advice of reasons without a measurement; measurements are printed last."""
    return list(dict.fromkeys(reason.change for reason in reasons if reason.measure is None))


def show_changes(source: str, changes: Sequence[str], stream: TextIO) -> None:
    """Write the differences of the local files from the policy's."""
    out = Lines(stream)
    if not changes:
        out.line(f"gates and waivers are those of {source}")
        return
    out.line(f"judged by {source}; the current ones differ:", "bold")
    for line in changes:
        out.line(f"  {line}", "yellow")


def show_answer(
    answer: GateAnswer,
    title: str,
    source: str,
    stream: TextIO,
    *,
    plan: Sequence[Planned] = (),
    measure: str = "",
) -> None:
    """Write the answer, every condition, the worst first, and the plan that changes the answer.

    Args:
        answer: The answer.
        title: The subject of the phase.
        source: The origin of gates and waivers, as a phrase.
        stream: The output.
        plan: The measurements that would change the answer.
        measure: The command that runs them.
    """
    out = Lines(stream)
    style = STYLE[answer.answer]
    out.line(f"{answer.answer.value}: {meaning(answer)}", f"bold {style}")
    out.line(f"phase {answer.phase} ({title}), profile {answer.profile}, at {answer.as_of}")
    out.line(f"judged by {source}", "dim")
    open_ = consequences(answer)
    grouped = {about for _, abouts in open_ for about in abouts}
    for worst in _WORST_FIRST:
        for condition in answer.conditions:
            if condition.answer is worst and condition.about not in grouped:
                _show_condition(answer, condition, out)
        if worst is Answer.UNKNOWN:
            for lacking, abouts in open_:
                words = f"{out.marks[worst]} not known without {_and(lacking)}: {'; '.join(abouts)}"
                out.line(words, STYLE[worst])
    for remark in answer.remarks:
        out.line(f"remark: {remark}", "dim")
    _show_end(answer, plan, measure, out)


def _show_condition(answer: GateAnswer, condition: Condition, out: Lines) -> None:
    words = f"{out.marks[condition.answer]} {condition.about}: {condition.says}"
    out.line(words, STYLE[condition.answer])
    reasons = [each for each in answer.reasons if each.condition == condition.about]
    for line in in_short(reasons):
        out.line(f"    {line}")
    for change in alternatives(reasons):
        out.line(f"    to fix: {change}")


def _show_end(answer: GateAnswer, plan: Sequence[Planned], measure: str, out: Lines) -> None:
    if answer.answer is Answer.NO:
        mark = out.marks[Answer.NO]
        out.line(f"measurements do not change a no: fix what is marked {mark} first", "bold")
    elif answer.answer is Answer.UNKNOWN and not plan:
        out.line("measurements do not change this: see the reason of each ?", "bold")
    if not plan:
        return
    total = in_about(sum(each.seconds for each in plan))
    what = "also missing" if answer.answer is Answer.NO else "to measure"
    out.line(f"{what}, about {total} in total (an estimate):", "bold")
    out.command(measure)
    show_plan(plan, out, "    ")


def show_plan(plan: Sequence[Planned], out: Lines, indent: str, *, commands: bool = False) -> None:
    """Write the planned measurements with their estimated times."""
    width = max(len(in_about(each.seconds)) for each in plan)
    for each in plan:
        measurement = each.measurement
        goes_on = ", continues an interrupted run" if measurement.resume else ""
        known = ", the time of its last journal" if each.recorded else ""
        count = f"{measurement.units:,} {units(measurement)}"
        about = f"{measurement.about} ({count}{goes_on}{known})"
        out.line(f"{indent}{in_about(each.seconds):>{width}}  {about}")
        if commands:
            out.command(measurement.command, indent + " " * (width + 2))


def units(measurement: Measurement) -> str:
    """Return the noun for a measurement's units."""
    name = {"leg": "case", "faults": "fault", "mutants": "mutant", "sample": "scenario"}[
        measurement.kind
    ]
    return name if measurement.units == 1 else f"{name}s"


def show_reasons(reasons: Sequence[Reason], out: Lines) -> None:
    """Write reasons, each with its advice."""
    for reason in reasons:
        out.line(f"    {reason.kind.value}: {reason.says}")
    for change in dict.fromkeys(reason.change for reason in reasons):
        out.line(f"    to fix: {change}")


def _and(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"these {len(names)} legs"
