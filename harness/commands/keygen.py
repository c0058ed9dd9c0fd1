"""`parity keygen`: a pair of keys to sign with."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from harness.commands.signing import asked, passphrase_source
from harness.config import default_gates
from harness.errors import UsageError
from harness.gate.gates import load_gates
from harness.signoff.keyfile import (
    check_new_passphrase,
    check_place,
    read_passphrase,
    write_key_pair,
)
from harness.signoff.keys import SigningKey
from harness.signoff.trust import SIGNER_NAME
from runtimes.project_file import find_project_file

__all__ = ["keygen"]


def keygen(
    out: Path,
    name: str,
    passphrase_file: Path | None,
    passphrase_fd: int | None,
    no_passphrase: bool,
) -> None:
    """Run `parity keygen`."""
    if not SIGNER_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no signer's name", "small letters, digits and dashes")
    check_place(out)
    passphrase = _passphrase(passphrase_file, passphrase_fd, none=no_passphrase)
    key = SigningKey.new()
    public = write_key_pair(out, key, passphrase)
    profiles = '["pull_request"]' if name == "ci" else '["pull_request", "release"]'
    click.echo(f"private key: {shlex.quote(str(out))} (keep it secret and outside the repository)")
    click.echo(f"public key: {shlex.quote(str(public))}")
    gates = default_gates()
    click.echo(f"to trust it, add this to {gates or 'parity_tests/gates.toml'}:\n")
    click.echo(
        f'[[signing.signer]]\nname = "{name}"\nkey = "{key.public.hexadecimal}"\n'
        f"phases = {json.dumps(_phases(gates))}\nprofiles = {profiles}"
    )


def _phases(gates: Path | None) -> list[str]:
    """Return the phases of the project's gates; the first one of ours outside of a project."""
    in_project = gates is not None and find_project_file() is not None
    return list(load_gates(gates).phase) if gates is not None and in_project else ["A"]


def _passphrase(file: Path | None, descriptor: int | None, *, none: bool) -> bytes | None:
    source = passphrase_source(file, descriptor)
    if none:
        if source is not None:
            raise UsageError(
                "a passphrase and --no-passphrase exclude each other", "give one of them"
            )
        return None
    if source is None:
        if not sys.stdin.isatty():
            mend = "give --passphrase-file, --passphrase-fd or --no-passphrase"
            raise UsageError("there is no terminal to ask for a passphrase on", mend)
        typed: str = asked(
            lambda: click.prompt(
                "passphrase", hide_input=True, confirmation_prompt="once more", err=True
            )
        )
        said, where = typed.encode(), "the terminal"
    else:
        said, where = read_passphrase(source), source.called
    check_new_passphrase(said, where)
    return said
