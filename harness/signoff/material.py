"""What goes into a record: the gate's answer, what it was shown, and what was run again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
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
from services.regular_files import open_regular

__all__ = [
    "Material",
    "evidence_of",
    "leg_to_replay",
    "listed",
    "name_of_revoker",
    "name_of_signer",
    "others_to_replay",
    "refuse_unless_yes",
    "refuse_unreadable",
    "traces_of",
]


_VERSIONS: Final = "distributions"
"""The component whose files are packages, and have versions for digests."""
_DIGITS: Final = 64
_CORE: Final = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All of a record but its number, its predecessor, its signer and its time."""

    answer: GateAnswer
    evidence: tuple[Evidence, ...]
    leg: LegRun
    """The comparison that is run again."""
    traces: Mapping[str, tuple[str, str]]
    ran_again: int | None = None
    """How many of the leg's cases were run again; `None`: all."""
    blocks: tuple[ReplayedBlock, ...] = ()
    environment: Mapping[str, str]
    inventory: Inventory
    revision: str | None
    not_said: tuple[str, ...]

    def statement(self, number: int, before: Named | None, signer: str, time: str) -> SignOff:
        """The whole of it."""
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
        told = (
            f"Of the {len(self.traces):,} cases of {header.control} ≡ {header.candidate} only "
            f"{self.ran_again:,}, drawn by chance, were run again before it was signed."
        )
        return (told,)


def leg_to_replay(scope: Scope) -> LegRun:
    """The comparison in which classes must be reached: the one that needs no published core.

    Raises:
        SigningRefused: it was not run on what is here.
    """
    wanted = scope.gates.reached_in
    for leg in seen_legs(scope):
        if leg.rule.name == wanted:
            return leg.run
    raise SigningRefused(f"no journal of {wanted} is of what is here", "run it, with --journal")


def others_to_replay(scope: Scope, leg: LegRun) -> list[LegRun]:
    """The other comparisons that need no published core: sessions that change hands."""
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
    """Case to the digests of what was observed of both sides.

    Raises:
        SigningRefused: a case has none: nothing was observed of it.
    """
    for name, result in results.items():
        if not all(result.digests):
            raise SigningRefused(f"the journal has no trace of {name}", f"run it: -k {name!r}")
    return {name: results[name].digests for name in sorted(results)}


def evidence_of(found: GateEvidence) -> tuple[Evidence, ...]:
    """The files that the gate was shown, each by its digest as it is now."""
    journals = [
        _file("journal", f"{leg.record.header.control} ≡ {leg.record.header.candidate}", leg.file)
        for leg in found.legs
    ]
    kills = [_file("kill matrix", run.sample or "every fault", run.file) for run in found.kills]
    samples = [
        _file("sample", f"{run.drawn} of {run.profile}, seed {run.seed}", run.file)
        for run in found.samples
    ]
    return (*journals, *kills, *samples)


def refuse_unless_yes(answer: GateAnswer) -> None:
    """Only a yes is signed.

    Raises:
        SigningRefused: naming the first reasons.
    """
    if answer.answer is Answer.YES:
        return
    told = [f"{reason.about}: {reason.says}" for reason in answer.reasons]
    more = f" (and {len(told) - 1} more reasons)" if len(told) > 1 else ""
    profile = f"--phase {answer.phase} --profile {answer.profile}"
    says = f"the gate says {answer.answer.value}: {told[0]}{more}"
    lacks = f"`parity measure {profile}` runs what lacks" if needed(answer) else ""
    refused = SigningRefused(says, lacks or f"see `parity gate {profile}`")
    if answer.answer is Answer.UNKNOWN:
        refused.exit_code = ReplayFailure.exit_code
    raise refused


def refuse_unreadable(inventory: Inventory) -> None:
    """What cannot be read cannot be signed for.

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
    """What the record calls its signer.

    Raises:
        SigningRefused: nobody would believe the record: the key is not trusted for it, or the name
            is another signer's.
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
    """What the record of a revocation calls its signer.

    Raises:
        SigningRefused: the key could not have signed the record, so it cannot take it back.
    """
    signer = signing.who(key)
    if signer is None or not signer.may_sign(phase, profile):
        what = f"{profile} records of phase {phase}"
        raise SigningRefused(f"the key is no signer's of {what}", "see [signing] in gates.toml")
    return signer.name


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first few, and how many more there are."""
    every: Sequence[str] = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def _file(kind: str, about: str, file: Path) -> Evidence:
    with open_regular(file) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Evidence(kind=kind, about=about, file=file.name, sha256=digest)
