"""Kill matrices and summaries of generated runs, as far as the gate reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import first_problem
from harness.gate.facts import Facts

__all__ = ["FaultSeen", "KillRun", "SampleRun", "kill_run", "sample_run"]

_MOST_FAULTS: Final = 100_000

Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=10**12)]


Part = TypeVar("Part", bound=BaseModel)


class _Part(BaseModel):
    """Part of a document: what is not read here is left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class FaultSeen(_Part):
    """A seeded fault, and what became of it."""

    name: Name
    behaviour: Name = Field(alias="class")
    outcome: Literal["killed", "survived", "unobservable"]
    held_out: bool = Field(alias="heldOut")
    closed_by: str | None = Field(alias="closedBy")


class _SampleOf(_Part):
    size: Count
    of: Count
    seed: Count


class _Conditions(_Part):
    cassettes: Count
    sample: _SampleOf | None
    measured: dict[str, Any]


class _Kills(_Part):
    kills: Literal[2]
    faults: tuple[FaultSeen, ...] = Field(strict=False, max_length=_MOST_FAULTS)
    conditions: _Conditions
    planned: Count
    interrupted: bool


class _Sample(_Part):
    generation: Literal[1]
    way: Literal["search", "sample"]
    profile: Name
    profile_digest: Name = Field(alias="profileDigest")
    seed: Count
    control: Name
    candidate: Name
    fault: str | None
    verdict: Literal["nothing found", "findings", "undecided"]
    interrupted: bool
    drawn: Count
    findings: tuple[dict[str, Any], ...] = Field(strict=False)
    known: tuple[dict[str, Any], ...] = Field(strict=False)
    unsettled: dict[str, Count]
    command: str
    measured: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KillRun:
    """A measurement of the catalogue of faults, or of a sample of it."""

    file: Path
    facts: Facts
    faults: tuple[FaultSeen, ...]
    cut_off: bool
    """It was interrupted, or measured less than it set out to."""
    sample: str
    """How the faults were drawn, in words; empty where all were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRun:
    """A generated run."""

    file: Path
    facts: Facts
    independent: bool
    """Drawn independently: only then a bound follows."""
    profile: str
    profile_digest: str
    seed: int
    control: str
    candidate: str
    fault: str | None
    verdict: str
    interrupted: bool
    drawn: int
    findings: tuple[str, ...]
    """Fingerprints, known ones included."""
    unsettled: Mapping[str, int]
    command: str


def kill_run(file: Path, document: Mapping[str, Any]) -> KillRun:
    """Read what `parity faults --json` wrote.

    Raises:
        ValueError: it is something else, or of another format.
    """
    read = _validated(_Kills, document)
    names = [fault.name for fault in read.faults]
    if len(set(names)) < len(names):
        raise ValueError("a fault is there twice")
    sample = read.conditions.sample
    drawn = f"{sample.size} of {sample.of} observable faults, seed {sample.seed}" if sample else ""
    return KillRun(
        file=file,
        facts=_facts(read.conditions.measured),
        faults=read.faults,
        cut_off=read.interrupted or len(read.faults) < read.planned,
        sample=drawn,
    )


def sample_run(file: Path, document: Mapping[str, Any]) -> SampleRun:
    """Read what `parity generate --json` wrote.

    Raises:
        ValueError: it is something else, or of another format.
    """
    read = _validated(_Sample, document)
    found = [str(each.get("fingerprint")) for each in (*read.findings, *read.known)]
    if found and read.verdict == "nothing found":
        raise ValueError("it has findings and says that nothing was found")
    return SampleRun(
        file=file,
        facts=_facts(read.measured),
        independent=read.way == "sample",
        profile=read.profile,
        profile_digest=read.profile_digest,
        seed=read.seed,
        control=read.control,
        candidate=read.candidate,
        fault=read.fault,
        verdict=read.verdict,
        interrupted=read.interrupted,
        drawn=read.drawn,
        findings=tuple(dict.fromkeys(found)),
        unsettled=read.unsettled,
        command=read.command,
    )


def _validated(kind: type[Part], document: Mapping[str, Any]) -> Part:
    try:
        return kind.model_validate(dict(document))
    except ValidationError as error:
        raise ValueError(": ".join(first_problem(error))) from None


def _facts(value: Mapping[str, Any]) -> Facts:
    try:
        return Facts.from_json(value)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"measured: it does not say what was measured: {error}") from None
