import os
import traceback
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from harness.signoff.keyfile import (
    Source,
    public_file,
    read_passphrase,
    read_public,
    read_secret,
    write_key_pair,
)
from harness.signoff.keys import PublicKey, SigningKey
from harness.signoff.problems import KeyProblem


def test_both_files_are_written_and_only_the_owner_can_read_the_private_one(tmp_path: Path) -> None:
    key = SigningKey.new()
    before = os.umask(0)
    try:
        public = write_key_pair(tmp_path / "k", key, None)
    finally:
        os.umask(before)

    assert public == tmp_path / "k.pub" == public_file(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    again = SigningKey.from_pem(read_secret(Source(tmp_path / "k"), "private key"), "k", None)
    assert again.public == key.public
    assert PublicKey.from_pem(read_public(public), "k.pub") == key.public


@pytest.mark.parametrize("taken", ["k", "k.pub"])
def test_nothing_that_is_there_is_written_over(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")

    with pytest.raises(KeyProblem, match="is there already"):
        write_key_pair(tmp_path / "k", SigningKey.new(), None)

    assert [each.name for each in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


@pytest.mark.parametrize("taken", ["k", "k.pub"])
def test_a_link_is_not_followed_to_where_the_key_would_be_written(
    tmp_path: Path, taken: str
) -> None:
    (tmp_path / taken).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KeyProblem, match="is there already"):
        write_key_pair(tmp_path / "k", SigningKey.new(), None)

    assert not (tmp_path / "elsewhere").exists()


def test_a_private_key_that_others_can_read_is_refused_with_what_mends_it(tmp_path: Path) -> None:
    file = tmp_path / "my key"
    write_key_pair(file, SigningKey.new(), None)
    file.chmod(0o640)

    with pytest.raises(KeyProblem, match="others can read") as caught:
        read_secret(Source(file), "private key")

    assert f"chmod 600 '{file}'" in str(caught.value)


def test_what_a_link_points_to_is_what_must_be_private(tmp_path: Path) -> None:
    write_key_pair(tmp_path / "k", SigningKey.new(), None)
    (tmp_path / "link").symlink_to("k")
    assert read_secret(Source(tmp_path / "link"), "private key")

    (tmp_path / "k").chmod(0o604)
    with pytest.raises(KeyProblem, match="others can read"):
        read_secret(Source(tmp_path / "link"), "private key")


@pytest.mark.parametrize("kind", ["folder", "gone", "device", "long", "closed descriptor"])
def test_what_is_no_private_file_is_refused(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "long"
    file.write_bytes(b"x" * 70_000)
    file.chmod(0o600)
    places = {"folder": tmp_path, "gone": tmp_path / "gone", "device": Path("/dev/zero")}
    source = Source(987 if kind == "closed descriptor" else places.get(kind, file))

    with pytest.raises(KeyProblem):
        read_secret(source, "private key")


def test_a_key_can_come_through_a_pipe() -> None:
    key = SigningKey.new()
    reading, writing = os.pipe()
    os.write(writing, key.pem(None))
    os.close(writing)
    try:
        raw = read_secret(Source(reading), "private key")
    finally:
        os.close(reading)

    assert SigningKey.from_pem(raw, "descriptor", None).public == key.public


def test_a_file_behind_a_descriptor_must_be_private_too(tmp_path: Path) -> None:
    file = tmp_path / "k"
    write_key_pair(file, SigningKey.new(), None)
    file.chmod(0o644)

    with file.open("rb") as stream, pytest.raises(KeyProblem, match="others can read"):
        read_secret(Source(stream.fileno()), "private key")


@pytest.mark.parametrize(
    ("encrypted", "given", "words"),
    [
        (b"correct horse", b"wrong horse", "the passphrase does not fit"),
        (b"correct horse", None, "needs its passphrase"),
        (None, b"correct horse", "has no passphrase, but one was given"),
    ],
)
def test_a_passphrase_must_fit_and_never_shows(
    encrypted: bytes | None, given: bytes | None, words: str
) -> None:
    pem = SigningKey.new().pem(encrypted)

    with pytest.raises(KeyProblem, match=words) as caught:
        SigningKey.from_pem(pem, "k", given)

    shown = "".join(traceback.format_exception(caught.value))
    assert not any(secret.decode() in shown for secret in (encrypted, given) if secret)
    assert pem.decode().splitlines()[1] not in shown
    assert caught.value.__cause__ is None


def test_an_encrypted_key_opens_with_its_passphrase() -> None:
    key = SigningKey.new()
    pem = key.pem(b"correct horse")

    assert b"ENCRYPTED" in pem
    assert SigningKey.from_pem(pem, "k", b"correct horse").public == key.public


def test_the_passphrase_is_the_first_line_and_not_empty(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_bytes(b"correct horse\r\n")
    file.chmod(0o600)
    assert read_passphrase(Source(file)) == b"correct horse"

    file.write_bytes(b"\n")
    with pytest.raises(KeyProblem, match="empty"):
        read_passphrase(Source(file))


@pytest.mark.parametrize("raw", [b"", b"not a key", SigningKey.new().public.pem])
def test_what_is_no_private_key_is_refused_without_being_shown(raw: bytes) -> None:
    with pytest.raises(KeyProblem, match="no private key"):
        SigningKey.from_pem(raw, "k", None)


def test_a_key_of_another_kind_is_refused() -> None:
    other = generate_private_key(SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    with pytest.raises(KeyProblem, match="no Ed25519 key"):
        SigningKey.from_pem(pem, "k", None)


def test_a_private_key_shows_its_public_half_only() -> None:
    key = SigningKey.new()
    raw = key.pem(None).decode().splitlines()[1]

    assert repr(key) == f"SigningKey({key.public.hexadecimal})"
    assert raw not in repr(vars(key))


@pytest.mark.parametrize("text", ["", "00", "g" * 64, "A" * 64, f"ed25519:{'a' * 64}", "a" * 65])
def test_a_public_key_is_64_hex_digits(text: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        PublicKey.parse(text)


def test_a_public_key_for_which_anybody_can_sign_is_refused() -> None:
    with pytest.raises(KeyProblem, match="anybody can sign"):
        PublicKey.from_pem(PublicKey("00" * 32).pem, "k.pub")
