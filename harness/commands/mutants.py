"""`parity mutants`: draw small edits of the source, and count how many of them the corpus finds."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.cassette.find import CassetteFile
from harness.commands import checks
from harness.config import default_baselines, default_equivalents, default_waivers, to_run
from harness.errors import UsageError
from harness.experiment.backend import Backend, real_backend
from harness.experiment.limits import Limits
from harness.gate.facts import evidence_facts
from harness.inventory import files_component
from harness.mutants.checks import Checks
from harness.mutants.earlier import EarlierSample
from harness.mutants.journal import JOURNALS, MutantJournal
from harness.mutants.measurement import Measurement, Prepared
from harness.mutants.mutant import Mutant
from harness.mutants.population import Population, drawn, every_source
from harness.mutants.record import Equivalents, load_equivalents
from harness.mutants.result import Measured, Outcome
from harness.mutants.sample import Row, Sample, draw, waiting
from harness.mutants.show import MutantProgress, show, show_mutant, show_population
from harness.mutants.source import CODE_ROOT
from harness.mutants.store import Store, good_runs_digest
from harness.triage.checkout import Checkout
from harness.whole_file import writable_file, write_asked_for
from harness.wrapping import say
from services.redaction import redacted_value
from services.wire import Json, JsonObject

__all__ = ["MutantsSetup", "mutants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantsSetup:
    """What a test may exchange: `ctx.obj` of the command."""

    population: Callable[[Sequence[str]], Population] = lambda parts: Population.of(
        CODE_ROOT, parts
    )
    """The mutants of what `--in` names."""
    backend: Callable[[Limits], Backend] = real_backend
    clock: Callable[[], float] = time.perf_counter
    """Real seconds; only differences matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    parts: tuple[str, ...]
    size: int
    seed: int
    since: str | None
    fingerprint: str | None
    check: bool
    after: Path | None
    resume: bool
    most_runs: int
    cases: int | None
    jobs: int
    limits: Limits
    trust: bool
    json_file: Path | None
    waivers_file: Path | None
    baselines: Path | None
    equivalents_file: Path | None


@click.pass_context
def mutants(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    expr: str | None,
    list_: bool,
    jobs: int,
    **given: Any,
) -> int:
    """Run `parity mutants`; return its exit code."""
    setup = ctx.obj if isinstance(ctx.obj, MutantsSetup) else MutantsSetup()
    asked = _Asked(jobs=checks.worker_count(jobs), **given)
    earlier = None if asked.after is None else EarlierSample(asked.after)
    population = setup.population(earlier.parts if earlier is not None else asked.parts)
    if list_:
        show_population(population.mutants, len(population.places), sys.stdout)
        return 0
    writable_file(asked.json_file, "--json")
    command = _Command(
        asked, setup, population, checks.chosen_cassettes(paths, expr, variants=True)
    )
    if asked.check:
        return command.check()
    if asked.fingerprint is not None:
        return command.one(asked.fingerprint)
    return command.sample() if earlier is None else command.go_on(earlier)


