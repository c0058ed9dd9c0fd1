import base64
import json
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical
from harness.signoff.envelope import (
    PAYLOAD_TYPE,
    Signatures,
    parse_envelope,
    rendered,
    seal,
    signed,
)
from harness.signoff.problems import RecordRefused
from harness.signoff.records import read_record
from harness.signoff.statement import payload_of
from tests.harness.signoff.signed import ALICE, BOB, MALLORY, sign_off

PAYLOAD = payload_of(sign_off())
RAW = rendered(seal(PAYLOAD, ALICE))


def altered(**changes: Any) -> bytes:
    return (canonical({**json.loads(RAW), **changes}) + "\n").encode()


def test_a_record_reads_back_with_its_signature() -> None:
    envelope = parse_envelope(RAW, "r")

    assert envelope.payload == PAYLOAD
    assert Signatures(envelope, [ALICE.public]).good == (ALICE.public,)
    assert rendered(envelope) == RAW


def test_no_single_changed_byte_goes_unseen() -> None:
    for place in range(0, len(RAW), 7):
        for flip in (0x01, 0x20, 0x80):
            raw = bytearray(RAW)
            raw[place] ^= flip
            try:
                envelope = parse_envelope(bytes(raw), "r")
            except RecordRefused:
                continue
            assert Signatures(envelope, [ALICE.public]).good == (), place


@pytest.mark.parametrize("cut", [0, 1, 100, len(RAW) - 2, len(RAW) - 1])
def test_a_record_that_was_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(RecordRefused):
        parse_envelope(RAW[:cut], "r")


@pytest.mark.parametrize(
    "raw",
    [
        RAW + b"\n",
        b" " + RAW,
        RAW.replace(b'"payload"', b'"payload":"","payload"', 1),
        altered(extra=1),
        altered(key=ALICE.public.hexadecimal),
        altered(payloadType="application/json"),
        altered(payloadType=PAYLOAD_TYPE.upper()),
        altered(signatures=[]),
        altered(signatures={}),
        altered(payload=None),
        altered(payload=base64.urlsafe_b64encode(b"\xff\xfe\xfd\xfb\xff").decode()),
        altered(payload="YQ"),
        altered(payload="YR=="),
        b"[" * 100_000 + b"\n",
        b"[" * 980 + b"]" * 980 + b"\n",
        b"1" * 10_000 + b"\n",
        b'{"payload":1e999}\n',
        b"null\n",
        b'{"payload":NaN}\n',
        b"\xff\n",
    ],
)
def test_anything_but_the_one_spelling_of_a_record_is_refused(raw: bytes) -> None:
    with pytest.raises(RecordRefused):
        parse_envelope(raw, "r")


def test_a_record_of_any_length_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "0001-A-release.json"
    with file.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)

    with pytest.raises(RecordRefused, match="longer than"):
        read_record(file)


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"public": ALICE.public.hexadecimal},
        {"sig": base64.b64encode(b"x" * 63).decode()},
        {"sig": base64.b64encode(b"x" * 65).decode()},
        {"keyid": ALICE.public.keyid.upper()},
        {"keyid": 1},
    ],
)
def test_a_signature_has_an_id_and_64_bytes_and_nothing_else(change: dict[str, Any]) -> None:
    one = json.loads(RAW)["signatures"][0]

    with pytest.raises(RecordRefused):
        parse_envelope(altered(signatures=[{**one, **change}]), "r")


def test_one_key_counts_once_however_often_it_is_there() -> None:
    one = json.loads(RAW)["signatures"][0]

    with pytest.raises(RecordRefused, match="two signatures are of the key"):
        parse_envelope(altered(signatures=[one, one]), "r")


def test_more_signatures_than_anybody_needs_are_refused() -> None:
    one = json.loads(RAW)["signatures"][0]
    many = [{**one, "keyid": f"{number:064x}"} for number in range(17)]

    with pytest.raises(RecordRefused, match=r"signatures: .* at most 16"):
        parse_envelope(altered(signatures=many), "r")


def test_a_signature_under_another_trusted_keys_id_does_not_count() -> None:
    one = json.loads(RAW)["signatures"][0]
    raw = altered(signatures=[{**one, "keyid": BOB.public.keyid}])

    seen = Signatures(parse_envelope(raw, "r"), [ALICE.public, BOB.public])

    assert (seen.good, seen.bad) == ((), (BOB.public,))


def test_an_unknown_key_is_reported_and_does_not_count() -> None:
    envelope = seal(PAYLOAD, MALLORY)

    seen = Signatures(envelope, [ALICE.public])

    assert (seen.good, seen.bad, seen.unknown) == ((), (), (MALLORY.public.keyid,))


def test_the_type_is_signed_together_with_the_payload() -> None:
    envelope = seal(PAYLOAD, ALICE)
    envelope.payload_type = "text/plain"

    assert Signatures(envelope, [ALICE.public]).bad == (ALICE.public,)


def test_several_sign_the_same_payload() -> None:
    envelope = parse_envelope(rendered(signed(seal(PAYLOAD, ALICE), BOB)), "r")

    assert set(Signatures(envelope, [ALICE.public, BOB.public]).good) == {ALICE.public, BOB.public}
    assert envelope.payload == PAYLOAD
