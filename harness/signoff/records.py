"""Records: the files of `signoffs/`, read one by one; `harness.signoff.chain` checks the links."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from securesystemslib.dsse import Envelope

from harness.signoff.envelope import parse_envelope
from harness.signoff.problems import RecordRefused
from harness.signoff.reading import NotAStatement, parse_statement
from harness.signoff.statement import Head, Revocation, SignOff
from harness.signoff.strict_json import MAX_BYTES

__all__ = [
    "HEAD_FILE",
    "Record",
    "file_name",
    "is_record_name",
    "number_of",
    "read_head",
    "read_record",
    "record_of",
]

HEAD_FILE: Final = "HEAD"
"""The file beside the records that names the newest one."""

_NAME: Final = re.compile(
    r"([0-9]{4})-(?:[A-Za-z][A-Za-z_-]{0,31}-(?:pull_request|release)|revocation)\.json"
)


@dataclass(frozen=True, slots=True)
class Record:
    """One record's file. Its signatures are not checked."""

    file: Path
    sha256: str
    """SHA-256 of the file."""
    envelope: Envelope
    statement: SignOff | Revocation

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    @property
    def payload_sha256(self) -> str:
        """SHA-256 of the signed payload."""
        return hashlib.sha256(self.envelope.payload).hexdigest()


def file_name(statement: SignOff | Revocation) -> str:
    """Return the name of a statement's record."""
    if isinstance(statement, Revocation):
        return f"{statement.number:04}-revocation.json"
    return f"{statement.number:04}-{statement.phase}-{statement.profile}.json"


def is_record_name(name: str) -> bool:
    """Return whether a file of that name is a record."""
    return _NAME.fullmatch(name) is not None


def number_of(name: str) -> int:
    """Return the place in the chain that a record's name claims.

    Raises:
        ValueError: it is no record's name.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} is no record's name")
    return int(found[1])


def read_record(file: Path) -> Record:
    """Read a record's file.

    Raises:
        RecordRefused: It cannot be read, is not a regular file, or is not exactly a record.
    """
    return record_of(_read(file), file)


def record_of(raw: bytes, file: Path) -> Record:
    """Return the record in a file's bytes; `file` is its name.

    Raises:
        RecordRefused: they are not exactly a record.
    """
    envelope, statement = _opened(raw, file)
    if isinstance(statement, Head):
        raise RecordRefused(file, "says which record is the newest, and is none itself")
    return Record(file, hashlib.sha256(raw).hexdigest(), envelope, statement)


def read_head(folder: Path) -> tuple[Head, Envelope] | None:
    """Return the statement of the folder's `HEAD`, and its envelope; `None` without the file.

    Raises:
        RecordRefused: the file is something else.
    """
    file = folder / HEAD_FILE
    if not file.exists() and not file.is_symlink():
        return None
    envelope, statement = _opened(_read(file), file)
    if not isinstance(statement, Head):
        raise RecordRefused(file, "does not say which record is the newest")
    return statement, envelope


def _opened(raw: bytes, file: Path) -> tuple[Envelope, SignOff | Revocation | Head]:
    envelope = parse_envelope(raw, file)
    try:
        return envelope, parse_statement(envelope.payload)
    except NotAStatement as error:
        raise RecordRefused(file, str(error), "restore the file as it was signed") from None


def _read(file: Path) -> bytes:
    """Return the bytes of a regular file; links are refused."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RecordRefused(file, "is no regular file")
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        if file.is_symlink():
            raise RecordRefused(file, "is a symbolic link", "put the record itself there") from None
        raise RecordRefused(file, f"cannot be read: {error.strerror}") from None
