"""`Here`: the gates, waivers, contract and corpus of the current folder, read from their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.cassette.find import CassetteFile, find_cassettes
from harness.config import (
    current_inventory,
    default_contract,
    default_gates,
    default_waivers,
)
from harness.coverage.contract import Contract, load_contract
from harness.errors import UsageError
from harness.gate.evidence import Evidence
from harness.gate.gates import Gates
from harness.gate.policy import Policy, policy_changes, policy_here, policy_of_revision
from harness.gate.scope import FOLDER, Scope
from harness.inventory import Inventory, environment
from harness.triage.checkout import Checkout
from runtimes.project_file import find_project_file

__all__ = ["Here", "gates_file", "here"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The input of the gate, except the evidence."""

    policy: Policy
    changes: tuple[str, ...]
    """The differences of the local files from a policy that comes from a revision."""
    contract: Contract
    cassettes: tuple[CassetteFile, ...]
    """All cassettes in the folders that the gates name."""
    current: Inventory
    corpus: Sequence[Path]
    """The folders that the gates name."""
    waivers_file: Path | None
    as_of: date
    seed: int = 0
    """Seed of a release's samples, from the commit; 0 outside of a checkout."""
    since: str = ""
    """The revision of the policy; empty for the local files."""

    def current_of(self, phase: str) -> Inventory | None:
        """Return the current inputs of a leg over the cassettes of a phase alone.

        `None` if no leg of the phase is behind a surface.
        """
        gates = self.policy.gates
        if all(leg.surface is None for leg in gates.of_phase(phase).leg):
            return None
        own = find_cassettes(self.corpus, phase=phase, variants=True)
        return current_inventory(
            [(each.name, each.path) for each in own], self.waivers_file, gates.runtimes
        )

    def scope(self, evidence: Evidence, phase: str, profile: str, folder: Path = FOLDER) -> Scope:
        """Return the scope to judge; proposed measurements write their evidence into `folder`."""
        return Scope(
            evidence=evidence,
            policy=self.policy.gates,
            phase=phase,
            profile=profile,
            as_of=self.as_of,
            current=self.current,
            own=self.current_of(phase),
            waivers=self.policy.waivers,
            contract=self.contract,
            environment=environment(),
            folder=folder,
            seed=self.seed,
            since=self.since,
        )


def here(
    gates: Path | None, waivers: Path | None, as_of: date, policy_from: str | None = None
) -> Here:
    """Read the files of the current folder.

    Args:
        gates: The gates file; `None` for the default one.
        waivers: The waivers file; likewise.
        as_of: The day for which waivers and ages are judged.
        policy_from: A revision whose gates and waivers replace the local ones.

    Raises:
        HarnessError: a file is missing or cannot be used.
    """
    file = gates_file(gates)
    waived = waivers or default_waivers()
    now = policy_here(file, waived, as_of)
    policy = now
    changes: tuple[str, ...] = ()
    if policy_from is not None:
        policy = policy_of_revision(policy_from, file, waived, as_of)
        changes = tuple(policy_changes(policy, now))
    corpus = _corpus(policy.gates, file)
    cassettes = find_cassettes(corpus, variants=True)
    return Here(
        policy=policy,
        changes=changes,
        contract=load_contract(default_contract()),
        cassettes=tuple(cassettes),
        current=current_inventory(
            [(each.name, each.path) for each in cassettes], waived, policy.gates.runtimes
        ),
        corpus=corpus,
        waivers_file=waived,
        as_of=as_of,
        seed=_commit_seed(),
        since=policy_from or "",
    )


def gates_file(named: Path | None) -> Path:
    """Return the named gates file, or the default one.

    Raises:
        UsageError: there is none.
    """
    file = named or default_gates()
    if file is None:
        raise UsageError("there is no parity_tests/gates.toml here", "name one with --gates")
    return file


def _commit_seed() -> int:
    """Return the first 8 hex digits of the current commit as a number; 0 without a checkout."""
    try:
        commit = Checkout.at(Path()).git("rev-parse", "--verify", "--quiet", "HEAD")
    except UsageError:
        return 0
    return int(commit[:8], 16)


def _corpus(gates: Gates, file: Path) -> Sequence[Path]:
    """Return the gates' corpus folders, in this folder, the project's, or the gates' checkout."""
    project = find_project_file()
    roots = (Path(), *([] if project is None else [project.parent]), file.resolve().parent.parent)
    found = []
    for name in gates.corpus:
        place = next((root / name for root in roots if (root / name).exists()), None)
        if place is None:
            problem = f"{file}: corpus: there is no {name!r} here"
            raise UsageError(problem, "run this in the checkout, or correct the gates")
        found.append(place)
    return found