class _Command:
    """The command, once it is known what is asked for."""

    def __init__(
        self,
        asked: _Asked,
        setup: MutantsSetup,
        population: Population,
        files: list[CassetteFile],
    ) -> None:
        checks.temporary_folder()
        self._asked = asked
        self._setup = setup
        self._population = population
        self._corpus = files
        self._files = _drawn(files, asked.cases, asked.seed)
        self._baselines = asked.baselines or default_baselines()
        self._waivers_file = asked.waivers_file or default_waivers()
        self._waivers = checks.current_waivers(self._waivers_file)
        self._equivalents = load_equivalents(asked.equivalents_file or default_equivalents())
        self._digest = good_runs_digest(self._corpus)
        self._checks = Checks() if asked.after is not None else Checks.of(population.parts)

    def sample(self) -> int:
        """Draw a sample and run it."""
        asked = self._asked
        begun = self._setup.clock()
        plan: dict[str, Json] = {
            "seed": asked.seed,
            "size": asked.size,
            "in": list(self._population.parts),
            "since": asked.since,
            "mostRuns": asked.most_runs,
            "cassettes": len(self._files),
        }
        changed = _changed(asked.since)
        sample = Sample(rows=[], conditions={**plan, "places": len(self._population.places)})
        with (
            tempfile.TemporaryDirectory(prefix="parity-mutants-") as folder,
            MutantJournal(JOURNALS, plan, self._state(), resume=asked.resume) as journal,
            MutantProgress(sys.stderr, self._setup.clock) as progress,
        ):
            measurement = self._measurement(Path(folder))
            try:
                prepared = measurement.prepare(progress)
                sample.left_out = prepared.left_out
                rng = random.Random(asked.seed)  # noqa: S311 - a draw that can be made again
                order = drawn(self._population.places, rng, changed)
                sample.rows = draw(order, asked.size, prepared.reach, self._equivalents)
                _run(measurement, prepared, sample.rows, journal, progress)
            except KeyboardInterrupt:
                sample.interrupted = True
        sample.seconds = self._setup.clock() - begun
        return self._end(sample)

    def go_on(self, earlier: EarlierSample) -> int:
        """Run the survivors of an earlier sample, and count all of its mutants again."""
        begun = self._setup.clock()
        known = {mutant.fingerprint: mutant for mutant in self._population.mutants}
        rows = earlier.rows(known, self._equivalents)
        then: dict[str, Json] = {
            "cassettes": len(self._files),
            "mostRuns": self._asked.most_runs,
        }
        sample = Sample(rows=rows, conditions={**earlier.conditions, "then": then})
        with (
            tempfile.TemporaryDirectory(prefix="parity-mutants-") as folder,
            MutantProgress(sys.stderr, self._setup.clock) as progress,
        ):
            try:
                measurement = self._measurement(Path(folder))
                prepared = measurement.prepare(progress)
                sample.left_out = prepared.left_out
                _run_again(measurement, prepared, sample.survivors, progress)
            except KeyboardInterrupt:
                sample.interrupted = True
        sample.seconds = self._setup.clock() - begun
        return self._end(sample)

    def one(self, fingerprint: str) -> int:
        """Show a mutant, and run it."""
        mutant = self._known(fingerprint)
        source = self._population.source(mutant)
        show_mutant(mutant, source, sys.stdout)
        measured = self._measured([mutant])[fingerprint]
        show_mutant(mutant, source, sys.stdout, measured)
        return 1 if measured.outcome is Outcome.SURVIVED else 0

    def check(self) -> int:
        """Run the recorded mutants, and name the records that are wrong."""
        known = {mutant.fingerprint: mutant for mutant in self._population.mutants}
        stale = self._equivalents.stale(known)
        for record in stale:
            say(f"there is no such mutant any more: {record.fingerprint} {record.place}")
        there = [known[each] for each in self._equivalents.records if each in known]
        found = 0
        for fingerprint, measured in self._measured(there).items():
            if measured.finding is not None:
                found += 1
                case = measured.finding.case
                say(f"recorded as equivalent, and found by {case}: {fingerprint}")
        right = len(self._equivalents.records) - len(stale) - found
        say(f"{right} of {len(self._equivalents.records)} records of equivalent mutants hold")
        return 1 if stale or found else 0

    def _measured(self, chosen: Sequence[Mutant]) -> dict[str, Measured]:
        """The result of each of these mutants, also of those recorded as equivalent."""
        rows = [Row(mutant) for mutant in chosen]
        with (
            tempfile.TemporaryDirectory(prefix="parity-mutants-") as folder,
            MutantProgress(sys.stderr, self._setup.clock) as progress,
        ):
            measurement = self._measurement(Path(folder))
            prepared = measurement.prepare(progress)
            rows = draw(chosen, len(rows), prepared.reach, Equivalents())
            _run(measurement, prepared, rows, None, progress)
        return {row.mutant.fingerprint: row.measured for row in rows if row.measured is not None}

    def _known(self, fingerprint: str) -> Mutant:
        for mutant in self._population.mutants:
            if mutant.fingerprint == fingerprint:
                return mutant
        raise UsageError(f"there is no mutant {fingerprint!r}", "see `parity mutants --list`")

    def _measurement(self, folder: Path) -> Measurement:
        return Measurement(
            backend=self._setup.backend(self._asked.limits),
            jobs=self._asked.jobs,
            files=[
                (source, trusted)
                for _, source, trusted in to_run(self._files, trust=self._asked.trust)
            ],
            store=Store.open(self._digest),
            folder=folder,
            waivers=self._waivers,
            baselines=self._baselines if self._baselines.is_dir() else None,
            sources=every_source(CODE_ROOT),
            most_runs=self._asked.most_runs,
            checks=self._checks,
        )

    def _state(self) -> dict[str, Json]:
        corpus = files_component([(file.name, file.path) for file in self._files])
        return {
            "code": self._digest,
            "corpus": corpus.digest,
            "waivers": self._waivers.digest,
            "checks": self._checks.digest,
            "equivalents": sorted(self._equivalents.records),
        }

    def _facts(self) -> JsonObject:
        """What was measured, and the day: the gate compares it with what is there."""
        files = [(file.name, file.path) for file in self._corpus]
        return evidence_facts(files, self._waivers_file, self._waivers.as_of)

    def _end(self, sample: Sample) -> int:
        sources = {source.file: source for source in self._population.sources}
        show(sample, sources, sys.stdout)
        if self._asked.json_file is not None:
            document = redacted_value(
                {**sample.to_json(sources), "state": self._state(), "measured": self._facts()}
            )
            text = json.dumps(document, indent=1) + "\n"
            write_asked_for(self._asked.json_file, text, "--json")
            say(f"written: {self._asked.json_file}")
        if sample.interrupted:
            return 130
        return 1 if sample.survivors else 0


