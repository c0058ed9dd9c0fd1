"""What can go wrong in the harness; every message says what, where, and how to mend it.

HarnessError                  .exit_code
├── UsageError                2: the command line asks for what cannot be done
│   └── UnusableSide          a runtime that it names is broken: no case can be judged
├── CassetteError             2: a cassette cannot be used; .file, .key, .problem, .mend
│   ├── CassetteNotFound
│   └── CassetteFormatError
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
    "UnusableSide",
    "UsageError",
    "first_problem",
    "in_short",
    "kind_of",
]


class HarnessError(Exception):
    """The root of what the harness raises to its user. The message is complete as it stands.

    What it quotes may come from anywhere, names of files too: each line of it is printable.
    """

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        super().__init__("\n".join(map(printable, message.split("\n"))))


class UsageError(HarnessError):
    """The command line asks for what cannot be done.

    `problem` says what; `mend` what to do about it.
    """

    def __init__(self, problem: str, mend: str = "") -> None:
        super().__init__(f"{problem}; {mend}" if mend else problem)
        self.problem = problem
        self.mend = mend


class UnusableSide(UsageError):
    """A runtime that the command line names is broken or of a wrong shape.

    Unlike other errors in one case it ends the whole run: with that runtime no case can be judged.
    """


class CassetteError(HarnessError):
    """A cassette cannot be used.

    `key` is the path of the offending key (`model[3].stream`), empty where the file as a whole is
    meant.
    """

    def __init__(self, file: Path | str, key: str, problem: str, mend: str) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"{where}: {problem}; {mend}")
        self.file = Path(file)
        self.key = key
        self.problem = problem
        self.mend = mend


class CassetteNotFound(CassetteError):
    """There is no cassette where one was asked for."""


class CassetteFormatError(CassetteError):
    """The file is not a cassette of a format that this build reads.

    Attributes:
        more: What else is wrong with the file.
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


class ReplayFailure(HarnessError):
    """The harness could not go on; what was observed so far decides nothing.

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
    """A file that could not be loaded, which stops none of the others.

    The message is complete as it stands.
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
"""What pydantic's errors of types mean to a reader of JSON, YAML or TOML."""


def first_problem(error: ValidationError) -> tuple[str, str]:
    """The first of pydantic's errors about a document: the place, `a.b[0]`, and the problem."""
    first = error.errors(include_url=False)[0]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    place = "".join(steps).replace(".[key]", "").removeprefix(".")
    problem = _PROBLEMS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    if first["type"] in _MUST_BE:
        problem = f"must be {_MUST_BE[first['type']]}, not {kind_of(first['input'])}"
    return place, problem


def kind_of(value: Json) -> str:
    """`value` in a sentence: containers by kind, scalars as they are."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    # Nothing of a long text but its beginning is looked at.
    shown = repr(value[:100] if isinstance(value, str) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def in_short(error: Exception) -> str:
    """What went wrong in the harness itself, on one line."""
    first = (str(error).splitlines() or [""])[0][:200]
    return f"the harness failed ({type(error).__name__}: {first}); see --debug"
