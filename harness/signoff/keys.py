"""Ed25519 keys: a public one that is trusted, a private one that signs.

No `repr`, message or traceback shows a private key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.signer import CryptoSigner, SSlibKey

from harness.gate.weak_keys import is_weak_key
from harness.signoff.problems import KeyProblem

__all__ = ["PublicKey", "SigningKey"]

_TEXT: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PublicKey:
    """A public key, by its 32 bytes in hex digits."""

    hexadecimal: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read 64 hex digits, as they stand in `gates.toml`.

        Raises:
            ValueError: the text is something else.
        """
        if not _TEXT.fullmatch(text):
            raise ValueError("must be 64 hex digits, as `parity keygen` prints them")
        return cls(text)

    @classmethod
    def from_pem(cls, raw: bytes, where: str) -> Self:
        """Read a public key's PEM file; `where` is for messages.

        Raises:
            KeyProblem: it is no public Ed25519 key, or one for which anybody can sign.
        """
        mend = "name the `.pub` file that `parity keygen` made"
        try:
            key = load_pem_public_key(raw)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise KeyProblem(where, "is no public key in PEM", mend) from None
        if not isinstance(key, Ed25519PublicKey):
            raise KeyProblem(where, "is no Ed25519 key", mend)
        raw_key = _raw(key)
        if is_weak_key(raw_key):
            raise KeyProblem(where, "is a key for which anybody can sign", mend)
        return cls(raw_key)

    @property
    def pem(self) -> bytes:
        """As a PEM file."""
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.hexadecimal))
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    @property
    def keyid(self) -> str:
        """The key's id in envelopes: a digest over the key, 64 hex digits."""
        return self.securesystems.keyid

    @cached_property
    def securesystems(self) -> SSlibKey:
        """The key for securesystemslib."""
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.hexadecimal))
        return SSlibKey.from_crypto(key)


class SigningKey:
    """A private key that signs."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self.signer = CryptoSigner(private)
        self.public = PublicKey(_raw(private.public_key()))
        self._private = private

    def __repr__(self) -> str:
        return f"SigningKey({self.public.hexadecimal})"

    @classmethod
    def new(cls) -> Self:
        """A fresh key, from the system's randomness."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, raw: bytes, where: str, passphrase: bytes | None) -> Self:
        """Read a private key's PEM; `where` is for messages.

        Raises:
            KeyProblem: it is no private Ed25519 key in PKCS#8, or the passphrase does not fit.
        """
        try:
            key = load_pem_private_key(raw, passphrase)
        except TypeError:
            wants = is_encrypted(raw)
            problem = "needs its passphrase" if wants else "has no passphrase, but one was given"
            mend = "give it with --passphrase-file or --passphrase-fd" if wants else "leave it out"
            raise KeyProblem(where, problem, mend) from None
        except (ValueError, UnsupportedAlgorithm):
            if passphrase is not None and is_encrypted(raw):
                raise KeyProblem(where, "the passphrase does not fit") from None
            mend = "make one with `parity keygen`"
            raise KeyProblem(where, "is no private key in PKCS#8 PEM", mend) from None
        if not isinstance(key, Ed25519PrivateKey):
            mend = "make one with `parity keygen`"
            raise KeyProblem(where, "is no Ed25519 key", mend) from None
        return cls(key)

    def pem(self, passphrase: bytes | None) -> bytes:
        """As a PKCS#8 PEM file, encrypted if there is a passphrase. Never print it."""
        lock: KeySerializationEncryption = (
            NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase)
        )
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)


def is_encrypted(raw: bytes) -> bool:
    """Whether a PEM says of itself that it is encrypted."""
    return b"ENCRYPTED" in raw


def _raw(key: Ed25519PublicKey) -> str:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
