"""Gates that are not the committed ones let no record count."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.harness.signoff.signed import MALLORY
from tests.security.signing_attacks import NO, NOTHING_KNOWN, UNKNOWN
from tests.security.signing_checkout import Attack, Attacked, git

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="there is no git here; install it"
)


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attacked:
    """Phase A is signed and committed; nothing was revoked."""
    return Attacked(tmp_path / "checkout", monkeypatch)


def forge(it: Attacked, key_of_the_gates: bool = True) -> None:
    """Trust one's own key, and sign with it what is here."""
    if key_of_the_gates:
        it.trust(MALLORY)
    it.sign(MALLORY)


def edited(it: Attacked) -> None:
    forge(it)


def edited_and_staged(it: Attacked) -> None:
    forge(it)
    git(it.root, "add", "-A")


def edited_behind_gits_back(it: Attacked) -> None:
    git(it.root, "update-index", "--assume-unchanged", "parity_tests/gates.toml")
    forge(it)


def exchanged_for_another_committed_file(it: Attacked) -> None:
    """The file of a test, say, whose key is public."""
    text = it.gates.read_text("utf-8")
    it.trust(MALLORY)
    shutil.copy(it.gates, it.root / "example.toml")
    it.gates.write_text(text, "utf-8")
    it.commit("an example")
    it.gates.unlink()
    it.gates.symlink_to("../example.toml")
    forge(it, key_of_the_gates=False)


def in_a_repository_of_their_own(it: Attacked) -> None:
    forge(it)
    git(it.gates.parent, "init", "-q")
    git(it.gates.parent, "add", "-A")
    git(it.gates.parent, "commit", "-qm", "x")


def in_a_folder_that_is_a_link(it: Attacked) -> None:
    elsewhere = it.root / "elsewhere"
    it.gates.parent.rename(elsewhere)
    it.gates.parent.symlink_to(elsewhere.name)
    forge(it)


def not_committed_at_all(it: Attacked) -> None:
    git(it.root, "rm", "-q", "--cached", "parity_tests/gates.toml")
    git(it.root, "commit", "-qm", "no gates")
    forge(it)


@pytest.mark.parametrize(
    ("attack", "code", "says"),
    [
        (edited, NO, "parity_tests/gates.toml is not as it was committed"),
        (edited_and_staged, NO, "parity_tests/gates.toml is not as it was committed"),
        (edited_behind_gits_back, NO, "parity_tests/gates.toml is not as it was committed"),
        (exchanged_for_another_committed_file, NO, "gates.toml is a symbolic link"),
        (in_a_repository_of_their_own, UNKNOWN, f"{NOTHING_KNOWN}: signoffs is not in the rep"),
        (in_a_folder_that_is_a_link, NO, "parity_tests is a symbolic link"),
        (not_committed_at_all, NO, "parity_tests/gates.toml is not committed"),
    ],
)
@pytest.mark.sampled(4)
def test_gates_that_are_not_the_committed_ones_do_not_count(
    signed: Attacked, attack: Attack, code: int, says: str
) -> None:
    attack(signed)

    result, verified = signed.can_flip(), signed.verify()

    assert (result.exit_code, says in result.output) == (code, True), result.output
    assert (verified.exit_code, says in verified.output) == (code, True), verified.output


def test_a_record_of_an_unknown_key_is_refused_by_unchanged_gates(signed: Attacked) -> None:
    forge(signed, key_of_the_gates=False)

    assert signed.can_flip().exit_code == NO


def test_gates_that_an_attacker_committed_trust_him_unless_a_revision_is_named(
    signed: Attacked,
) -> None:
    """What git has in its last commit it cannot doubt: `--policy-from` names what was reviewed."""
    git(signed.root, "checkout", "-q", "-b", "attack")
    forge(signed)
    signed.commit("a key of my own")
    assert signed.can_flip().exit_code == 0

    result = signed.can_flip("--policy-from", "main")
    verified = signed.verify("--policy-from", "main")

    assert result.exit_code == NO
    assert "signing.signer[alice].key was" in result.output
    assert "signed by 0 trusted signers" in result.output
    assert verified.exit_code == NO
    assert "signed by 0 trusted signers" in verified.output


def test_by_the_gates_of_a_revision_an_edit_of_those_here_is_shown_and_decides_nothing(
    signed: Attacked,
) -> None:
    signed.gates.write_text(
        signed.gates.read_text("utf-8").replace("threshold = 1", "threshold = 9")
    )

    result = signed.can_flip("--policy-from", "main")

    assert "signing.threshold was 1 and is 9" in result.output
    assert result.exit_code == UNKNOWN  # of other gates than were signed
    assert "gates: gates.toml changed" in result.output


def test_a_record_that_the_revision_has_must_be_here(signed: Attacked) -> None:
    signed.sign()
    signed.commit("another")
    git(signed.root, "checkout", "-q", "-b", "behind", "HEAD~1")
    assert signed.can_flip().exit_code == 0

    result = signed.can_flip("--policy-from", "main")

    assert result.exit_code == NO
    assert "0002-A-release.json was committed once and is gone" in result.output


@pytest.mark.parametrize("words", [("--policy-from", "nowhere"), ("--policy-from", "--help")])
def test_a_revision_that_is_not_there_is_wrong_usage(
    signed: Attacked, words: tuple[str, ...]
) -> None:
    result = signed.can_flip(*words)

    assert result.exit_code == 2
    assert "there is no such revision" in result.output
