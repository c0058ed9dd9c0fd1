"""The signed in-toto Statements: a sign-off, its revocation, and the chain's newest record.

Subjects are the files that a verdict depends on, with their SHA-256.

Source: in-toto attestation framework, Statement v1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from harness.canonical import canonical
from harness.gate.answer import Answer, GateAnswer
from harness.gate.reasons import Value
from harness.gate.rules import Phase
from harness.inventory import Component, Inventory
from services.redaction import redacted_value
from services.wire import JsonObject

__all__ = [
    "HEAD_TYPE",
    "REVOCATION_TYPE",
    "SIGNOFF_TYPE",
    "STATEMENT_TYPE",
    "Evidence",
    "Head",
    "Named",
    "Replayed",
    "ReplayedBlock",
    "Revocation",
    "SignOff",
    "Statement",
    "payload_of",
]

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
SIGNOFF_TYPE: Final = "urn:parity:signoff:v1"
REVOCATION_TYPE: Final = "urn:parity:revocation:v1"
HEAD_TYPE: Final = "urn:parity:head:v1"

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"


def _moment(text: str) -> str:
    if datetime.strptime(text, _MOMENT).strftime(_MOMENT) != text:  # noqa: DTZ007 - Z is UTC
        raise ValueError("must be a moment in UTC, such as 2026-01-31T12:00:00Z")
    return text


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("must be a day, such as 2026-01-31")
    return text


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Moment = Annotated[str, AfterValidator(_moment)]
Day = Annotated[str, AfterValidator(_day)]
Number = Annotated[int, Field(ge=1, le=9999)]


class Named(Value):
    """A file of the chain, by name and content."""

    file: Annotated[str, Field(pattern=r"^[0-9]{4}-[A-Za-z_-]+\.json$")]
    sha256: Sha256


class Evidence(Value):
    """A file of the gate's evidence."""

    kind: str
    """`journal`, `kill matrix` or `sample`."""
    about: str
    """The two sides of a journal, or the profile of a sample."""
    file: str
    sha256: Sha256


class ReplayedBlock(Value):
    """A block of generated scenarios that was run again before signing."""

    profile: str
    seed: int
    number: int
    digest: str
    """Digest of the names of its scenarios."""


class Replayed(Value):
    """The cases and blocks that were run again before signing, with equal traces."""

    control: str
    candidate: str
    cases: int
    blocks: tuple[ReplayedBlock, ...] = Field(default=(), strict=False)


class SignOff(Value):
    """A signed answer of a gate."""

    number: Number
    predecessor: Named | None
    phase: Phase
    profile: Literal["pull_request", "release"]
    as_of: Day
    signer: str
    """Name of the first signer; the envelope has the signatures."""
    time: Moment
    """When it was signed, UTC, by the signer's clock."""
    revision: str | None
    """The commit of the checkout; `None` if the code is an installed distribution."""
    answer: GateAnswer
    evidence: tuple[Evidence, ...] = Field(strict=False)
    traces: Mapping[str, tuple[Sha256, Sha256]]
    """Case of the replayed leg → digests of the observations of control and candidate."""
    replayed: Replayed
    environment: Mapping[str, str]
    components: Mapping[str, Component]
    """The parts that the verdict depends on. Their files are the subjects of the statement."""
    not_said: tuple[str, ...] = Field(strict=False)
    """The limits of the sign-off, in sentences."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @model_validator(mode="after")
    def _one_story(self) -> Self:
        answered = (self.answer.phase, self.answer.profile, self.answer.as_of)
        if answered != (self.phase, self.profile, self.as_of):
            raise ValueError("the answer is of another phase, profile or day than the record")
        if self.answer.answer is not Answer.YES:
            raise ValueError(f"the answer is {self.answer.answer.value}, and only yes is signed")
        return self

    @field_validator("answer", mode="before")
    @classmethod
    def _answer(cls, value: Any) -> Any:
        return GateAnswer.from_json(value) if isinstance(value, Mapping) else value

    @field_validator("traces", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}

    @property
    def inventory(self) -> Inventory:
        """Return the files that the verdict depends on, for a comparison with the current ones."""
        return Inventory(self.components)

    def to_json(self) -> JsonObject:
        """Return the whole statement."""
        written = self.model_dump(mode="json", by_alias=True, exclude={"components", "answer"})
        components: JsonObject = {}
        subjects: list[JsonObject] = []
        for name, component in sorted(self.components.items()):
            files = sorted(component.files.items())
            hashed = {file: it for file, it in files if _SHA256.fullmatch(it)}
            subjects += [
                {"name": f"{name}:{file}", "digest": {"sha256": it}} for file, it in hashed.items()
            ]
            components[name] = {
                "digest": component.digest,
                "parts": dict(component.parts),
                "versions": {k: v for k, v in component.files.items() if k not in hashed},
            }
        predicate = {**written, "answer": self.answer.to_json(), "components": components}
        return _statement(SIGNOFF_TYPE, subjects, predicate)


class Revocation(Value):
    """A signer's revocation of a record."""

    number: Number
    predecessor: Named
    revokes: Named
    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    signer: str
    time: Moment

    def to_json(self) -> JsonObject:
        """Return the whole statement."""
        written = self.model_dump(mode="json", by_alias=True)
        revoked = written.pop("revokes")
        subject = {"name": revoked["file"], "digest": {"sha256": revoked["sha256"]}}
        return _statement(REVOCATION_TYPE, [subject], written)


class Head(Value):
    """The newest record, by number and signed content."""

    number: Number
    payload_sha256: Sha256
    """SHA-256 of its payload, which a further signature does not change."""
    signer: str
    time: Moment

    def to_json(self) -> JsonObject:
        """Return the whole statement."""
        written = self.model_dump(mode="json", by_alias=True)
        digest = {"sha256": written.pop("payloadSha256")}
        return _statement(HEAD_TYPE, [{"name": "newest record", "digest": digest}], written)


Statement = SignOff | Revocation | Head


def payload_of(statement: Statement) -> bytes:
    """Return the bytes to sign, redacted except for the digests under names of files and cases."""
    document = statement.to_json()
    cleaned: JsonObject = redacted_value(document)
    predicate = document["predicate"]
    # A name such as `refused_credentials` makes a digest look like a secret.
    kept = {name: predicate[name] for name in ("components", "traces") if name in predicate}
    return canonical({**cleaned, "predicate": {**cleaned["predicate"], **kept}}).encode()


def _statement(kind: str, subjects: list[JsonObject], predicate: JsonObject) -> JsonObject:
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": kind,
        "predicate": predicate,
    }
