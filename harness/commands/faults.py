"""`parity faults`: break the runtimes on purpose, and count what the harness notices."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from harness.cassette.find import CassetteFile, with_variants
from harness.commands import checks
from harness.config import default_baselines, default_waivers, to_run, versions
from harness.detection.choosing import chosen_faults, dead, sampled
from harness.detection.good import Corpus
from harness.detection.matrix import Conditions, Matrix, Row
from harness.detection.measurement import Measurement, look_in_corpus, look_in_sample
from harness.detection.show import FaultProgress, show, show_catalogue
from harness.detection.stratified import FaultSample
from harness.errors import UsageError
from harness.experiment.backend import real_backend
from harness.experiment.limits import Limits
from harness.faults.catalogue import CatalogueAt
from harness.gate.facts import evidence_facts
from harness.parity.projection import RULES
from harness.parity.waivers import Waivers
from harness.scenarios.profiles import PROFILES
from harness.whole_file import writable_file, write_json
from harness.wrapping import say
from seeded_faults import Fault, Site

__all__ = ["FaultsSetup", "faults"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsSetup:
    """What a test may exchange: `ctx.obj` of the command."""

    catalogue: CatalogueAt = field(default_factory=CatalogueAt)
    clock: Callable[[], float] = time.perf_counter
    """Real seconds; only differences matter."""
    core: bool | None = None
    """Whether the published core is at hand; `None` finds out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    classes: tuple[str, ...]
    names: tuple[str, ...]
    sites: tuple[str, ...]
    sample: int | None
    corpus_only: bool
    seconds: float
    profile: str
    seed: int
    jobs: int
    limits: Limits
    trust: bool
    json_file: Path | None
    waivers_file: Path | None
    baselines: Path | None


@click.pass_context
def faults(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    expr: str | None,
    list_: bool,
    jobs: int,
    **asked: Any,
) -> int:
    """Run `parity faults`; return its exit code."""
    setup = ctx.obj if isinstance(ctx.obj, FaultsSetup) else FaultsSetup()
    plan = _Plan(jobs=checks.worker_count(jobs), **asked)
    chosen, sample = _chosen(plan, setup)
    if list_:
        show_catalogue(chosen, sys.stdout)
        return 0
    _check(plan, chosen)
    return _run(plan, setup, chosen, sample, checks.chosen_cassettes(paths, expr))


def _chosen(plan: _Plan, setup: FaultsSetup) -> tuple[list[Fault], FaultSample | None]:
    found = chosen_faults(setup.catalogue.faults(), plan.names, plan.classes, plan.sites)
    return (found, None) if plan.sample is None else sampled(found, plan.sample, plan.seed)


def _check(plan: _Plan, chosen: list[Fault]) -> None:
    if plan.profile not in PROFILES:
        raise UsageError(f"unknown profile {plan.profile!r}", f"known: {', '.join(PROFILES)}")
    writable_file(plan.json_file, "--json")
    services = [fault for fault in chosen if fault.site is Site.SERVICE]
    if services and not _baselines(plan).is_dir():
        problem = f"there is no folder {str(_baselines(plan))!r} of the published core's baselines"
        mend = "name it with --baselines, or measure --site legacy --site adk alone"
        raise UsageError(f"{problem}, which {len(services)} service faults need", mend)
    found_dead = [words for fault in chosen if (words := dead(fault))]
    if found_dead:
        raise UsageError("\n".join(found_dead), "update the catalogue")


def _baselines(plan: _Plan) -> Path:
    return plan.baselines if plan.baselines is not None else default_baselines()


def _run(
    plan: _Plan,
    setup: FaultsSetup,
    chosen: list[Fault],
    sample: FaultSample | None,
    files: list[CassetteFile],
) -> int:
    waivers_file = plan.waivers_file or default_waivers()
    waivers = checks.current_waivers(waivers_file)
    with tempfile.TemporaryDirectory(prefix="parity-faults-") as kept:
        measurement = _measurement(plan, setup, files, waivers, Path(kept))
        matrix = _matrix(measurement, chosen, sample, waivers_file)
        with FaultProgress(len(chosen), sys.stderr) as progress:
            try:
                look_in_corpus(measurement, matrix, progress)
                if not plan.corpus_only:
                    end = setup.clock() + plan.seconds
                    look_in_sample(measurement, matrix, lambda: setup.clock() >= end, progress)
            except KeyboardInterrupt:
                matrix.interrupted = True
    matrix.rows = [row for row in matrix.rows if row.corpus is not None]
    show(matrix, sys.stdout)
    if plan.json_file is not None:
        write_json(plan.json_file, matrix.to_json())
        say(f"written: {plan.json_file}")
    if matrix.interrupted:
        return 130
    return 1 if matrix.survivors else 0


def _measurement(
    plan: _Plan, setup: FaultsSetup, files: list[CassetteFile], waivers: Waivers, kept: Path
) -> Measurement:
    checks.temporary_folder()
    backend = real_backend(plan.limits)
    sources = list(to_run(files, trust=plan.trust))
    core = setup.core if setup.core is not None else backend.check("upstream") is None
    return Measurement(
        backend=backend,
        corpus=Corpus(
            catalogue=setup.catalogue,
            files=tuple(source for _, source, _ in sources),
            trusted=frozenset(file.name for file, _, trusted in sources if trusted),
            waivers=waivers,
            baselines=_baselines(plan),
            kept=kept,
        ),
        jobs=plan.jobs,
        profile=plan.profile,
        seed=plan.seed,
        core=core,
    )


def _matrix(
    measurement: Measurement,
    chosen: list[Fault],
    sample: FaultSample | None,
    waivers_file: Path | None,
) -> Matrix:
    corpus = measurement.corpus
    conditions = Conditions(
        waivers=len(corpus.waivers.live),
        projection_rules={
            "legacy and adk": sum(not rule.across for rule in RULES),
            "the published core and legacy": len(RULES),
        },
        cassettes=len(corpus.files),
        profile=measurement.profile,
        seed=measurement.seed,
        published_core_in_generated=measurement.core,
        versions=dict(versions()),
        sample=sample,
        measured=evidence_facts(
            # Broken runs are of plain cassettes; the corpus is the one that everything else ran.
            [(file.name, file.path) for file in with_variants(corpus.files)],
            waivers_file,
            corpus.waivers.as_of,
        ),
    )
    rows = [Row(fault=fault) for fault in chosen]
    return Matrix(rows=rows, conditions=conditions, planned=len(rows))
