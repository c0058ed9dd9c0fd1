"""`parity keygen`: a pair of keys to sign with."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from harness.commands import options
from harness.commands.signing import asked, passphrase_options, passphrase_source
from harness.errors import UsageError
from harness.signoff.keyfile import (
    check_new_passphrase,
    check_place,
    read_passphrase,
    write_key_pair,
)
from harness.signoff.keys import SigningKey
from harness.signoff.trust import SIGNER_NAME

__all__ = ["keygen"]


@click.command()
@click.option(
    "--out",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help="Where the private key goes; the public one goes beside it, as FILE.pub.",
)
@click.option(
    "--name",
    default="release-manager",
    show_default=True,
    metavar="NAME",
    help="What the signer is called in gates.toml: a role.",
)
@passphrase_options
@click.option("--no-passphrase", is_flag=True, help="Leave the private key unencrypted.")
def keygen(
    out: Path,
    name: str,
    passphrase_file: Path | None,
    passphrase_fd: int | None,
    no_passphrase: bool,
) -> None:
    """Make a pair of Ed25519 keys.

    The private key can be read by its owner only, and is encrypted with the passphrase that is
    asked for (or read from a file or a descriptor). A folder that is missing is made, for its owner
    only. Nothing is ever written over. What is printed is public: the block that makes the key a
    trusted one, to be put into gates.toml.

    \b
    parity keygen --out ~/keys/release --name release-manager
    parity keygen --out ~/keys/ci --name ci --no-passphrase
    parity keygen --out key --passphrase-fd 3 3<passphrase.txt

    Exit codes: 0 both files are written; 2 wrong usage, or a place where something is already;
    130 interrupted, with nothing left behind.
    """  # noqa: D301 - click's mark for lines that stay as they are
    if not SIGNER_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no signer's name", "small letters, digits and dashes")
    check_place(out)
    passphrase = _passphrase(passphrase_file, passphrase_fd, none=no_passphrase)
    key = SigningKey.new()
    public = write_key_pair(out, key, passphrase)
    profiles = '["pull_request"]' if name == "ci" else '["pull_request", "release"]'
    click.echo(f"private key: {shlex.quote(str(out))} (yours alone; keep it out of the repository)")
    click.echo(f"public key: {shlex.quote(str(public))}")
    click.echo("to trust it, put this into parity_tests/gates.toml:\n")
    click.echo(
        f'[[signing.signer]]\nname = "{name}"\nkey = "{key.public.hexadecimal}"\n'
        f'phases = ["A"]\nprofiles = {profiles}'
    )


def _passphrase(file: Path | None, descriptor: int | None, *, none: bool) -> bytes | None:
    source = passphrase_source(file, descriptor)
    if none:
        if source is not None:
            raise UsageError("a passphrase and --no-passphrase contradict", "give one of them")
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
