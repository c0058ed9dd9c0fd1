"""The content of a record: the gate's answer, its evidence, and the repeated runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import ReplayFailure
from harness.gate.answer import Answer, GateAnswer
from harness.gate.evidence import Evidence as GateEvidence
from harness.gate.evidence import LegRun
from harness.gate.legs import seen_legs
from harness.gate.plan import needed
from harness.gate.scope import Scope
from harness.inventory import Inventory
from harness.parity.verdict import CaseResult
from harness.sides import base_names
from harness.signoff.keys import PublicKey
from harness.signoff.problems import SigningRefused
from harness.signoff.statement import Evidence, Named, Replayed, ReplayedBlock, SignOff
from harness.signoff.trust import PULL_REQUEST, SIGNER_NAME, Signing
from harness.wording import listed
from services.regular_files import open_regular

__all__ = [
    "Material",
    "evidence_of",
    "leg_to_replay",
    "name_of_revoker",
    "name_of_signer",
    "others_to_replay",
    "refuse_unless_yes",
    "refuse_unreadable",
    "traces_of",
]


_VERSIONS: Final = "distributions"
"""The component of the installed packages, with versions instead of digests."""
_DIGITS: Final = 64
_CORE: Final = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A record without its number, predecessor, signer and time."""

    answer: GateAnswer
    evidence: tuple[Evidence, ...]
    leg: LegRun
    """The comparison that is run again."""
    traces: Mapping[str, tuple[str, str]]
    ran_again: int | None = None
    """Number of the leg's cases that were run again; `None` for all."""
    blocks: tuple[ReplayedBlock, ...] = ()
    environment: Mapping[str, str]
    inventory: Inventory
    revision: str | None
    not_said: tuple[str, ...]

    def statement(self, number: int, before: Named | None, signer: str, time: str) -> SignOff:
        """Return the complete statement."""
        answer = self.answer
        return SignOff.model_validate(
            {
                "number": number,
                "predecessor": before,
                "phase": answer.phase,
                "profile": answer.profile,
                "as_of": answer.as_of,
                "signer": signer,
                "time": time,
                "revision": self.revision,
                "answer": answer,
                "evidence": self.evidence,
                "traces": self.traces,
                "replayed": Replayed(
                    control=self.leg.record.header.control,
                    candidate=self.leg.record.header.candidate,
                    cases=len(self.traces) if self.ran_again is None else self.ran_again,
                    blocks=self.blocks,
                ),
                "environment": self.environment,
                "components": self.inventory.components,
                "not_said": (*self.not_said, *self._left_out()),
            }
        )

    def _left_out(self) -> tuple[str, ...]:
        if self.ran_again is None or self.ran_again == len(self.traces):
            return ()
        header = self.leg.record.header
        sentence = (
            f"Of the {len(self.traces):,} cases of {header.control} ≡ {header.candidate} only "
            f"{self.ran_again:,}, drawn by chance, were run again before it was signed."
        )
        return (sentence,)


def leg_to_replay(scope: Scope) -> LegRun:
    """Return the comparison in which classes must be reached; it needs no published core.

    Of a phase without a contract it is the first that the profile requires.

    Raises:
        SigningRefused: It was not run on the current files.
    """
    wanted = scope.gates.reached_in or scope.legs[0].name
    for leg in seen_legs(scope):
        if leg.rule.name == wanted:
            return leg.run
    raise SigningRefused(f"no journal of {wanted} is of what is here", "run it, with --journal")


def others_to_replay(scope: Scope, leg: LegRun) -> list[LegRun]:
    """Return the other comparisons that need no published core: those that hand sessions over."""
    counted: dict[str, LegRun] = {}
    for seen in seen_legs(scope):
        counted.setdefault(seen.rule.name, seen.run)
    return [
        run
        for run in counted.values()
        if run is not leg and not run.baselines and not _of_the_core(run)
    ]


def _of_the_core(run: LegRun) -> bool:
    return _CORE in base_names(run.control) | base_names(run.candidate)


