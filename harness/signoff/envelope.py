"""The DSSE envelope of a record, around the bytes that are signed.

A signature covers the payload and its type. No key is read from an envelope: its `keyid` only says
which of the keys that the *reader* trusts is to be tried.

Source: the DSSE specification 1.0 (envelope, pre-authentication encoding); in-toto's payload type.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, ValidationError
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature

from harness.canonical import canonical
from harness.errors import first_problem
from harness.gate.reasons import Value
from harness.signoff.keys import PublicKey, SigningKey
from harness.signoff.problems import RecordRefused
from harness.signoff.strict_json import MAX_BYTES, NotStrict, parse_strict

__all__ = ["PAYLOAD_TYPE", "Envelope", "Signatures", "parse_envelope", "rendered", "seal", "signed"]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

_SIGNATURE_BYTES: Final = 64
_MOST_SIGNATURES: Final = 16


class Signatures:
    """The signatures of an envelope, checked with the trusted keys."""

    def __init__(self, envelope: Envelope, trusted: Iterable[PublicKey]) -> None:
        """Check every signature with the trusted key of its id."""
        by_id = {key.keyid: key for key in trusted}
        data = envelope.pae()
        good: list[PublicKey] = []
        bad: list[PublicKey] = []
        unknown: list[str] = []
        for keyid, signature in envelope.signatures.items():
            key = by_id.get(keyid)
            if key is None:
                unknown.append(keyid)
                continue
            try:
                key.securesystems.verify_signature(signature, data)
            except UnverifiedSignatureError:
                bad.append(key)
            else:
                good.append(key)
        self.good = tuple(good)
        """Trusted keys whose signature fits the bytes. Each counts once."""
        self.bad = tuple(bad)
        """Trusted keys whose signature does not fit."""
        self.unknown = tuple(unknown)
        """Ids of keys that are not trusted."""


def seal(payload: bytes, key: SigningKey) -> Envelope:
    """An envelope around `payload`, signed once."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(key.signer)
    return envelope


def signed(envelope: Envelope, key: SigningKey) -> Envelope:
    """The same envelope with a further signature."""
    further = Envelope(envelope.payload, envelope.payload_type, dict(envelope.signatures))
    further.sign(key.signer)
    return further


def rendered(envelope: Envelope) -> bytes:
    """The canonical bytes of an envelope's file."""
    return (canonical(envelope.to_dict()) + "\n").encode()


def parse_envelope(raw: bytes, file: Path | str) -> Envelope:
    """The envelope in a file's bytes; `file` is for messages. Signatures are not checked.

    Raises:
        RecordRefused: not canonical, a field too many or too few, another payload type, or
            signatures that cannot be Ed25519's.
    """

    def refuse(problem: str) -> RecordRefused:
        return RecordRefused(file, problem, "restore the file as it was signed")

    if len(raw) > MAX_BYTES:
        raise refuse(f"is longer than {MAX_BYTES} bytes")
    if not raw.endswith(b"\n"):
        raise refuse("does not end where a record ends")
    try:
        found = _Envelope.model_validate(parse_strict(raw[:-1]), by_alias=True, by_name=False)
    except NotStrict as error:
        raise refuse(f"the record {error}") from None
    except ValidationError as error:
        place, problem = first_problem(error)
        raise refuse(f"the envelope is wrong: {place or 'the whole'}: {problem}") from None
    if found.payload_type != PAYLOAD_TYPE:
        raise refuse(f"its payloadType is not {PAYLOAD_TYPE!r}")
    signatures: dict[str, Signature] = {}
    for each in found.signatures:
        if each.keyid in signatures:
            raise refuse(f"two signatures are of the key {each.keyid[:16]}")
        signatures[each.keyid] = Signature(each.keyid, each.sig.hex())
    return Envelope(found.payload, PAYLOAD_TYPE, signatures)


def _unbase64(text: Any) -> bytes:
    """The bytes of canonical base64, which has no spare bits at its end."""
    problem = "must be canonical base64"
    try:
        raw = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise ValueError(problem) from None
    if base64.b64encode(raw).decode() != text:
        raise ValueError(problem)
    return raw


Base64 = Annotated[bytes, BeforeValidator(_unbase64)]


class _Signature(Value):
    keyid: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    sig: Annotated[Base64, Field(min_length=_SIGNATURE_BYTES, max_length=_SIGNATURE_BYTES)]


class _Envelope(Value):
    payload: Base64
    payload_type: str
    signatures: list[_Signature] = Field(min_length=1, max_length=_MOST_SIGNATURES)
