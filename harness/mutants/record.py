"""Equivalent mutants: those that no run can show, each with the reason and who read it.

The file is `parity_tests/equivalent_mutants.toml`. A mutant in it plays no part in any count.
Records are kept by fingerprint; `Equivalents.stale` finds those whose code has changed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from harness.errors import HarnessError, first_problem
from services.regular_files import MOST_TEXT, read_regular

__all__ = ["Equivalent", "Equivalents", "RecordError", "load_equivalents"]

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_SHORTEST: Final = 20
"""Characters of a reason that says anything."""


class RecordError(HarnessError):
    """The file of equivalent mutants cannot be used."""

    def __init__(self, file: Path, key: str, problem: str) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"{where}: {problem}")


class Equivalent(BaseModel):
    """One mutant that no run can show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fingerprint: Annotated[str, StringConstraints(pattern="^[0-9a-f]{12}$")]
    place: _Words
    """File and function, for readers."""
    change: _Words
    """What the mutant changes, for readers."""
    reason: Annotated[_Words, StringConstraints(min_length=_SHORTEST)]
    """Why nothing that a client, a user or the model sees can differ."""
    reader: _Words
    """Who read the reason and the code, and agrees."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    equivalent: tuple[Equivalent, ...] = ()


@dataclass(frozen=True, slots=True)
class Equivalents:
    """All records, by fingerprint."""

    records: Mapping[str, Equivalent] = field(default_factory=dict)

    def stale(self, known: Collection[str]) -> list[Equivalent]:
        """The records of mutants that there are no longer; `known` are all fingerprints."""
        return [each for each in self.records.values() if each.fingerprint not in known]


def load_equivalents(file: Path | None) -> Equivalents:
    """Read the file; `None` is none at all.

    Raises:
        RecordError: not readable, not TOML, an unknown or missing key, a wrong value, or a
            fingerprint that is there twice.
    """
    if file is None:
        return Equivalents()
    try:
        text = read_regular(file, MOST_TEXT).decode("utf-8-sig")
        document = _File.model_validate(tomllib.loads(text))
    except OSError as error:
        raise RecordError(file, "", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(file, "", f"cannot be read: {error}") from error
    except ValidationError as error:
        raise RecordError(file, *first_problem(error)) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(file, "", f"not TOML: {error}") from error
    records: dict[str, Equivalent] = {}
    for number, each in enumerate(document.equivalent):
        if each.fingerprint in records:
            problem = f"{each.fingerprint!r} is there twice"
            raise RecordError(file, f"equivalent[{number}].fingerprint", problem)
        records[each.fingerprint] = each
    return Equivalents(records)
