"""The kill matrix as text: progress while it is measured, the answer afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape

from harness.canonical import printable
from harness.detection.finding import Found, FoundBy
from harness.detection.matrix import Matrix, Outcome, Row, Tally
from harness.detection.measuring import Measured
from harness.progress import ProgressLine
from harness.screen import Screen
from seeded_faults import Fault

__all__ = ["FaultProgress", "show", "show_catalogue"]

_LISTED: Final = 10
_STYLE: Final = {
    Outcome.KILLED: "",
    Outcome.SURVIVED: "bold red",
    Outcome.UNOBSERVABLE: "dim",
}


class FaultProgress(ProgressLine):
    """Shows how far a measurement is. Use as a context manager.

    Args:
        total: How many faults there are.
        stream: Standard error, as a rule.
        clock: Real seconds; only differences matter.
    """

    def __init__(
        self, total: int, stream: TextIO, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(stream, clock)
        self._total = total
        self._faults = self._found = 0
        self._generated = ""

    def fault(self, name: str, found: Found | None) -> None:
        """Count a fault that was looked for in the corpus."""
        self._faults += 1
        self._found += found is not None
        if found is None:
            self.say(f"not found in the corpus: {name}")
        if self._faults == self._total:
            self.say(self._corpus)
        else:
            self.update()

    def block(self, examples: int, sought: int) -> None:
        """Show how many scenarios were run, and how many faults are still sought."""
        self._generated = f"generated: {examples} scenarios, {sought} faults not found yet"
        self.update()

    @property
    def _share(self) -> float:
        return self._faults / self._total if self._total else 1.0

    @property
    def _words(self) -> str:
        return f"{self._generated or self._corpus}, after {self.time}"

    @property
    def _corpus(self) -> str:
        return f"corpus: {self._faults} of {self._total} faults, {self._found} found"


def show_catalogue(faults: Sequence[Fault], stream: TextIO) -> None:
    """List faults without measuring any."""
    console = Screen(stream)
    width = max((len(fault.name) for fault in faults), default=0)
    for fault in faults:
        marks = " (held out)" if fault.held_out else ""
        marks += f" (gap closed by {fault.closed_by})" if fault.closed_by else ""
        marks += " (unobservable)" if fault.unobservable is not None else ""
        words = f"{fault.name:<{width}}  {fault.site:<7}  {fault.behaviour:<9}  {fault.says}{marks}"
        console.print(escape(printable(words)))
    console.print(f"{len(faults)} fault{'' if len(faults) == 1 else 's'}")


def show(matrix: Matrix, stream: TextIO) -> None:
    """Write the matrix class by class, then what survived and why, and the counts last."""
    console = Screen(stream)
    width = max((len(row.fault.name) for row in matrix.rows), default=0)
    for tally in matrix.tallies():
        console.print(f"{tally.about}: {_counted(tally)}", style="bold")
        for row in matrix.rows:
            if row.fault.behaviour == tally.about:
                words = f"  {row.fault.name:<{width}}  {row.fault.site:<7}  {_cells(row)}"
                console.print(escape(words), style=_STYLE[row.outcome])
    _show_survivors(matrix, console)
    _show_unobservable(matrix, console)
    _show_left_out(matrix, console)
    _show_conditions(matrix, console)
    for tally in matrix.totals():
        if tally.observable or tally.about == "all":
            console.print(f"{tally.about}: {_counted(tally)}")
    closed = sum(row.fault.closed_by is not None for row in matrix.rows)
    if closed:
        words = f"held out: {closed} found by later cassettes, counted as not found"
        console.print(words, style="dim")
    style = "red" if matrix.survivors else "yellow" if matrix.interrupted else "green"
    console.print(_verdict(matrix), style=f"bold {style}")


def _counted(tally: Tally) -> str:
    if not tally.observable:
        return "nothing observable"
    crashes = f"{tally.crashes} by a crash, {tally.killed - tally.crashes} by a channel"
    return (
        f"{tally.killed} of {tally.observable} found, {tally.by_corpus} by the corpus alone; "
        f"{crashes}; at least {tally.bound:.1%} with 95 % confidence"
    )


def _cells(row: Row) -> str:
    if row.outcome is Outcome.UNOBSERVABLE:
        return "unobservable"
    cells = [_cell(row.corpus)]
    if row.generated is not None:
        cells.append(f"generated: {_cell(row.generated)}")
    return "; ".join(cells)


def _cell(part: Measured | None) -> str:
    if part is None:
        return "not run"
    if part.found is None:
        return "SURVIVED"
    where = printable(part.found.cassette or "unknown case")
    if part.found.kind is FoundBy.CRASH:
        return f"{where}: crash: {part.found.place}"
    return f"{where}: {part.found.place}"


def _show_survivors(matrix: Matrix, console: Console) -> None:
    for row in matrix.survivors:
        console.print(f"survived: {escape(printable(row.fault.name))}", style="red")
        console.print(f"  {escape(printable(row.fault.says))}")
        for remark in _remarks(row):
            console.print(f"  {escape(printable(remark))}")


def _remarks(row: Row) -> Iterator[str]:
    if row.never:
        yield "never reached: no case calls the wrapped function"
    elif row.corpus is not None:
        met = row.corpus.met + (row.generated.met if row.generated is not None else 0)
        yield f"was in force in {met} cases that call the wrapped function, without a difference"
    if row.unsteady:
        named = ", ".join(row.unsteady[:3])
        yield f"showed only once, which does not count: {named}"


def _show_unobservable(matrix: Matrix, console: Console) -> None:
    for row in matrix.unobservable:
        words = f"unobservable: {row.fault.name}: {row.fault.unobservable}"
        console.print(escape(printable(words)), style="dim")
    for row in matrix.killed:
        if row.fault.unobservable is not None:
            words = f"{row.fault.name} is marked unobservable, but was found: remove the mark"
            console.print(escape(printable(words)), style="yellow")


def _show_left_out(matrix: Matrix, console: Console) -> None:
    left_out = matrix.left_out
    for name, why in list(left_out.items())[:_LISTED]:
        console.print(f"left out: {escape(printable(f'{name}: {why}'))}", style="yellow")
    if len(left_out) > _LISTED:
        console.print(f"… and {len(left_out) - _LISTED} more cases left out", style="yellow")


def _show_conditions(matrix: Matrix, console: Console) -> None:
    used = matrix.conditions
    rules = "; ".join(f"{count} between {sides}" for sides, count in used.projection_rules.items())
    console.print(
        f"measured over {used.cassettes} cassettes, with {used.waivers} waivers and these "
        f"projection rules: {rules}",
        style="dim",
    )
    if used.sample is not None:
        sample = f"{used.sample.size} of {used.sample.of} observable faults"
        console.print(f"a sample: {sample}, drawn with seed {used.sample.seed}", style="dim")
    if not used.examples:
        return
    words = f"{used.examples} scenarios sampled of profile {used.profile}, seed {used.seed}"
    if any(row.generated is not None and row.fault.site == "service" for row in matrix.rows):
        words += "; service faults there against " + (
            "the published core"
            if used.published_core_in_generated
            else "an unbroken legacy, because the published core is not installed"
        )
    console.print(words, style="dim")


def _verdict(matrix: Matrix) -> str:
    observable = len(matrix.rows) - len(matrix.unobservable)
    words = f"{len(matrix.killed)} of {observable} observable faults found"
    if matrix.survivors:
        words += f", {len(matrix.survivors)} survived"
    if matrix.interrupted:
        words += f" (interrupted: {len(matrix.rows)} of {matrix.planned} measured)"
    return words
