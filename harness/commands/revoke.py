"""`parity revoke`: take a signed word back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from harness.commands.here import folder_of
from harness.commands.signing import confirmed, say, signing_key
from harness.errors import UsageError
from harness.gate.gates import load_gates
from harness.gate.here import gates_file as found_gates
from harness.signoff.chain import read_chain
from harness.signoff.material import name_of_revoker
from harness.signoff.problems import SigningRefused
from harness.signoff.statement import Named, Revocation, SignOff
from harness.signoff.trust import Signing
from harness.signoff.writing import append

__all__ = ["revoke"]

_LONGEST: Final = 2000


def revoke(
    record: Path,
    reason: str,
    signoffs: Path | None,
    gates_file: Path | None,
    yes: bool,
    **key_from: Any,
) -> None:
    """Run `parity revoke`."""
    words = reason.strip()
    if not words or len(words) > _LONGEST:
        raise UsageError(
            f"--reason takes 1 to {_LONGEST} characters", "give the reason in one sentence"
        )
    folder = folder_of(record, signoffs)
    signing = Signing.of(load_gates(found_gates(gates_file)).signing)
    key = signing_key(**key_from)
    chain = read_chain(folder, signing)
    if chain.problems:
        raise SigningRefused("; ".join(chain.problems), "repair the chain first")
    revoked = next((each for each in chain.records if each.name == record.name), None)
    if revoked is None or not isinstance(revoked.statement, SignOff):
        raise SigningRefused(f"{folder} holds no sign-off {record.name}", "name one that it holds")
    said = revoked.statement
    if (already := chain.revocation_of(revoked)) is not None:
        raise SigningRefused(f"{record.name} is revoked already, by {already.name}")
    name = name_of_revoker(signing, key.public, said.phase, said.profile)
    say([f"revoking {revoked.name} ({revoked.sha256})", f"reason: {words}"])
    if not confirmed(f"Revoke it as {name}?", yes=yes):
        say(["not revoked"])
        raise SystemExit(1)
    named = Named(file=revoked.name, sha256=revoked.sha256)
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def build(number: int, before: Named | None) -> Revocation:
        assert before is not None
        return Revocation(
            number=number,
            predecessor=before,
            revokes=named,
            reason=words,
            signer=name,
            time=moment,
        )

    written = append(folder, build, key, signing)
    say([f"revoked: {written.file}", f"digest: {written.sha256}"])
