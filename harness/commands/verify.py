"""`parity verify`: does a signed record hold, here and now?"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from harness.commands import checks
from harness.commands.here import (
    check_digest,
    folder_of,
    found_here,
    journalled_tasks,
    signoffs_folder,
)
from harness.commands.signing import say
from harness.config import default_gates
from harness.draw import chosen
from harness.errors import UsageError
from harness.experiment.backend import Backend
from harness.gate.here import Here
from harness.gate.show import show_changes
from harness.inventory import environment
from harness.signoff.chain import Chain, read_chain
from harness.signoff.history import Anchor, history_of
from harness.signoff.keyfile import read_public
from harness.signoff.keys import PublicKey
from harness.signoff.records import Record, is_record_name
from harness.signoff.rerun import run_cases_again
from harness.signoff.show import verified_lines
from harness.signoff.statement import SignOff
from harness.signoff.trust import Signing
from harness.signoff.verification import Verification, verified
from harness.whole_file import writable_file, write_json
from harness.wording import counted

__all__ = ["verify"]

_SEEDS: Final = 2**32
_HOLDS, _FAILS, _UNKNOWN = 0, 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replay:
    """What is to be run again."""

    count: int
    seed: int
    jobs: int
    trust: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is to be verified."""

    record: Record
    chain: Chain
    signing: Signing
    whole: bool
    """No record was named: the newest ones of all phases count."""


@click.pass_context
def verify(
    ctx: click.Context,
    /,
    record: Path | None,
    signoffs: Path | None,
    gates_file: Path | None,
    policy_from: str | None,
    also_trust: Sequence[str],
    expect_head: str | None,
    replay: int,
    seed: int | None,
    json_file: Path | None,
    jobs: int,
    trust: bool,
) -> int:
    """Run `parity verify`; return its exit code."""
    writable_file(json_file, "--json")
    check_digest(expect_head)
    folder = _folder(record, signoffs)
    place = found_here(gates_file, None, datetime.now(UTC).date(), policy_from)
    if policy_from is not None:
        show_changes(place.policy.source, place.changes, sys.stdout)
    signing = _trusted(place, also_trust)
    history = history_of(folder, _anchor(gates_file, policy_from, place))
    chain = read_chain(folder, signing, expect_head=expect_head, history=history)
    wanted = _wanted(record, chain)
    if wanted is None:
        return _nothing(record, chain, json_file)
    again = _Replay(
        count=replay,
        seed=secrets.randbelow(_SEEDS) if seed is None else seed,
        jobs=checks.worker_count(jobs),
        trust=trust,
    )
    checked = _Asked(record=wanted, chain=chain, signing=signing, whole=record is None)
    return _verify(checked, place, again, checks.backend_of(ctx), json_file)


def _anchor(gates: Path | None, policy_from: str | None, place: Here) -> Anchor | None:
    """The gates whose repository must be that of the records.

    Gates that are named with `--gates` are trusted because they are named, committed or not.
    """
    own = default_gates()
    if gates is not None and policy_from is None:
        say([f"trusted because --gates names it: {gates}"])
    if own is None:
        return None
    named = gates is not None or policy_from is not None
    digest = None if named else place.policy.gates.digest
    return Anchor(gates=own, digest=digest, revision=policy_from)


def _verify(
    asked: _Asked,
    place: Here,
    again: _Replay,
    backend: Backend,
    json_file: Path | None,
) -> int:
    files = {each.name: each.path.as_posix() for each in place.cassettes}
    result = verified(
        asked.record,
        asked.chain,
        asked.signing,
        place.current,
        environment(),
        files,
        whole=asked.whole,
    )
    if again.count:
        result = _replayed(result, place, again, backend)
    if json_file is not None:
        write_json(json_file, result.to_json())
    say(verified_lines(result, whole=result.holds))
    if result.problems:
        return _FAILS
    return _HOLDS if result.holds else _UNKNOWN


def _replayed(result: Verification, place: Here, again: _Replay, backend: Backend) -> Verification:
    """Run some of the record's cases, and add the result."""
    said = result.record.statement
    if not isinstance(said, SignOff):
        raise UsageError("a revocation has no cases", "leave --replay out")
    names = chosen(list(said.traces), again.count, again.seed)
    tasks = journalled_tasks(
        names,
        place,
        backend,
        control=said.replayed.control,
        candidate=said.replayed.candidate,
        trust=again.trust,
    )
    problems, undecided = list(result.problems), list(result.undecided)
    problems += [
        f"{name}: is missing here and cannot be run again" for name in _missing(names, tasks)
    ]
    say([f"running {len(tasks)} cases again, seed {again.seed}"], err=True)
    for seen in run_cases_again(tasks, said.traces, jobs=again.jobs):
        if seen.problem:
            (undecided if seen.undecided else problems).append(f"{seen.name}: {seen.problem}")
    return replace(
        result,
        problems=tuple(problems),
        undecided=tuple(undecided),
        replayed=tuple(task.name for task in tasks),
        seed=again.seed,
    )


def _missing(names: Sequence[str], tasks: Sequence[object]) -> list[str]:
    there = {getattr(task, "name", "") for task in tasks}
    return [name for name in names if name not in there]


def _wanted(record: Path | None, chain: Chain) -> Record | None:
    """The record that is asked for, if it could be read."""
    if record is None:
        return chain.newest
    return next((each for each in chain.records if each.name == record.name), None)


def _nothing(record: Path | None, chain: Chain, json_file: Path | None) -> int:
    """Say that there is no such record, or that it could not be read as one."""
    problems = list(chain.problems)
    if record is not None and not (chain.folder / record.name).exists():
        raise UsageError(f"there is no record {record}", f"see the folder {chain.folder}")
    if record is not None and not is_record_name(record.name):
        raise UsageError(f"{record} is no record's name", "name one such as 0003-A-release.json")
    if json_file is not None:
        write_json(json_file, {"verification": 1, "holds": False, "problems": problems})
    name = record.name if record is not None else str(chain.folder)
    if problems:
        say([f"does not hold: {problem}" for problem in problems])
        say([f"{name} does not hold: {counted(len(problems), 'reason')}"])
        return _FAILS
    say([f"unknown: {doubt}" for doubt in chain.history.unknown])
    say([f"{chain.folder} contains no record; create one with `parity sign`"])
    return _UNKNOWN


def _folder(record: Path | None, signoffs: Path | None) -> Path:
    """Where the chain is that the record is of."""
    if signoffs is not None and not signoffs.is_dir():
        raise UsageError(f"there is no folder {signoffs}", "name another with --signoffs")
    return signoffs_folder(signoffs) if record is None else folder_of(record, signoffs)


def _trusted(place: Here, also: Sequence[str]) -> Signing:
    signing = Signing.of(place.policy.gates.signing)
    for entry in also:
        name, sign, file = entry.partition("=")
        if not (name and sign and file):
            raise UsageError(f"--also-trust {entry!r} is not NAME=FILE", "write ci=ci.key.pub")
        key = PublicKey.from_pem(read_public(Path(file)), file)
        try:
            signing = signing.also(name, key)
        except ValueError as error:
            raise UsageError(f"--also-trust {name}: {error}", "choose another name") from error
        say([f"trusted for this call, and for pull_request records only: {name} ({file})"])
    return signing
