"""Reads what the gate needs of kill matrices, samples of mutants and generated runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from harness.errors import first_problem
from harness.gate.facts import Facts

__all__ = ["FaultSeen", "KillRun", "MutantRun", "SampleRun", "read_measurement"]

_MOST_FAULTS: Final = 100_000


def _facts(value: Any) -> Facts:
    try:
        return Facts.from_json(value)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"it does not say what was measured: {error}") from None


Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Measured = Annotated[Facts, BeforeValidator(_facts)]


class _Part(BaseModel):
    """Part of a document. Keys that the gate does not read are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, alias_generator=to_camel)


class FaultSeen(_Part):
    """A seeded fault and its outcome."""

    name: Name
    behaviour: Name = Field(alias="class")
    outcome: Literal["killed", "survived", "unobservable"]
    held_out: bool
    closed_by: str | None


class _SampleOf(_Part):
    size: Count
    of: Count
    seed: Count


class _Conditions(_Part):
    cassettes: Count
    sample: _SampleOf | None
    measured: Measured


class KillRun(_Part):
    """A measurement of the catalogue of faults, or of a sample of it (`parity faults --json`)."""

    file: Path
    kills: Literal[2]
    faults: tuple[FaultSeen, ...] = Field(strict=False, max_length=_MOST_FAULTS)
    conditions: _Conditions
    planned: Count
    interrupted: bool

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len({fault.name for fault in self.faults}) < len(self.faults):
            raise ValueError("a fault is there twice")
        return self

    @property
    def facts(self) -> Facts:
        """The files, machine and day of the measurement."""
        return self.conditions.measured

    @property
    def cut_off(self) -> bool:
        """Whether it was interrupted, or measured fewer faults than planned."""
        return self.interrupted or len(self.faults) < self.planned

    @property
    def sample(self) -> str:
        """A phrase for the sample of faults; empty if all were measured."""
        drawn = self.conditions.sample
        if drawn is None:
            return ""
        return f"{drawn.size} of {drawn.of} observable faults, seed {drawn.seed}"


class _Share(_Part):
    tried: Count
    found: Count


class _Mutant(_Part):
    fingerprint: Name
    outcome: Name


class MutantRun(_Part):
    """A sample of mutants (`parity mutants --json`)."""

    file: Path
    mutants: Literal[1]
    seed: Count
    parts: tuple[Name, ...] = Field(alias="in", strict=False)
    """The folders and files that were mutated."""
    whole: _Share = Field(alias="all")
    sample: tuple[_Mutant, ...] = Field(strict=False, max_length=_MOST_FAULTS)
    interrupted: bool
    facts: Measured = Field(alias="measured")

    @model_validator(mode="after")
    def _no_more_than_tried(self) -> Self:
        if self.whole.found > self.whole.tried:
            raise ValueError("more mutants are found than were tried")
        return self

    @property
    def survivors(self) -> tuple[str, ...]:
        """The fingerprints of the mutants that were not found."""
        return tuple(each.fingerprint for each in self.sample if each.outcome == "survived")


class _Finding(_Part):
    fingerprint: str | None = None


class SampleRun(_Part):
    """A generated run (`parity generate --json`)."""

    file: Path
    generation: Literal[1]
    way: Literal["search", "sample"]
    """The way of drawing. Only `sample` draws independently, which a bound requires."""
    profile: Name
    profile_digest: Name
    seed: Count
    control: Name
    candidate: Name
    fault: str | None
    verdict: Literal["nothing found", "findings", "undecided"]
    interrupted: bool
    drawn: Count
    findings: tuple[_Finding, ...] = Field(strict=False)
    known: tuple[_Finding, ...] = Field(strict=False)
    unsettled: dict[str, Count]
    command: str
    facts: Measured = Field(alias="measured")

    @model_validator(mode="after")
    def _fits_its_verdict(self) -> Self:
        if self.fingerprints and self.verdict == "nothing found":
            raise ValueError("it has findings and says that nothing was found")
        return self

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Fingerprints of the findings, known ones included, each once."""
        found = (str(each.fingerprint) for each in (*self.findings, *self.known))
        return tuple(dict.fromkeys(found))


def read_measurement(file: Path, document: Mapping[str, Any]) -> KillRun | MutantRun | SampleRun:
    """Read the JSON of `parity faults`, `parity mutants` or `parity generate`.

    Raises:
        ValueError: It is another document, or has another format.
    """
    whole = {**document, "file": file}
    try:
        if "kills" in document:
            return KillRun.model_validate(whole)
        if "mutants" in document:
            return MutantRun.model_validate(whole)
        return SampleRun.model_validate(whole)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise ValueError(f"{place}: {problem}" if place else problem) from None
