"""`Signer`: signs callbacks, so that their receiver knows that this server has sent them.

A callback has a JSON Web Token (RFC 7519), signed with ES256. Its claims are `iss` (the server's
address), `aud` (the callback's address), `iat` and `exp` (five minutes), `jti` (each attempt has
its own), `taskId`, and `request_body_sha256`, the digest of the body in hexadecimal. The receiver
gets the public key from the server's `/.well-known/jwks.json` (RFC 7517).

Source: A2A 1.0, "Push Notification Security", which recommends a JWT and a JWKS endpoint.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from services.clock import Clock
from services.ids import IdSource
from services.model.errors import FatalConfigError
from services.regular_files import read_regular
from services.wire import JsonObject

__all__ = ["KEYS_PATH", "Signer", "new_key", "open_key"]

KEYS_PATH: Final = "/.well-known/jwks.json"
_ALGORITHM: Final = "ES256"
_LIFETIME_S: Final = 300
_MOST_BYTES: Final = 10_000


def new_key() -> ec.EllipticCurvePrivateKey:
    """A private key that no server has had."""
    return ec.generate_private_key(ec.SECP256R1())


def open_key(file: Path) -> ec.EllipticCurvePrivateKey:
    """The private key in `file`, which is created if it is missing.

    Raises:
        FatalConfigError: the file cannot be used.
    """
    try:
        if not file.exists():
            _write_new(file)
        found = serialization.load_pem_private_key(read_regular(file, _MOST_BYTES), None)
    except (OSError, ValueError, TypeError) as error:
        raise FatalConfigError(
            f"The key in {file}, which signs callbacks, cannot be used: {error}; delete the file"
        ) from error
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise FatalConfigError(f"The key in {file} is of another kind; delete the file")
    return found


class Signer:
    """Signs the callbacks of one server.

    Args:
        key: the private key.
        issuer: the server's address.
        clock: the server's clock.
        ids: makes the id of each signature.
    """

    def __init__(
        self, key: ec.EllipticCurvePrivateKey, *, issuer: str, clock: Clock, ids: IdSource
    ) -> None:
        self._key = key
        self._issuer = issuer
        self._clock = clock
        self._ids = ids
        self._public: dict[str, Any] = ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
        thumb = hashlib.sha256(f"{self._public['x']}.{self._public['y']}".encode())
        self._name = thumb.hexdigest()[:16]

    def keys(self) -> JsonObject:
        """The public keys, as a JSON Web Key Set."""
        key = {**self._public, "kid": self._name, "use": "sig", "alg": _ALGORITHM}
        return {"keys": [key]}

    def signature(self, body: bytes, *, audience: str, task_id: str) -> str:
        """The token for one callback."""
        now = self._clock.now_ms() // 1000
        claims = {
            "iss": self._issuer,
            "aud": audience,
            "iat": now,
            "exp": now + _LIFETIME_S,
            "jti": self._ids.uuid("callback"),
            "taskId": task_id,
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
        }
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM, headers={"kid": self._name})


def _write_new(file: Path) -> None:
    """Write a new key, whole or not at all: another server may be starting."""
    text = new_key().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(text)
    draft.replace(file)
