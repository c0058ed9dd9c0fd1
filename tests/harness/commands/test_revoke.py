from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from harness.signoff.keys import SigningKey
from tests.harness.signoff.signable import Signable, signable

RECORD = "0001-A-release.json"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signable]:
    for made in signable(tmp_path, monkeypatch):
        result = made.sign()
        assert result.exit_code == 0, result.output
        yield made


def revoke(checkout: Signable, *words: object, key: str = "bob", record: str = RECORD) -> Result:
    asked = ["--reason", "the corpus left out hooks", "--key", checkout.key(key), "--yes"]
    return checkout.invoke("revoke", record, *asked, *words)


def test_a_revoked_record_holds_no_longer(checkout: Signable) -> None:
    result = revoke(checkout)

    assert result.exit_code == 0, result.output
    assert (checkout.signoffs / "0002-revocation.json").is_file()
    verified = checkout.invoke("verify", RECORD)
    assert verified.exit_code == 1
    assert "revoked by bob on " in verified.output
    assert "(0002-revocation.json): the corpus left out hooks" in verified.output


def test_nothing_holds_where_the_newest_record_is_a_revocation(checkout: Signable) -> None:
    revoke(checkout)

    for words in ((), ("0002-revocation.json",)):
        result = checkout.invoke("verify", *words)

        assert result.exit_code == 1, result.output
        assert f"revokes {RECORD}: the corpus left out hooks" in result.output
        assert (
            f"does not hold: phase A has no record that stands: {RECORD}: revoked by bob on "
            in result.output
        )


def test_what_takes_the_revocation_away_is_seen(checkout: Signable) -> None:
    revoke(checkout)
    (checkout.signoffs / "0002-revocation.json").unlink()

    result = checkout.invoke("verify", RECORD)

    assert result.exit_code == 1
    assert "rolled back" in result.output


def test_a_record_can_be_signed_after_a_revocation(checkout: Signable) -> None:
    revoke(checkout)

    assert checkout.sign().exit_code == 0
    assert checkout.invoke("verify").exit_code == 0


def test_it_is_revoked_once(checkout: Signable) -> None:
    revoke(checkout)
    result = revoke(checkout)

    assert result.exit_code == 1
    assert "is revoked already, by 0002-revocation.json" in result.output


def test_a_stranger_cannot_revoke(checkout: Signable) -> None:
    checkout.keygen("mallory")

    result = revoke(checkout, key="mallory")

    assert result.exit_code == 1
    assert "the key is no signer's of release records of phase A" in result.output
    assert not (checkout.signoffs / "0002-revocation.json").exists()


@pytest.mark.parametrize(
    ("passphrase", "code", "says"),
    [
        (None, 2, "needs its passphrase, and there is no terminal"),
        ("wrong horse!", 2, "the passphrase does not fit"),
        ("correct horse", 0, "revoked: "),
    ],
)
def test_a_locked_key_is_opened_with_its_passphrase_and_no_other(
    checkout: Signable, passphrase: str | None, code: int, says: str
) -> None:
    plain = SigningKey.from_pem(checkout.key("bob").read_bytes(), "bob", None)
    checkout.key("bob").write_bytes(plain.pem(b"correct horse"))
    file = checkout.root.parent / "passphrase"
    file.write_text(passphrase or "")
    file.chmod(0o600)

    result = revoke(checkout, *(["--passphrase-file", file] if passphrase else []))

    assert result.exit_code == code, result.output
    assert says in result.output
    assert "horse" not in result.output


def test_a_terminal_is_not_left_to_a_reason_with_escapes_in_it(checkout: Signable) -> None:
    result = revoke(checkout, "--reason", "\x1b[2Jgone\u202e")

    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x1b" not in checkout.invoke("verify", RECORD).output


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["gone.json", "--reason", "r", "--key", "{key}", "--yes"], 1, "holds no sign-off"),
        (
            [f"cassettes/{RECORD}", "--signoffs", "signoffs", "--reason", "r", "--key", "{key}"],
            2,
            "is not in the folder signoffs",
        ),
        ([RECORD, "--reason", " ", "--key", "{key}", "--yes"], 2, "--reason takes 1 to 2000"),
        ([RECORD, "--reason", "r", "--yes"], 2, "name one private key"),
        ([RECORD, "--key", "{key}", "--yes"], 2, "Missing option '--reason'"),
        ([RECORD, "--reason", "r", "--key", "{key}"], 2, "there is no terminal"),
    ],
)
@pytest.mark.sampled(3)
def test_wrong_usage_is_one_clear_message(
    checkout: Signable, words: list[str], code: int, says: str
) -> None:
    result = checkout.invoke("revoke", *(word.format(key=checkout.key("bob")) for word in words))

    assert (result.exit_code, says in result.output) == (code, True), result.output
    assert "Traceback" not in result.output
    assert len(list(checkout.signoffs.iterdir())) == 2
