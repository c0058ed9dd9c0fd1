"""The encrypted file with credentials that the published command line tool shares with us.

`<home>/.gemini/gemini-credentials.json` holds `{service: {account: secret}}`, encrypted with
AES-256-GCM under a key of this machine and user. It protects copies of the file (backups, synced
folders), not the file from a program that runs as the same user.

Source: core `services/fileKeychain.ts`.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import socket
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import js_json_pretty

__all__ = ["SealedFile", "UnreadableSecrets"]

_FORM: Final = "gemini-cli-oauth"
_TAG_BYTES: Final = 16
_NONCE_BYTES: Final = 12

Secrets = dict[str, dict[str, str]]


class UnreadableSecrets(Exception):
    """The file cannot be decrypted here; the message names the file and the remedy."""


class SealedFile:
    """One such file. Each call reads it, as another process may have changed it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def secrets(self, service: str) -> dict[str, str]:
        """The secrets of `service`, by account; none if there is no file.

        Raises:
            UnreadableSecrets: it is damaged, or from another machine or user.
            OSError: it cannot be read.
        """
        return dict(self._load().get(service, {}))

    def put(self, service: str, account: str, secret: str) -> None:
        """Store a secret.

        Raises:
            UnreadableSecrets: the file's other secrets cannot be read, and would be lost.
            OSError: it cannot be read or written.
        """
        held = self._load()
        held.setdefault(service, {})[account] = secret
        self._write(held)

    def remove(self, service: str, account: str) -> None:
        """Remove a secret, and the file with its last one.

        Raises:
            UnreadableSecrets: as for `put`.
            OSError: it cannot be read or written.
        """
        held = self._load()
        if held.get(service, {}).pop(account, None) is None:
            return
        if not held[service]:
            del held[service]
        if held:
            self._write(held)
        else:
            self.path.unlink()

    def _load(self) -> Secrets:
        try:
            text = read_regular(self.path, MOST_TEXT).decode("ascii", "replace")
        except FileNotFoundError:
            return {}
        try:
            held: Any = parse_json(_opened(text.strip()).decode())
            return {
                str(service): {str(account): str(secret) for account, secret in each.items()}
                for service, each in held.items()
            }
        except (ValueError, InvalidTag, AttributeError, RecursionError) as error:
            raise UnreadableSecrets(
                f"{self.path} cannot be decrypted by this user on this machine; "
                "delete or rename it, and sign in again"
            ) from error

    def _write(self, held: Secrets) -> None:
        make_private_folder(self.path.parent)
        scratch = self.path.with_name(f".{self.path.name}.new")
        write_private(scratch, _sealed(js_json_pretty(held).encode()), draft=True)
        scratch.replace(self.path)


@lru_cache(maxsize=1)
def _key() -> bytes:
    salt = f"{socket.gethostname()}-{getpass.getuser()}-gemini-cli"
    return hashlib.scrypt(_FORM.encode(), salt=salt.encode(), n=16384, r=8, p=1, dklen=32)


def _sealed(text: bytes) -> bytes:
    # A repeated nonce would reveal the texts, so it does not come from the session's ids.
    nonce = os.urandom(_NONCE_BYTES)
    whole = AESGCM(_key()).encrypt(nonce, text, None)
    tag, content = whole[-_TAG_BYTES:], whole[:-_TAG_BYTES]
    return ":".join(part.hex() for part in (nonce, tag, content)).encode("ascii")


def _opened(text: str) -> bytes:
    nonce, tag, content = (bytes.fromhex(part) for part in text.split(":"))
    return AESGCM(_key()).decrypt(nonce, content + tag, None)