def traces_of(results: Mapping[str, CaseResult]) -> dict[str, tuple[str, str]]:
    """Case to the digests of the observations of both sides.

    Raises:
        SigningRefused: a case has no observation.
    """
    for name, result in results.items():
        if not all(result.digests):
            raise SigningRefused(f"the journal has no trace of {name}", f"run it: -k {name!r}")
    return {name: results[name].digests for name in sorted(results)}


def evidence_of(found: GateEvidence) -> tuple[Evidence, ...]:
    """Return the files of the gate's evidence with their current digests."""
    journals = [
        _file("journal", f"{leg.record.header.control} ≡ {leg.record.header.candidate}", leg.file)
        for leg in found.legs
    ]
    kills = [_file("kill matrix", run.sample or "every fault", run.file) for run in found.kills]
    mutants = [
        _file("mutants", f"{run.whole.tried} of {', '.join(run.parts)}, seed {run.seed}", run.file)
        for run in found.mutants
    ]
    samples = [
        _file("sample", f"{run.drawn} of {run.profile}, seed {run.seed}", run.file)
        for run in found.samples
    ]
    return (*journals, *kills, *mutants, *samples)


def refuse_unless_yes(answer: GateAnswer) -> None:
    """Raise unless the answer is yes.

    Raises:
        SigningRefused: with the first reason.
    """
    if answer.answer is Answer.YES:
        return
    first, *others = answer.reasons
    more = f" (and {len(others)} more reasons)" if others else ""
    profile = f"--phase {answer.phase} --profile {answer.profile}"
    says = f"the gate says {answer.answer.value}: {first.about}: {first.says}{more}"
    lacks = f"`parity measure {profile}` runs what lacks" if needed(answer) else ""
    refused = SigningRefused(says, lacks or f"see `parity gate {profile}`")
    if answer.answer is Answer.UNKNOWN:
        refused.exit_code = ReplayFailure.exit_code
    raise refused


def refuse_unreadable(inventory: Inventory) -> None:
    """Raise if files of the inventory cannot be read.

    Raises:
        SigningRefused: naming the files.
    """
    found = [
        file
        for name, component in inventory.components.items()
        for file, digest in component.files.items()
        if name != _VERSIONS and len(digest) != _DIGITS
    ]
    if found:
        raise SigningRefused(f"files cannot be read: {listed(found)}", "mend their permissions")


def name_of_signer(
    signing: Signing, key: PublicKey, asked: str | None, phase: str, profile: str
) -> str:
    """Return the signer's name in the record.

    Raises:
        SigningRefused: the key is not trusted for the record, or the name is another signer's.
    """
    signer = signing.who(key)
    if signer is not None:
        if asked is not None and asked != signer.name:
            raise SigningRefused(f"the key is {signer.name}'s, not {asked}'s", "leave --signer out")
        if not signer.may_sign(phase, profile):
            what = f"{profile} records of phase {phase}"
            raise SigningRefused(f"{signer.name} may not sign {what}", "see gates.toml")
        return signer.name
    mend = f'put it into gates.toml: key = "{key.hexadecimal}"'
    if profile != PULL_REQUEST:
        raise SigningRefused(f"the key is no signer's of {profile} records", mend)
    if asked is None or not SIGNER_NAME.fullmatch(asked):
        raise SigningRefused("the key is no signer's", f"say who signs with --signer, or {mend}")
    if any(asked == other.name for other in signing.signers):
        raise SigningRefused(f"{asked} signs with another key", "use that one, or another name")
    return asked


def name_of_revoker(signing: Signing, key: PublicKey, phase: str, profile: str) -> str:
    """Return the signer's name in a revocation.

    Raises:
        SigningRefused: the key may not sign the record, and so may not revoke it either.
    """
    signer = signing.who(key)
    if signer is None or not signer.may_sign(phase, profile):
        what = f"{profile} records of phase {phase}"
        raise SigningRefused(f"the key is no signer's of {what}", "see [signing] in gates.toml")
    return signer.name


def _file(kind: str, about: str, file: Path) -> Evidence:
    with open_regular(file) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Evidence(kind=kind, about=about, file=file.name, sha256=digest)
