"""Errors of the harness; every message names the problem, its place, and the remedy.

HarnessError                  .exit_code
├── UsageError                2: the command line asks for the impossible
│   └── UnusableSide          a runtime that it names is broken: no case can be judged
├── CassetteError             2: a cassette cannot be used; .file, .key, .problem, .mend
│   ├── CassetteNotFound
│   └── CassetteFormatError
├── Unplayable                2: a user of a surface cannot do what a cassette asks for
└── ReplayFailure             3: the harness itself could not go on; the case is inconclusive

A difference between two runtimes is never an exception: it is a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.canonical import printable
from services.wire import Json

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = [
    "CassetteError",
    "CassetteFormatError",
    "CassetteNotFound",
    "HarnessError",
    "LoadProblem",
    "ReplayFailure",
    "Unplayable",
    "UnusableSide",
    "UsageError",
    "first_problem",
    "in_short",
    "kind_of",
]


class HarnessError(Exception):
    """The base of the errors that the harness reports to users. The message is complete.

    Each line of it is made printable, since it may quote any text, such as names of files.
    """

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        super().__init__("\n".join(map(printable, message.split("\n"))))


class UsageError(HarnessError):
    """The command line asks for the impossible.

    `problem` states why; `mend` is the advice.
    """

    def __init__(self, problem: str, mend: str = "") -> None:
        super().__init__(f"{problem}; {mend}" if mend else problem)
        self.problem = problem
        self.mend = mend


class UnusableSide(UsageError):
    """A runtime that the command line names is broken or lacks required parts.

    Unlike other errors of a case, it ends the whole run, since no case can be judged.
    """


class CassetteError(HarnessError):
    """A cassette cannot be used.

    `key` is the path of the wrong key (`model[3].stream`), or empty for the file as a whole.
    """

    def __init__(self, file: Path | str, key: str, problem: str, mend: str) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"{where}: {problem}; {mend}")
        self.file = Path(file)
        self.key = key
        self.problem = problem
        self.mend = mend


class CassetteNotFound(CassetteError):
    """There is no cassette at a requested path or of a requested name."""


class CassetteFormatError(CassetteError):
    """The file is not a cassette of a format that this build reads.

    Attributes:
        more: Further problems of the file.
    """

    def __init__(
        self,
        file: Path | str,
        key: str,
        problem: str,
        mend: str,
        more: Sequence[CassetteFormatError] = (),
    ) -> None:
        super().__init__(file, key, problem, mend)
        self.more = tuple(more)


class Unplayable(HarnessError):
    """A surface cannot play a cassette: a user of the surface cannot do what it asks for."""

    def __init__(self, surface: str, reason: str) -> None:
        super().__init__(f"not played through the {surface}: {reason}")


class ReplayFailure(HarnessError):
    """The harness could not go on; the observation so far decides nothing.

    `where` names the case and the runtime.
    """

    exit_code = 3

    def __init__(self, where: str, problem: str, mend: str) -> None:
        super().__init__(f"{where}: {problem}; {mend}")
        self.where = where
        self.problem = problem
        self.mend = mend


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProblem:
    """A file that could not be loaded; the other files still run.

    The message is complete.
    """

    file: str
    message: str


_PROBLEMS: Final = {
    "extra_forbidden": "unknown key",
    "unexpected_keyword_argument": "unknown key",
    "missing": "this key is required",
}
_MUST_BE: Final = {
    "bool_type": "true or false",
    "dataclass_type": "a mapping",
    "dict_type": "a mapping",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "string_type": "text",
    "tuple_type": "a list",
}
"""pydantic's type errors, in terms of JSON, YAML and TOML."""


def first_problem(error: ValidationError) -> tuple[str, str]:
    """Return the first of pydantic's errors: its place, `a.b[0]`, and the problem."""
    first = error.errors(include_url=False)[0]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    place = "".join(steps).replace(".[key]", "").removeprefix(".")
    problem = _PROBLEMS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    if first["type"] in _MUST_BE:
        problem = f"must be {_MUST_BE[first['type']]}, not {kind_of(first['input'])}"
    return place, problem


def kind_of(value: Json) -> str:
    """Format `value` for a sentence: a container by its kind, a scalar as it is."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    # Only the beginning of a long text is processed.
    shown = repr(value[:100] if isinstance(value, str) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def in_short(error: Exception) -> str:
    """Format an error of the harness itself on one line."""
    first = (str(error).splitlines() or [""])[0][:200]
    return f"the harness failed ({type(error).__name__}: {first}); see --debug"
