"""A record's outside: a DSSE envelope around the bytes that are signed.

What is signed is the payload together with its type, so neither can be taken for another. No key is
ever read from an envelope: its `keyid` only says which of the keys that the *reader* trusts to try.

Source: the DSSE specification 1.0 (envelope, pre-authentication encoding); in-toto's payload type.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature

from harness.canonical import canonical
from harness.signoff.keys import PublicKey, SigningKey
from harness.signoff.problems import RecordRefused
from harness.signoff.strict_json import MAX_BYTES, NotStrict, parse_strict

__all__ = ["PAYLOAD_TYPE", "Envelope", "Signatures", "parse_envelope", "rendered", "seal", "signed"]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

_OUTER: Final = {"payload", "payloadType", "signatures"}
_INNER: Final = {"keyid", "sig"}
_KEYID: Final = re.compile(r"[0-9a-f]{64}")
_SIGNATURE_BYTES: Final = 64
_MOST_SIGNATURES: Final = 16


class Signatures:
    """Which of the trusted keys signed an envelope, and what else stands in it."""

    def __init__(self, envelope: Envelope, trusted: Iterable[PublicKey]) -> None:
        """Try every signature under the key of its id, if that is a trusted one."""
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
        """Trusted keys whose signature does not."""
        self.unknown = tuple(unknown)
        """Ids of keys that nobody here trusts."""


def seal(payload: bytes, key: SigningKey) -> Envelope:
    """An envelope around `payload`, signed once."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(key.signer)
    return envelope


def signed(envelope: Envelope, key: SigningKey) -> Envelope:
    """The same payload with one signature more."""
    further = Envelope(envelope.payload, envelope.payload_type, dict(envelope.signatures))
    further.sign(key.signer)
    return further


def rendered(envelope: Envelope) -> bytes:
    """The one spelling of an envelope's file."""
    return (canonical(envelope.to_dict()) + "\n").encode()


def parse_envelope(raw: bytes, file: Path | str) -> Envelope:
    """Take a file's bytes apart; `file` is for messages. Says nothing of whether it is genuine.

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
        value = parse_strict(raw[:-1])
    except NotStrict as error:
        raise refuse(f"the record {error}") from None
    if not isinstance(value, dict) or set(value) != _OUTER:
        raise refuse(f"the envelope must have the fields {_named(_OUTER)} and no others")
    if value["payloadType"] != PAYLOAD_TYPE:
        raise refuse(f"its payloadType is not {PAYLOAD_TYPE!r}")
    payload = _unbase64(value["payload"])
    if payload is None:
        raise refuse("its payload is not canonical base64")
    listed = value["signatures"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_SIGNATURES:
        raise refuse(f"it must have 1 to {_MOST_SIGNATURES} signatures")
    signatures: dict[str, Signature] = {}
    for each in listed:
        keyid, bytes_ = _signature(each)
        if bytes_ is None:
            raise refuse("a signature must have a keyid of 64 hex digits, 64 bytes, and no more")
        if keyid in signatures:
            raise refuse(f"two signatures are of the key {keyid[:16]}")
        signatures[keyid] = Signature(keyid, bytes_.hex())
    return Envelope(payload, PAYLOAD_TYPE, signatures)


def _signature(value: Any) -> tuple[str, bytes | None]:
    if not isinstance(value, dict) or set(value) != _INNER:
        return "", None
    keyid, signature = value["keyid"], _unbase64(value["sig"])
    if not isinstance(keyid, str) or not _KEYID.fullmatch(keyid):
        return "", None
    fits = signature is not None and len(signature) == _SIGNATURE_BYTES
    return keyid, signature if fits else None


def _unbase64(text: Any) -> bytes | None:
    """What canonical base64 stands for; `None` for anything else, even spare bits at its end."""
    if not isinstance(text, str):
        return None
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def _named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
