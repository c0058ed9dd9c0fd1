"""`parity sign`: a gate's yes, run again and put under a name."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import click

from harness.commands import checks
from harness.commands.here import clean_revision_here, found_here, journalled_tasks, signoffs_folder
from harness.commands.signing import KEY_OPTIONS, confirmed, say, signing_key
from harness.draw import chosen
from harness.errors import UsageError
from harness.experiment.backend import Backend
from harness.experiment.pool import Workers, process_workers
from harness.gate.evidence import Evidence, LegRun, read_evidence
from harness.gate.here import Here
from harness.gate.judge import judge
from harness.gate.samples import counted_samples
from harness.gate.scope import Scope
from harness.inventory import environment
from harness.scenarios.block import BlockDone, BlockTask, run_block
from harness.signoff.chain import read_chain
from harness.signoff.keys import SigningKey
from harness.signoff.material import (
    Material,
    evidence_of,
    leg_to_replay,
    name_of_signer,
    others_to_replay,
    refuse_unless_yes,
    refuse_unreadable,
    traces_of,
)
from harness.signoff.not_said import CorpusFacts, not_said
from harness.signoff.problems import SigningRefused
from harness.signoff.records import Record, read_record
from harness.signoff.rerun import block_tasks_of, refuse_other, run_blocks_again, run_cases_again
from harness.signoff.show import signed_lines
from harness.signoff.statement import Named, ReplayedBlock, SignOff
from harness.signoff.trust import PULL_REQUEST, Signing
from harness.signoff.verification import changed_since
from harness.signoff.writing import add_signature, append

__all__ = ["SignSeams", "sign"]

_SEEDS: Final = 2**32
_LOADED: Final = ("harness.scenarios.block",)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignSeams:
    """What a test puts in the place of runtimes and worker processes."""

    backend: Backend
    run_block: Callable[[BlockTask], BlockDone]
    workers: Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
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


def _material(
    asked: _Signature, place: Here, evidence: Evidence, revision: str | None, seams: SignSeams
) -> Material:
    """All that goes into a record, after running again what was journalled.

    Raises:
        SigningRefused: something came out in another way, or could not be run.
    """
    machine = environment()
    scope = place.scope(evidence, asked.phase, asked.profile)
    answer = judge(scope)
    leg = leg_to_replay(scope)
    cassettes = (seams.backend.load(each.path, each.root) for each in place.cassettes)
    gaps = not_said(
        answer,
        CorpusFacts.of(cassettes),
        machine,
        place.contract.classes(asked.phase),
        place.current.digests.get("baselines", ""),
        recordings_days=scope.rules.recordings_days,
        phases={name: each.title for name, each in place.policy.gates.phase.items()},
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


def _run_cases(asked: _Signature, place: Here, run: LegRun, seams: SignSeams) -> int:
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
        raise SigningRefused(f"the journal has cases that are not here: {', '.join(gone)}")
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


def _run_blocks(asked: _Signature, scope: Scope, seams: SignSeams) -> tuple[ReplayedBlock, ...]:
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


@click.pass_context
def sign(
    ctx: click.Context,
    /,
    phase: str | None,
    profile: str,
    add: Path | None,
    signoffs: Path | None,
    as_of: datetime | None,
    jobs: int,
    **given: Any,
) -> None:
    """Run `parity sign`."""
    before = None
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    if add is not None:
        if as_of is not None or phase is not None:
            raise UsageError("--add takes phase, profile and day from the record", "leave them out")
        before = read_record(add)
        if not isinstance(before.statement, SignOff):
            raise UsageError(f"{add} is a revocation", "name a sign-off")
        phase, profile = before.statement.phase, before.statement.profile
        day = date.fromisoformat(before.statement.as_of)
        signoffs = add.parent
    if phase is None:
        raise UsageError("nothing says which phase", "give --phase")
    key_from = {name: given.pop(name) for name in KEY_OPTIONS}
    if given["cases"] is not None and profile != PULL_REQUEST:
        raise UsageError(f"what is signed for {profile} is run again whole", "leave --cases out")
    asked = _Signature(
        phase=phase,
        profile=profile,
        folder=signoffs_folder(signoffs),
        jobs=checks.worker_count(jobs),
        **given,
    )
    key = signing_key(**key_from)
    _sign(asked, day, key, before, _seams(ctx))


def _sign(
    asked: _Signature, day: date, key: SigningKey, before: Record | None, seams: SignSeams
) -> None:
    place = found_here(None, None, day)
    signing = Signing.of(place.policy.gates.signing)
    name = name_of_signer(signing, key.public, asked.signer, asked.phase, asked.profile)
    if signing.who(key.public) is None:
        signing = signing.also(name, key.public)
    chain = read_chain(asked.folder, signing)
    if chain.problems:
        raise SigningRefused("; ".join(chain.problems), "repair the chain first")
    refuse_unreadable(place.current)
    evidence = read_evidence(asked.places)
    refuse_unless_yes(judge(place.scope(evidence, asked.phase, asked.profile)))
    revision = clean_revision_here(place, asked.folder)
    found = _material(asked, place, evidence, revision, seams)
    again = found_here(None, None, day)
    moved = place.current.differences(again.current)
    if moved or clean_revision_here(again, asked.folder) != revision:
        what = "; ".join(moved) or "another commit is checked out"
        raise SigningRefused(f"a file changed during the run: {what}", "start again")
    if before is not None:
        _add(asked, found, before, key, signing)
    else:
        _append(asked, found, name, key, signing)


def _append(
    asked: _Signature, found: Material, name: str, key: SigningKey, signing: Signing
) -> None:
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def build(number: int, predecessor: Named | None) -> SignOff:
        return found.statement(number, predecessor, name, moment)

    newest = read_chain(asked.folder, signing).newest
    named = None if newest is None else Named(file=newest.name, sha256=newest.sha256)
    say(signed_lines(build(1 if newest is None else newest.statement.number + 1, named)))
    if signing.threshold > 1:
        say([f"{signing.threshold} signers must sign: the others with `parity sign --add`"])
    if not confirmed(f"Sign this as {name}?", yes=asked.yes):
        say(["not signed"])
        sys.exit(1)
    record = append(asked.folder, build, key, signing)
    say([f"signed: {record.file}", f"digest: {record.sha256}"])


def _add(
    asked: _Signature, found: Material, before: Record, key: SigningKey, signing: Signing
) -> None:
    said = before.statement
    assert isinstance(said, SignOff)
    changed = changed_since(said, found.inventory)
    if dict(said.traces) != dict(found.traces):
        changed.append("the traces of the journal differ from those of the record")
    if said.answer.legs != found.answer.legs or said.evidence != found.evidence:
        changed.append("the evidence differs from that of the record")
    if changed:
        raise SigningRefused(f"{before.name}: {'; '.join(changed)}", "create a new record instead")
    say(signed_lines(said))
    name = signing.who(key.public)
    if not confirmed(f"Add the signature of {name.name if name else 'this key'}?", yes=asked.yes):
        say(["not signed"])
        sys.exit(1)
    record = add_signature(before.file, key, signing)
    say([f"signed: {record.file}", f"digest: {record.sha256}"])


def _seams(ctx: click.Context) -> SignSeams:
    if isinstance(ctx.obj, SignSeams):
        return ctx.obj
    backend = checks.backend_of(ctx)
    workers = process_workers(backend, ("legacy", "adk"), _LOADED)
    return SignSeams(backend=backend, run_block=run_block, workers=workers)
