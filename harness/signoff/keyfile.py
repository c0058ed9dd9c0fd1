"""Files of keys and passphrases: written for their owner only, and checked when they are read.

A secret comes from a file or a descriptor, never from the command line or the environment, which
other processes can see.
"""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.signoff.keys import SigningKey
from harness.signoff.problems import KeyProblem

__all__ = [
    "Source",
    "check_new_passphrase",
    "check_place",
    "public_file",
    "read_passphrase",
    "read_public",
    "read_secret",
    "write_key_pair",
]

_LARGEST: Final = 64 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SHORTEST: Final = 12


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a secret: a file, or an open descriptor."""

    place: Path | int

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"descriptor {self.place}" if isinstance(self.place, int) else str(self.place)


def public_file(private: Path) -> Path:
    """The file of the public key: beside the private one, with `.pub` added."""
    return private.with_name(f"{private.name}.pub")


def check_place(file: Path) -> None:
    """Check that `write_key_pair` can write to `file`, before the user types a passphrase.

    Raises:
        KeyProblem: something is there already, or the place cannot be written to.
    """
    for each in (file, public_file(file)):
        if os.path.lexists(each):
            raise _taken(each)
    folder = next(each for each in file.absolute().parents if os.path.lexists(each))
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"cannot be written: {folder}: {error.strerror}"
        raise KeyProblem(str(file), problem, "choose another place with --out") from None


def write_key_pair(file: Path, key: SigningKey, passphrase: bytes | None) -> Path:
    """Write both keys, the private one readable by its owner only; return the public one's file.

    Missing folders are made, for their owner only. Nothing is overwritten, and no link followed.

    Raises:
        KeyProblem: something is there already, or the place cannot be written to.
    """
    public = public_file(file)
    _make_folder(file)
    _write_new(file, key.pem(passphrase), 0o600)
    try:
        _write_new(public, key.public.pem, 0o644)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return public


def read_secret(source: Source, what: str) -> bytes:
    """The bytes of a private key or a passphrase; `what` names it in messages.

    Raises:
        KeyProblem: it cannot be read, other users can read it, or it is too long.
    """
    if isinstance(source.place, int):
        try:
            descriptor = os.dup(source.place)
        except OSError:
            raise KeyProblem(
                source.called, "is not open", f"open it: {source.place}<FILE"
            ) from None
    else:
        try:
            descriptor = os.open(source.place, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise KeyProblem(source.called, f"cannot be read: {error.strerror}") from None
    try:
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
            _check_private(source, os.fstat(stream.fileno()), what)
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise KeyProblem(source.called, f"cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise KeyProblem(source.called, f"is longer than {_LARGEST} bytes, so it is no {what}")
    return content


def read_passphrase(source: Source) -> bytes:
    """A passphrase: the first line, without the line break.

    Raises:
        KeyProblem: as for `read_secret`, or it is empty.
    """
    content = read_secret(source, "passphrase")
    line = content.partition(b"\n")[0].removesuffix(b"\r")
    if not line:
        raise KeyProblem(source.called, "the passphrase is empty")
    return line


def check_new_passphrase(passphrase: bytes, where: str) -> None:
    """Refuse a short passphrase.

    Raises:
        KeyProblem: it is shorter than twelve bytes.
    """
    if len(passphrase) < _SHORTEST:
        raise KeyProblem(
            where, f"the passphrase is shorter than {_SHORTEST} bytes", "take a longer"
        )


def read_public(file: Path) -> bytes:
    """The bytes of a public key's file.

    Raises:
        KeyProblem: it cannot be read, or is too long.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise KeyProblem(str(file), f"cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise KeyProblem(str(file), f"is longer than {_LARGEST} bytes, so it is no public key")
    return content


def _check_private(source: Source, status: os.stat_result, what: str) -> None:
    """Refuse folders, and files that other users can read. Pipes and terminals are private."""
    if stat.S_ISDIR(status.st_mode):
        raise KeyProblem(source.called, f"is a folder, not a {what}")
    if not stat.S_ISREG(status.st_mode):
        if isinstance(source.place, int) or stat.S_ISFIFO(status.st_mode):
            return
        raise KeyProblem(source.called, f"is no file, so no {what}")
    if status.st_mode & _OTHERS:
        named = shlex.quote(source.called) if isinstance(source.place, Path) else "on its file"
        problem = f"others can read this {what} (mode {stat.S_IMODE(status.st_mode):04o})"
        raise KeyProblem(source.called, problem, f"make it yours alone: chmod 600 {named}")
    if os.geteuid() not in (0, status.st_uid):
        raise KeyProblem(source.called, f"this {what} belongs to another user", "use your own")


def _taken(file: Path) -> KeyProblem:
    mend = "choose another name; a key is never written over"
    return KeyProblem(str(file), "is there already", mend)


def _make_folder(file: Path) -> None:
    """Make the folders above `file` that are missing, each with mode 0700."""
    try:
        for folder in reversed(file.absolute().parents):
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
    except OSError as error:
        problem = f"cannot be written: {error.filename}: {error.strerror}"
        raise KeyProblem(str(file), problem, "choose another place with --out") from None


def _write_new(file: Path, content: bytes, mode: int) -> None:
    try:
        # O_EXCL also refuses a link of that name.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise _taken(file) from None
    except OSError as error:
        raise KeyProblem(str(file), f"cannot be written: {error.strerror}") from None
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor
            os.fchmod(stream.fileno(), mode)  # whatever the umask
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException as error:
        file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise KeyProblem(str(file), f"cannot be written: {error.strerror}") from None
        raise
