"""What `parity sign` runs again before anything is signed, and what it makes of it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.commands.here import journalled_tasks
from harness.commands.signing import say
from harness.draw import chosen
from harness.experiment.backend import Backend
from harness.experiment.pool import Workers
from harness.gate.evidence import Evidence, LegRun
from harness.gate.here import Here
from harness.gate.samples import counted_samples
from harness.gate.scope import Scope
from harness.inventory import environment
from harness.scenarios.block import BlockDone, BlockTask
from harness.signoff.material import (
    Material,
    evidence_of,
    leg_to_replay,
    others_to_replay,
    traces_of,
)
from harness.signoff.not_said import CorpusFacts, not_said
from harness.signoff.problems import SigningRefused
from harness.signoff.rerun import block_tasks_of, refuse_other, run_blocks_again, run_cases_again
from harness.signoff.statement import ReplayedBlock

__all__ = ["SignSeams", "Signature", "material"]

_SEEDS: Final = 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class SignSeams:
    """What a test puts in the place of runtimes and worker processes."""

    backend: Backend
    run_block: Callable[[BlockTask], BlockDone]
    workers: Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What is to be signed, and how: the command line as it was given."""

    phase: str
    profile: str
    places: tuple[Path, ...]
    signer: str | None
    sample: int
    """Blocks of each generated run that are run again."""
    cases: int | None
    """Cases of each leg that are run again; `None`: all."""
    folder: Path
    """Of the records."""
    jobs: int
    trust: bool
    yes: bool


def material(
    asked: Signature, place: Here, evidence: Evidence, revision: str | None, seams: SignSeams
) -> Material:
    """All that goes into a record, after running again what was journalled.

    Raises:
        SigningRefused: something came out in another way, or could not be run.
    """
    machine = environment()
    scope = Scope(
        evidence=evidence,
        policy=place.policy.gates,
        phase=asked.phase,
        profile=asked.profile,
        as_of=place.as_of,
        current=place.current,
        waivers=place.policy.waivers,
        contract=place.contract,
        environment=machine,
    )
    answer = place.answer(evidence, asked.phase, asked.profile)
    leg = leg_to_replay(scope)
    cassettes = (seams.backend.load(each.path, each.root) for each in place.cassettes)
    gaps = not_said(
        answer,
        CorpusFacts.of(cassettes),
        machine,
        place.contract.classes(asked.phase),
        place.current.digests.get("baselines", ""),
        recordings_days=scope.rules.recordings_days,
    )
    found = Material(
        answer=answer,
        evidence=evidence_of(evidence),
        leg=leg,
        traces=traces_of(leg.record.finished),
        environment=machine,
        inventory=place.current,
        revision=revision,
        not_said=gaps,
    )
    for run in (leg, *others_to_replay(scope, leg)):
        ran = _run_cases(asked, place, run, seams)
        if run is leg:
            found = replace(found, ran_again=ran)
    return replace(found, blocks=_run_blocks(asked, scope, seams))


def _run_cases(asked: Signature, place: Here, run: LegRun, seams: SignSeams) -> int:
    """Run a leg's cases again, or some of them by chance; how many."""
    record = run.record
    header, traces = record.header, traces_of(record.finished)
    journalled = {*record.finished, *record.skipped}
    tasks = journalled_tasks(
        journalled,
        place,
        seams.backend,
        control=header.control,
        candidate=header.candidate,
        trust=asked.trust,
        repeat=header.repeat,
        phase=header.phase,
    )
    if gone := sorted(journalled - {task.name for task in tasks}):
        raise SigningRefused(f"cases of the journal are not here: {', '.join(gone)}")
    traced = [task.name for task in tasks if task.name in traces]
    if asked.cases is not None:
        drawn = set(chosen(traced, asked.cases, secrets.randbelow(_SEEDS)))
        tasks = [task for task in tasks if task.name in drawn]
        traced = sorted(drawn)
    say(
        [f"running {len(traced)} cases again: {header.control} and {header.candidate}"],
        err=True,
    )
    seen = run_cases_again(
        tasks, traces, jobs=asked.jobs, results=record.finished, stream=sys.stderr
    )
    refuse_other(seen)
    return len(traced)


def _run_blocks(asked: Signature, scope: Scope, seams: SignSeams) -> tuple[ReplayedBlock, ...]:
    """Some blocks of each generated run that the answer counts."""
    tasks = [
        task
        for sample in counted_samples(scope)
        if sample.drawn
        for task in block_tasks_of(sample, scope.waivers, asked.sample, secrets.randbelow(_SEEDS))
    ]
    if not tasks:
        return ()
    say([f"running {len(tasks)} blocks of generated scenarios again"], err=True)
    ran = run_blocks_again(tasks, seams.run_block, seams.workers, asked.jobs)
    refuse_other([again for again, _ in ran])
    return tuple(block for _, block in ran if block is not None)