def _run(
    measurement: Measurement,
    prepared: Prepared,
    rows: Sequence[Row],
    journal: MutantJournal | None,
    progress: MutantProgress,
) -> None:
    """Run the mutants that have no result yet, and add each result to the journal."""
    by_name = {row.mutant.fingerprint: row for row in rows}
    if journal is not None:
        for fingerprint, measured in journal.known.items():
            if fingerprint in by_name:
                by_name[fingerprint].measured = measured

    def take(mutant: Mutant, measured: Measured) -> None:
        by_name[mutant.fingerprint].measured = measured
        if journal is not None:
            journal.add(measured)

    measurement.run(prepared, waiting(rows), take, progress)


def _run_again(
    measurement: Measurement,
    prepared: Prepared,
    survivors: Sequence[Row],
    progress: MutantProgress,
) -> None:
    """Run mutants that other cases did not show; those that these cases do not reach stay so."""
    by_name = {row.mutant.fingerprint: row for row in survivors}
    reached = [row.mutant for row in survivors if prepared.reach.runs(row.mutant)]

    def take(mutant: Mutant, measured: Measured) -> None:
        row = by_name[mutant.fingerprint]
        row.measured = measured if row.measured is None else row.measured.and_then(measured)

    measurement.run(prepared, reached, take, progress)


def _drawn(files: list[CassetteFile], cases: int | None, seed: int) -> list[CassetteFile]:
    """So many of the files at random, in their order; `None` for all."""
    if cases is None or cases >= len(files):
        return files
    rng = random.Random(seed)  # noqa: S311 - a draw that can be made again
    return [files[number] for number in sorted(rng.sample(range(len(files)), cases))]


def _changed(revision: str | None) -> frozenset[str]:
    """The files that differ from a revision, committed or not.

    Raises:
        UsageError: there is no checkout, or no such revision.
    """
    if revision is None:
        return frozenset()
    checkout = Checkout.at(CODE_ROOT)
    commit = checkout.commit(revision, "--since")
    words = checkout.git("diff", "--name-only", "--no-renames", "--no-ext-diff", commit, "--")
    return frozenset(words.splitlines())
