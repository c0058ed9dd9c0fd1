"""A sample of mutants as text: progress while it is measured, the counts and the map afterwards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape

from harness.canonical import printable
from harness.mutants.mutant import Mutant
from harness.mutants.result import Measured, Outcome
from harness.mutants.sample import Cluster, Sample, Tally
from harness.mutants.source import Source
from harness.progress import ProgressLine
from harness.screen import Screen

__all__ = ["MutantProgress", "show", "show_mutant", "show_population"]

_LISTED: Final = 10
_DIFF: Final = {"+": "green", "-": "red", "@": "dim"}


class MutantProgress(ProgressLine):
    """Shows how far a measurement is. Use as a context manager.

    Args:
        stream: Standard error, as a rule.
        clock: Real seconds; only differences matter.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(stream, clock)
        self._cases = self._cases_done = 0
        self._mutants = self._mutants_done = self._found = 0

    def cases(self, total: int) -> None:
        """So many cases have good runs to be made first."""
        self._cases = total

    def case(self, done: int) -> None:
        """The good runs of so many more cases were made."""
        self._cases_done += done
        self.update()

    def mutants(self, total: int) -> None:
        """So many mutants are run from here on."""
        self._mutants = total
        self.update()

    def mutant(self, mutant: Mutant, measured: Measured) -> None:
        """A mutant has been run."""
        self._mutants_done += 1
        self._found += measured.outcome.found
        if measured.outcome is Outcome.SURVIVED:
            self.say(f"survived: {mutant.fingerprint} {mutant.operator.value} {mutant.where}")
        self.update()

    @property
    def _share(self) -> float:
        if self._mutants:
            return self._mutants_done / self._mutants
        return self._cases_done / self._cases if self._cases else 0.0

    @property
    def _words(self) -> str:
        if not self._mutants:
            done = f"good runs: {self._cases_done} of {self._cases} cases"
        else:
            done = f"{self._mutants_done} of {self._mutants} mutants, {self._found} found"
        return f"{done}, after {self.time}"


def show(sample: Sample, sources: Mapping[str, Source], stream: TextIO) -> None:
    """Write the survivors as a map, the counts by room and operator, and the whole last."""
    console = Screen(stream)
    room = ""
    for cluster in sample.clusters:
        if cluster.room != room:
            room = cluster.room
            console.print(f"survivors in {escape(printable(room))}", style="bold red")
        _show_cluster(cluster, sources, console)
    _show_tallies("room", sample.rooms, console)
    _show_tallies("operator", sample.operators, console)
    _show_remarks(sample, console)
    _show_conditions(sample, console)
    survivors = len(sample.survivors)
    style = "red" if survivors else "yellow" if sample.interrupted else "green"
    console.print(_verdict(sample), style=f"bold {style}")


def show_mutant(
    mutant: Mutant, source: Source, stream: TextIO, measured: Measured | None = None
) -> None:
    """Write one mutant: where it is, its diff, and its result."""
    console = Screen(stream)
    head = f"{mutant.fingerprint}  {mutant.operator.value}  {mutant.where}"
    console.print(escape(printable(head)), style="bold")
    _show_diff(mutant, source, console)
    if measured is not None:
        console.print(escape(printable(_came_of(measured))))


def show_population(mutants: Iterable[Mutant], places: int, stream: TextIO) -> None:
    """List mutants without running any, then count them by operator."""
    console = Screen(stream)
    counts: Counter[str] = Counter()
    for mutant in mutants:
        counts[mutant.operator.value] += 1
        words = f"{mutant.fingerprint}  {mutant.operator.value:<19}  {mutant.where}"
        console.print(escape(printable(words)))
    for name, count in sorted(counts.items()):
        console.print(f"{name:<19}  {count}", style="dim")
    console.print(f"{sum(counts.values())} mutants at {places} places")


def _show_cluster(cluster: Cluster, sources: Mapping[str, Source], console: Console) -> None:
    where = f"{cluster.file} {cluster.function}".rstrip()
    console.print(f"  {escape(printable(where))}", style="bold")
    for row in cluster.rows:
        mutant, measured = row.mutant, row.measured
        assert measured is not None
        words = (
            f"    {mutant.fingerprint} line {mutant.place.line} {mutant.operator.value}, "
            f"{measured.runs} of {measured.reached} runs that execute it were made"
        )
        console.print(escape(printable(words)))
        _show_diff(mutant, sources[cluster.file], console)


def _show_diff(mutant: Mutant, source: Source, console: Console) -> None:
    for line in mutant.diff(source, context=1).splitlines()[2:]:
        console.print(f"      {escape(printable(line))}", style=_DIFF.get(line[:1], ""))


def _show_tallies(about: str, tallies: Sequence[Tally], console: Console) -> None:
    width = max([len(about), *(len(tally.about) for tally in tallies)])
    console.print(f"{about:<{width}}  found  share  at least", style="bold")
    for tally in tallies:
        counts = f"{tally.found} of {tally.tried}"
        words = f"{tally.about:<{width}}  {counts}  {tally.share:.1%}  {tally.bound:.1%}"
        console.print(escape(printable(words)))


def _show_remarks(sample: Sample, console: Console) -> None:
    left_out = [f"left out: {name}: {why}" for name, why in sample.left_out.items()]
    less = {why for row in sample.survivors if row.measured for why in row.measured.left_out}
    for remarks in (left_out, [f"shows less than it should: {why}" for why in sorted(less)]):
        for words in remarks[:_LISTED]:
            console.print(escape(printable(words)), style="yellow")
        if len(remarks) > _LISTED:
            console.print(f"… and {len(remarks) - _LISTED} more cases", style="yellow")
    for row in sample.rows:
        unsteady = row.measured.unsteady if row.measured is not None else ()
        if unsteady:
            words = f"{row.mutant.fingerprint}: showed once and not again: {unsteady[0]}"
            console.print(escape(printable(words)), style="yellow")


def _show_conditions(sample: Sample, console: Console) -> None:
    unreached, drawn = len(sample.of(Outcome.UNREACHED)), len(sample.rows)
    words = f"{drawn} mutants drawn: {unreached} unreached"
    words += f", {len(sample.of(Outcome.EQUIVALENT))} equivalent by the record"
    anew = sum(row.measured is not None and row.measured.anew for row in sample.rows)
    words += f"; {anew} put in by importing anew"
    conditions = ", ".join(f"{name} {value}" for name, value in sample.conditions.items())
    console.print(escape(printable(f"{words}; {conditions}")), style="dim")


def _came_of(measured: Measured) -> str:
    words = f"{measured.outcome.value}; {measured.runs} of {measured.reached} runs made"
    finding = measured.finding
    if finding is not None:
        shown = "; ".join(text for text in (finding.channel, finding.place, finding.says) if text)
        words += f"; {finding.case} in {finding.runtime}: {shown}"
    return words


def _verdict(sample: Sample) -> str:
    whole = sample.whole
    words = (
        f"{whole.found} of {whole.tried} mutants found ({whole.share:.1%}; at least "
        f"{whole.bound:.1%} with 95 % confidence), {whole.crashes} of them by a crash and "
        f"{whole.time_limits} by a time limit; {len(sample.survivors)} survived"
    )
    if sample.interrupted:
        missing = sum(row.measured is None for row in sample.rows)
        words += f" (interrupted: {missing} not run, counted as not found; continue with --resume)"
    return words
