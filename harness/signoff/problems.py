"""Errors of keys and records; every message says what is wrong, where, and how to mend it.

SignoffError
├── KeyProblem      2: a key or passphrase cannot be used
├── RecordRefused   1: a record is not what it must be; .file, .problem
│   └── RecordUnknown   3: git could not say whether records are missing
└── SigningRefused  1: there is nothing that may be signed now

No message holds private material; an error is raised without its cause where the cause could.
"""

from __future__ import annotations

from pathlib import Path

from harness.canonical import printable
from harness.errors import HarnessError

__all__ = ["KeyProblem", "RecordRefused", "RecordUnknown", "SigningRefused", "SignoffError"]


class SignoffError(HarnessError):
    """The root of the errors of signing and verifying."""


class KeyProblem(SignoffError):
    """A key or a passphrase cannot be used."""

    def __init__(self, where: str, problem: str, mend: str = "") -> None:
        super().__init__(_sentence(f"{where}: {problem}", mend))


class RecordRefused(SignoffError):
    """A file is no record that may be believed."""

    exit_code = 1

    def __init__(self, file: Path | str, problem: str, mend: str = "") -> None:
        super().__init__(_sentence(f"{file}: {problem}", mend))
        self.file = Path(file)
        self.problem = problem


class RecordUnknown(RecordRefused):
    """The records that are there are good, and records may be missing."""

    exit_code = 3


class SigningRefused(SignoffError):
    """What was asked to be signed does not hold."""

    exit_code = 1

    def __init__(self, problem: str, mend: str = "") -> None:
        super().__init__(_sentence(f"not signed: {problem}", mend))


def _sentence(problem: str, mend: str) -> str:
    """Problem and advice on one printable line; names of files and fields may hold anything."""
    return printable(f"{problem}; {mend}" if mend else problem)
