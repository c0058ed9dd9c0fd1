"""`parity sign`: a gate's yes, run again and put under a name."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import click

from harness.commands import options
from harness.commands.checks import backend_of, worker_count
from harness.commands.here import clean_revision_here, found_here, signoffs_folder
from harness.commands.sign_again import Signature, SignSeams, material
from harness.commands.signing import confirmed, key_options, say, signing_key
from harness.errors import UsageError
from harness.experiment.pool import process_workers
from harness.gate.evidence import read_evidence
from harness.scenarios.block import run_block
from harness.signoff.chain import read_chain
from harness.signoff.keys import SigningKey
from harness.signoff.material import Material, name_of_signer, refuse_unless_yes, refuse_unreadable
from harness.signoff.problems import SigningRefused
from harness.signoff.records import Record, read_record
from harness.signoff.show import signed_lines
from harness.signoff.statement import Named, SignOff
from harness.signoff.trust import PULL_REQUEST, Signing
from harness.signoff.verification import changed_since
from harness.signoff.writing import add_signature, append

__all__ = ["sign"]

_BLOCKS: Final = 2
_LOADED: Final = ("harness.scenarios.block",)


@click.command()
@click.option("--phase", type=click.Choice(["A", "B", "C"]), help="The rollout phase.")
@options.profile
@options.evidence
@key_options
@click.option(
    "--signer",
    metavar="NAME",
    help="Who signs, where gates.toml does not say so: for pull_request only.",
)
@click.option(
    "--add",
    type=options.FILE,
    metavar="RECORD",
    help="Put a second signature to the newest record, after the same checks.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=_BLOCKS,
    show_default=True,
    metavar="N",
    help="How many blocks of each generated run are run again.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run only N cases of each leg again, drawn by chance: for pull_request only.",
)
@options.signoffs()
@options.as_of
@options.jobs
@options.trust
@click.option("--yes", is_flag=True, help="Do not ask: for CI.")
@click.pass_context
def sign(
    ctx: click.Context,
    /,
    phase: str | None,
    profile: str,
    places: tuple[Path, ...],
    add: Path | None,
    signoffs: Path | None,
    as_of: datetime | None,
    jobs: int,
    signer: str | None,
    sample: int,
    cases: int | None,
    trust: bool,
    yes: bool,
    **key_from: Any,
) -> None:
    """Sign the gate's yes to a phase, and add it to the records.

    The gate must say yes, the checkout must be as committed, and what was journalled is run again
    here: every case of the legs between the two runtimes, and some blocks of each generated run.
    Then what would be signed is shown, with what it does not say, and you are asked.

    \b
    parity sign --phase A --journal parity-report --key ~/keys/release
    parity sign --phase A --journal parity-report --key-fd 3 --yes 3<release.key
    parity sign --add signoffs/0003-A-release.json \\
        --journal parity-report --key ~/keys/other

    Exit codes: 0 signed; 1 the gate says no, or something does not hold; 2 wrong usage, or a key
    or file that cannot be used; 3 the gate does not know, or something could not be run again;
    130 interrupted. Nothing is written unless it is 0.
    """  # noqa: D301 - click's mark for lines that stay as they are
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
        raise UsageError("nothing says which phase", "give --phase A, B or C")
    if cases is not None and profile != PULL_REQUEST:
        raise UsageError(f"what is signed for {profile} is run again whole", "leave --cases out")
    asked = Signature(
        phase=phase,
        profile=profile,
        places=places,
        signer=signer,
        sample=sample,
        cases=cases,
        folder=signoffs_folder(signoffs),
        jobs=worker_count(jobs),
        trust=trust,
        yes=yes,
    )
    key = signing_key(**key_from)
    _sign(asked, day, key, before, _seams(ctx))


def _sign(
    asked: Signature, day: date, key: SigningKey, before: Record | None, seams: SignSeams
) -> None:
    place = found_here(None, None, day)
    signing = Signing.of(place.policy.gates.signing)
    name = name_of_signer(signing, key.public, asked.signer, asked.phase, asked.profile)
    if signing.who(key.public) is None:
        signing = signing.also(name, key.public)
    chain = read_chain(asked.folder, signing)
    if chain.problems:
        raise SigningRefused("; ".join(chain.problems), "mend the chain first")
    refuse_unreadable(place.current)
    evidence = read_evidence(asked.places)
    refuse_unless_yes(place.answer(evidence, asked.phase, asked.profile))
    revision = clean_revision_here(place, asked.folder)
    found = material(asked, place, evidence, revision, seams)
    again = found_here(None, None, day)
    moved = place.current.differences(again.current)
    if moved or clean_revision_here(again, asked.folder) != revision:
        what = "; ".join(moved) or "another commit is checked out"
        raise SigningRefused(f"something changed while it was run again: {what}", "start anew")
    if before is not None:
        _add(asked, found, before, key, signing)
    else:
        _append(asked, found, name, key, signing)


def _append(
    asked: Signature, found: Material, name: str, key: SigningKey, signing: Signing
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
    asked: Signature, found: Material, before: Record, key: SigningKey, signing: Signing
) -> None:
    said = before.statement
    assert isinstance(said, SignOff)
    changed = changed_since(said, found.inventory)
    if dict(said.traces) != dict(found.traces):
        changed.append("the journal's traces are others than the record's")
    if said.answer.legs != found.answer.legs or said.evidence != found.evidence:
        changed.append("the evidence is other than the record's")
    if changed:
        raise SigningRefused(f"{before.name}: {'; '.join(changed)}", "sign anew instead")
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
    backend = backend_of(ctx)
    workers = process_workers(backend, ("legacy", "adk"), _LOADED)
    return SignSeams(backend=backend, run_block=run_block, workers=workers)
