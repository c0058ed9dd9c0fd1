"""Keys, records and chains made up for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.gate.answer import GateAnswer
from harness.inventory import Component
from harness.signoff.keys import SigningKey
from harness.signoff.records import Record
from harness.signoff.statement import Named, Replayed, Revocation, SignOff
from harness.signoff.trust import Signing, TrustedSigner
from harness.signoff.writing import append

ALICE, BOB, MALLORY = SigningKey.new(), SigningKey.new(), SigningKey.new()
"""Two that are trusted, one that isn't."""

TIME = "2026-01-01T12:00:00Z"


def trusted(
    name: str,
    key: SigningKey,
    *,
    phases: str = "AB",
    profiles: tuple[str, ...] = ("pull_request", "release"),
) -> TrustedSigner:
    return TrustedSigner(
        name=name, key=key.public, phases=frozenset(phases), profiles=frozenset(profiles)
    )


def signing(threshold: int = 1) -> Signing:
    return Signing(threshold=threshold, signers=(trusted("alice", ALICE), trusted("bob", BOB)))


def components() -> Mapping[str, Component]:
    return {
        "corpus": Component({"text/one": "1" * 64, "text/two": "2" * 64}),
        "waivers": Component({"waivers.toml": "3" * 64}, {"W1": "4" * 64}),
        "distributions": Component({"click": "8.1"}),
    }


def sign_off(number: int = 1, before: Named | None = None, **changes: Any) -> SignOff:
    phase = changes.get("phase", "A")
    profile = changes.get("profile", "release")
    day = changes.get("as_of", "2026-01-01")
    values: dict[str, Any] = {
        "number": number,
        "predecessor": before,
        "phase": phase,
        "profile": profile,
        "as_of": day,
        "signer": "alice",
        "time": TIME,
        "revision": None,
        "answer": GateAnswer.of((), phase=phase, profile=profile, as_of=day),
        "evidence": (),
        "traces": {"text/one": ("a" * 64, "b" * 64)},
        "replayed": Replayed(control="legacy", candidate="adk", cases=1),
        "environment": {"python": "CPython 3.11"},
        "components": components(),
        "not_said": ("nothing of other models",),
    }
    return SignOff(**{**values, **changes})


def revocation(number: int, before: Named | None, revoked: Record, **changes: Any) -> Revocation:
    assert before is not None
    named = Named(file=revoked.name, sha256=revoked.sha256)
    values: dict[str, Any] = {
        "number": number,
        "predecessor": before,
        "revokes": named,
        "reason": "it was wrong",
        "signer": "alice",
        "time": TIME,
    }
    return Revocation(**{**values, **changes})


def add(folder: Path, key: SigningKey = ALICE, **changes: Any) -> Record:
    """Append a sign-off to the chain in `folder`."""
    return append(folder, lambda n, before: sign_off(n, before, **changes), key, signing())


def revoke(folder: Path, record: Record, key: SigningKey = ALICE, **changes: Any) -> Record:
    return append(
        folder, lambda n, before: revocation(n, before, record, **changes), key, signing()
    )
