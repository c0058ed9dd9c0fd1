"""What signing commands share: where a key and its passphrase are read from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

import click

from harness.canonical import printable
from harness.errors import UsageError
from harness.signoff.keyfile import Source, read_passphrase, read_secret
from harness.signoff.keys import SigningKey, is_encrypted
from services.redaction import redacted

__all__ = [
    "KEY_OPTIONS",
    "asked",
    "confirmed",
    "passphrase_source",
    "say",
    "signing_key",
]

Said = TypeVar("Said")
KEY_OPTIONS: Final = ("key_file", "key_fd", "passphrase_file", "passphrase_fd")
"""The parameters of `signing_key`."""


def passphrase_source(file: Path | None, descriptor: int | None) -> Source | None:
    """Where the passphrase is read from, if the command line says so.

    Raises:
        UsageError: it says two places.
    """
    if file is not None and descriptor is not None:
        problem = "--passphrase-file and --passphrase-fd exclude each other"
        raise UsageError(problem, "give one of them")
    place = file if file is not None else descriptor
    return None if place is None else Source(place)


def signing_key(
    key_file: Path | None,
    key_fd: int | None,
    passphrase_file: Path | None,
    passphrase_fd: int | None,
) -> SigningKey:
    """The private key that the command line names, its passphrase asked for where one is needed.

    Raises:
        UsageError: no key or two are named, or there is no terminal for a confirmation.
        KeyProblem: it cannot be read, others can read it, or the passphrase does not fit.
    """
    place = key_file if key_file is not None else key_fd
    if place is None or (key_file is not None and key_fd is not None):
        raise UsageError("name one private key", "give --key FILE or --key-fd N")
    source = Source(place)
    given = passphrase_source(passphrase_file, passphrase_fd)
    raw = read_secret(source, "private key")
    passphrase = None if given is None else read_passphrase(given)
    if passphrase is None and is_encrypted(raw):
        passphrase = _passphrase(source.called)
    return SigningKey.from_pem(raw, source.called, passphrase)


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user says yes, on a terminal, or has said so with `--yes`.

    Raises:
        UsageError: there is no terminal for a confirmation.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            "there is no terminal for a confirmation", "give --yes if you have read it"
        )
    return asked(lambda: click.confirm(question, default=False, err=True))


def asked(question: Callable[[], Said]) -> Said:
    """The user's answer; Ctrl-C and the end of input interrupt the command.

    Raises:
        KeyboardInterrupt: the user's, or the end of what is typed.
    """
    try:
        return question()
    except click.Abort:
        raise KeyboardInterrupt from None


def say(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines, printable and without secrets."""
    for line in lines:
        click.echo(printable(redacted(line)), err=err)


def _passphrase(called: str) -> bytes:
    if not sys.stdin.isatty():
        mend = "give it with --passphrase-file or --passphrase-fd"
        raise UsageError(
            f"{called} needs its passphrase, and there is no terminal to enter it", mend
        )
    words = f"passphrase of {called}"
    said: str = asked(lambda: click.prompt(words, hide_input=True, err=True))
    return said.encode()
