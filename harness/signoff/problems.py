"""Errors of keys and records; every message names the problem, its place, and the remedy.

SignoffError
├── KeyProblem      2: a key or passphrase cannot be used
├── RecordRefused   1: a record is invalid; .file, .problem
│   └── RecordUnknown   3: git could not determine whether records are missing
└── SigningRefused  1: the record must not be signed now

The numbers are exit codes. No message contains private material; causes that could are dropped.
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
    """A file is not a trustworthy record."""

    exit_code = 1

    def __init__(self, file: Path | str, problem: str, mend: str = "") -> None:
        super().__init__(_sentence(f"{file}: {problem}", mend))
        self.file = Path(file)
        self.problem = problem


class RecordUnknown(RecordRefused):
    """The existing records are valid, but records may be missing."""

    exit_code = 3


class SigningRefused(SignoffError):
    """The record must not be signed, for the reason in the message."""

    exit_code = 1

    def __init__(self, problem: str, mend: str = "") -> None:
        super().__init__(_sentence(f"not signed: {problem}", mend))


def _sentence(problem: str, mend: str) -> str:
    """Join problem and advice to one line; escape control characters in names of files."""
    return printable(f"{problem}; {mend}" if mend else problem)
