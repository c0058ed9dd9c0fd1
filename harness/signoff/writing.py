"""Write records: completely or not at all, never over another one, one signer at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from securesystemslib.dsse import Envelope

from harness.errors import UsageError
from harness.signoff.chain import read_chain
from harness.signoff.envelope import rendered, seal, signed
from harness.signoff.keys import SigningKey
from harness.signoff.problems import SigningRefused
from harness.signoff.records import HEAD_FILE, Record, file_name, read_record
from harness.signoff.statement import Head, Named, Revocation, SignOff, payload_of
from harness.signoff.trust import Signing

__all__ = ["add_signature", "append"]


def append(
    folder: Path,
    build: Callable[[int, Named | None], SignOff | Revocation],
    key: SigningKey,
    signing: Signing,
) -> Record:
    """Sign the statement that `build` makes of number and predecessor, and append it to the chain.

    `HEAD` is written after the record: if that is interrupted, `HEAD` lags behind, which readers
    accept.

    Raises:
        SigningRefused: the chain does not hold as it is.
        UsageError: the folder cannot be written to.
    """
    with _locked(folder):
        chain = read_chain(folder, signing)
        if chain.problems:
            raise SigningRefused(f"{folder}: {'; '.join(chain.problems)}", "mend the chain first")
        newest = chain.newest
        number = 1 if newest is None else newest.statement.number + 1
        before = None if newest is None else Named(file=newest.name, sha256=newest.sha256)
        statement = build(number, before)
        file = folder / file_name(statement)
        _write_new(file, seal(payload_of(statement), key))
        record = read_record(file)
        head = Head(
            number=number,
            payload_sha256=record.payload_sha256,
            signer=statement.signer,
            time=statement.time,
        )
        _replace(folder / HEAD_FILE, seal(payload_of(head), key))
    return record


def add_signature(file: Path, key: SigningKey, signing: Signing) -> Record:
    """Add a signature to the chain's newest record; digests of their successors fix older ones.

    Raises:
        SigningRefused: it is not the newest, has this key's signature, or the chain does not hold.
        UsageError: the folder cannot be written to.
    """
    with _locked(file.parent):
        chain = read_chain(file.parent, signing)
        if chain.problems:
            raise SigningRefused("; ".join(chain.problems), "mend the chain first")
        newest = chain.newest
        if newest is None or newest.name != file.name:
            raise SigningRefused(f"{file.name} is not the newest record", "sign that one, or anew")
        if key.public.keyid in newest.envelope.signatures:
            raise SigningRefused(f"{file.name} has a signature of this key", "use another's")
        _replace(file, signed(newest.envelope, key))
    return read_record(file)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder: two signers at once would make a fork."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        problem = f"the folder {folder} cannot be written to: {error.strerror}"
        raise UsageError(problem, "choose another with --signoffs") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_new(file: Path, envelope: Envelope) -> None:
    """Write a new file; raise if there is a file or link of that name."""
    with _part(file, envelope) as part:
        try:
            os.link(part, file)
        except FileExistsError as error:
            raise SigningRefused(f"{file} is there already", "move it away") from error


def _replace(file: Path, envelope: Envelope) -> None:
    with _part(file, envelope) as part:
        part.replace(file)


@contextmanager
def _part(file: Path, envelope: Envelope) -> Iterator[Path]:
    """A temporary file beside `file` with its content."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(part, flags, 0o644), "wb") as stream:  # noqa: PTH123 - a descriptor
            stream.write(rendered(envelope))
            stream.flush()
            os.fsync(stream.fileno())
        yield part
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror}"
        raise UsageError(problem, "choose another folder with --signoffs") from error
    finally:
        part.unlink(missing_ok=True)
