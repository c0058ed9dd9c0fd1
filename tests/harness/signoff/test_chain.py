import errno
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from harness.errors import UsageError
from harness.gate.gates import Signing as SigningRules
from harness.signoff.chain import read_chain, standing, verified_head
from harness.signoff.history import History
from harness.signoff.problems import RecordRefused, RecordUnknown, SigningRefused
from harness.signoff.records import HEAD_FILE
from harness.signoff.statement import SignOff
from harness.signoff.trust import Signing
from harness.signoff.writing import add_signature, append
from tests.harness.signoff.signed import (
    ALICE,
    BOB,
    MALLORY,
    add,
    revocation,
    revoke,
    sign_off,
    signing,
)

KNOWN = History()
"""What git says of a folder in which nothing was ever committed."""


def rules(threshold: int = 1) -> SigningRules:
    signers = (("alice", ALICE), ("bob", BOB))
    return SigningRules.model_validate(
        {
            "threshold": threshold,
            "signer": [
                {
                    "name": name,
                    "key": key.public.hexadecimal,
                    "phases": ["A", "B"],
                    "profiles": ["pull_request", "release"],
                }
                for name, key in signers
            ],
        }
    )


def problems(folder: Path, *, expect_head: str | None = None) -> str:
    return "\n".join(read_chain(folder, signing(), expect_head=expect_head).problems)


def git(folder: Path, *words: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


def committed(folder: Path) -> None:
    git(folder.parent, "init", "-q")
    git(folder.parent, "add", "-A")
    git(folder.parent, "commit", "-qm", "x")


def test_each_record_names_the_one_before_and_head_the_last(tmp_path: Path) -> None:
    first, second = add(tmp_path), add(tmp_path, phase="B", profile="pull_request")

    assert [first.name, second.name] == ["0001-A-release.json", "0002-B-pull_request.json"]
    assert second.statement.predecessor is not None
    assert second.statement.predecessor.sha256 == first.sha256
    assert problems(tmp_path) == ""
    assert verified_head(tmp_path, rules(), phase="B", history=KNOWN) == second.statement
    assert verified_head(tmp_path, rules(), phase="A", history=KNOWN) == first.statement


def test_an_empty_or_missing_folder_has_no_head(tmp_path: Path) -> None:
    assert verified_head(tmp_path, rules(), history=KNOWN) is None
    assert verified_head(tmp_path / "gone", rules(), history=KNOWN) is None


def test_a_rolled_back_head_is_seen(tmp_path: Path) -> None:
    add(tmp_path)
    (add(tmp_path).file).unlink()

    assert "rolled back: HEAD knows record 0002, and the newest is 0001" in problems(tmp_path)
    with pytest.raises(RecordRefused, match="rolled back"):
        verified_head(tmp_path, rules())


def test_a_head_that_was_rolled_back_with_it_is_seen_by_who_remembers(tmp_path: Path) -> None:
    add(tmp_path)
    old = (tmp_path / HEAD_FILE).read_bytes()
    newest = add(tmp_path)
    assert problems(tmp_path, expect_head=newest.sha256) == ""
    assert problems(tmp_path, expect_head=newest.sha256[:12].upper()) == ""

    newest.file.unlink()
    (tmp_path / HEAD_FILE).write_bytes(old)

    assert problems(tmp_path) == ""
    assert "is not" in problems(tmp_path, expect_head=newest.sha256)


def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path)

    def closed(folder: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", closed)

    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        read_chain(tmp_path, signing())


def test_a_head_of_a_record_that_is_missing_in_the_middle_is_reported(
    tmp_path: Path,
) -> None:
    first = add(tmp_path)
    old = (tmp_path / HEAD_FILE).read_bytes()
    add(tmp_path)
    first.file.unlink()
    (tmp_path / HEAD_FILE).write_bytes(old)

    assert "record 0001 is missing" in problems(tmp_path)
    with pytest.raises(RecordRefused, match="0001 is missing"):
        verified_head(tmp_path, rules())


@pytest.mark.parametrize("which", [0, 1])
def test_an_unreadable_record_is_reported_once_and_not_as_missing(
    tmp_path: Path, which: int
) -> None:
    record = (add(tmp_path), add(tmp_path))[which]
    record.file.write_bytes(record.file.read_bytes()[:-9])

    (problem,) = read_chain(tmp_path, signing()).problems
    assert problem.startswith(f"{record.name}: is not as it was signed: ")


def test_a_head_that_was_rolled_back_with_it_is_seen_where_git_remembers(tmp_path: Path) -> None:
    folder = tmp_path / "signoffs"
    add(folder)
    old = (folder / HEAD_FILE).read_bytes()
    newest = add(folder)
    committed(folder)
    newest.file.unlink()
    (folder / HEAD_FILE).write_bytes(old)
    committed(folder)

    assert f"{newest.name} was committed once and is gone" in problems(folder)


def test_a_folder_that_was_deleted_whole_is_seen_where_git_remembers(tmp_path: Path) -> None:
    folder = tmp_path / "signoffs"
    record = add(folder)
    committed(folder)
    for file in (record.file, folder / HEAD_FILE):
        file.unlink()

    with pytest.raises(RecordRefused, match="was committed once and is gone"):
        verified_head(folder, rules())


def test_outside_of_a_repository_nothing_vouches_for_a_record(tmp_path: Path) -> None:
    add(tmp_path)

    with pytest.raises(RecordUnknown, match="git cannot say whether records were taken away"):
        verified_head(tmp_path, rules())


def test_a_missing_head_is_seen(tmp_path: Path) -> None:
    add(tmp_path)
    (tmp_path / HEAD_FILE).unlink()

    assert "HEAD is missing" in problems(tmp_path)


def test_a_head_by_somebody_else_is_seen(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    add(tmp_path)
    other = tmp_path_factory.mktemp("other")
    append(other, lambda n, before: sign_off(n, before), MALLORY, signing())
    (tmp_path / HEAD_FILE).write_bytes((other / HEAD_FILE).read_bytes())

    assert "HEAD: has no signature of a trusted signer" in problems(tmp_path)


def test_a_head_that_lags_behind_is_no_problem(tmp_path: Path) -> None:
    add(tmp_path)
    old = (tmp_path / HEAD_FILE).read_bytes()
    add(tmp_path)
    (tmp_path / HEAD_FILE).write_bytes(old)

    chain = read_chain(tmp_path, signing())
    assert chain.problems == ()
    assert "lags behind record 0002" in chain.remarks[0]
    add(tmp_path)
    assert read_chain(tmp_path, signing()).remarks == ()


def test_a_record_taken_out_of_the_middle_is_seen(tmp_path: Path) -> None:
    add(tmp_path)
    middle = add(tmp_path)
    add(tmp_path)
    middle.file.unlink()

    assert "record 0002 is missing" in problems(tmp_path)


def test_a_record_exchanged_in_the_middle_is_seen(tmp_path: Path) -> None:
    first = add(tmp_path / "one")
    add(tmp_path / "one")
    other = add(tmp_path / "two", as_of="2026-02-02")
    first.file.write_bytes(other.file.read_bytes())

    assert "its predecessor 0001-A-release.json is not as it was" in problems(tmp_path / "one")


def test_a_record_under_another_name_is_seen(tmp_path: Path) -> None:
    add(tmp_path).file.rename(tmp_path / "0001-B-release.json")

    assert "0001-B-release.json: was signed as 0001-A-release.json" in problems(tmp_path)


def test_reordered_records_are_seen(tmp_path: Path) -> None:
    one, two = add(tmp_path), add(tmp_path)
    first, second = one.file.read_bytes(), two.file.read_bytes()
    one.file.write_bytes(second)
    two.file.write_bytes(first)

    assert "was signed as 0002-A-release.json" in problems(tmp_path)


def test_a_fork_is_refused(tmp_path: Path) -> None:
    add(tmp_path / "one")
    fork = add(tmp_path / "two", phase="B")
    (tmp_path / "one" / fork.name).write_bytes(fork.file.read_bytes())

    assert "the chain forks: 0001-A-release.json and 0001-B-release.json" in problems(
        tmp_path / "one"
    )
    with pytest.raises(SigningRefused, match="forks"):
        add(tmp_path / "one")


def test_a_record_that_is_a_link_is_refused(tmp_path: Path) -> None:
    record = add(tmp_path / "one")
    (tmp_path / "elsewhere").write_bytes(record.file.read_bytes())
    record.file.unlink()
    record.file.symlink_to(tmp_path / "elsewhere")

    assert "is a symbolic link" in problems(tmp_path / "one")


def test_a_head_is_no_record_and_a_record_no_head(tmp_path: Path) -> None:
    record = add(tmp_path)
    head, said = (tmp_path / HEAD_FILE).read_bytes(), record.file.read_bytes()

    record.file.write_bytes(head)
    assert "says which record is the newest, and is none itself" in problems(tmp_path)

    record.file.write_bytes(said)
    (tmp_path / HEAD_FILE).write_bytes(said)
    assert "HEAD: does not say which record is the newest" in problems(tmp_path)


def test_a_revocation_does_not_pass_for_a_sign_off(tmp_path: Path) -> None:
    revoked = revoke(tmp_path, add(tmp_path))
    revoked.file.rename(tmp_path / "0002-A-release.json")

    assert "0002-A-release.json: was signed as 0002-revocation.json" in problems(tmp_path)


def test_what_is_no_record_among_them_is_refused(tmp_path: Path) -> None:
    add(tmp_path)
    (tmp_path / "2-A-release.json").write_text("{}")

    assert "2-A-release.json: is no record's name" in problems(tmp_path)


def test_a_record_counts_only_with_as_many_signers_as_the_gates_ask(tmp_path: Path) -> None:
    record = add(tmp_path)
    with pytest.raises(RecordRefused, match=r"signed by 1 trusted signers \(alice\), and 2 must"):
        verified_head(tmp_path, rules(2))

    again = add_signature(record.file, BOB, signing(2))

    assert again.envelope.payload == record.envelope.payload
    assert verified_head(tmp_path, rules(2), history=KNOWN) == record.statement


def test_one_signer_cannot_sign_twice(tmp_path: Path) -> None:
    record = add(tmp_path)

    with pytest.raises(SigningRefused, match="has a signature of this key"):
        add_signature(record.file, ALICE, signing())


def test_only_the_newest_record_takes_another_signature(tmp_path: Path) -> None:
    first = add(tmp_path)
    add(tmp_path)

    with pytest.raises(SigningRefused, match="not the newest"):
        add_signature(first.file, BOB, signing())


def test_a_record_by_an_unknown_key_is_refused_and_no_older_one_stands_in(tmp_path: Path) -> None:
    add(tmp_path)
    append(tmp_path, lambda n, before: sign_off(n, before), MALLORY, signing())

    with pytest.raises(RecordRefused, match="signed by 0 trusted signers"):
        verified_head(tmp_path, rules())


def test_a_newest_record_of_another_phase_must_be_trusted_as_well(tmp_path: Path) -> None:
    add(tmp_path)
    head = (tmp_path / HEAD_FILE).read_bytes()
    append(tmp_path, lambda n, before: sign_off(n, before, phase="B"), MALLORY, signing())
    (tmp_path / HEAD_FILE).write_bytes(head)

    with pytest.raises(RecordRefused, match=r"0002-B-release\.json: signed by 0"):
        verified_head(tmp_path, rules(), phase="A")


def test_a_signer_counts_only_for_what_he_may_sign(tmp_path: Path) -> None:
    record = add(tmp_path, phase="C")

    with pytest.raises(RecordRefused, match="signed by 0 trusted signers"):
        verified_head(tmp_path, rules())
    found = standing(record, read_chain(tmp_path, signing()), signing())
    assert "alice may not sign release records of phase C" in found.remarks[0]


def test_a_record_may_not_call_its_signer_what_he_is_not(tmp_path: Path) -> None:
    add(tmp_path, ALICE, signer="bob")

    with pytest.raises(RecordRefused, match="calls its signer 'bob', who did not sign it"):
        verified_head(tmp_path, rules())


def test_a_key_trusted_for_one_call_revokes_nothing(tmp_path: Path) -> None:
    ci = signing().also("ci", MALLORY.public)
    record = add(tmp_path)
    revoked = append(
        tmp_path, lambda n, before: revocation(n, before, record, signer="ci"), MALLORY, ci
    )

    found = standing(revoked, read_chain(tmp_path, ci), ci)

    assert "signed by 0 trusted signers, and 1 must" in found.problems[0]


@pytest.mark.parametrize(("profile", "holds"), [("pull_request", True), ("release", False)])
def test_a_key_trusted_for_one_call_never_makes_a_release_valid(
    tmp_path: Path, profile: str, holds: bool
) -> None:
    ci = signing().also("ci", MALLORY.public)
    record = append(
        tmp_path,
        lambda n, before: sign_off(n, before, profile=profile, signer="ci"),
        MALLORY,
        ci,
    )

    found = standing(record, read_chain(tmp_path, ci), ci)

    assert (found.problems == ()) is holds
    assert not holds or "for this call and pull requests only" in found.remarks[0]


def test_nothing_in_a_guests_entry_can_make_him_sign_a_release() -> None:
    guest = signing().also("ci", MALLORY.public).signers[-1]

    assert guest.profiles == {"pull_request"}
    assert not replace(guest, profiles=frozenset({"release"})).may_sign("A", "release")


def test_a_trusted_key_is_not_made_less_by_naming_it_again() -> None:
    assert signing().also("ci", ALICE.public) == signing()


def test_a_guest_cannot_take_a_signers_name() -> None:
    with pytest.raises(ValueError, match="another key"):
        signing().also("alice", MALLORY.public)


def test_a_signer_whose_key_comes_later_counts_for_his_phases_only() -> None:
    late = {"name": "ci", "phases": ["B"], "profiles": ["pull_request"]}
    found = Signing.of(SigningRules.model_validate({"threshold": 1, "signer": [late]}))

    (ci,) = found.also("ci", MALLORY.public).signers
    assert ci.may_sign("B", "pull_request")
    assert not ci.may_sign("A", "pull_request")
    assert not ci.may_sign("B", "release")


def test_a_revoked_record_holds_no_longer_and_no_older_one_stands_in(tmp_path: Path) -> None:
    add(tmp_path)
    revoke(tmp_path, add(tmp_path), BOB, signer="bob", reason="the corpus was wrong")

    with pytest.raises(RecordRefused) as caught:
        verified_head(tmp_path, rules())
    assert "revoked by bob on 2026-01-01 (0003-revocation.json): the corpus was wrong" in str(
        caught.value
    )


def test_a_sign_off_after_a_revocation_holds(tmp_path: Path) -> None:
    revoke(tmp_path, add(tmp_path))
    record = add(tmp_path)

    head = verified_head(tmp_path, rules(), history=KNOWN)
    assert isinstance(head, SignOff)
    assert head == record.statement


def test_one_signer_is_enough_to_revoke(tmp_path: Path) -> None:
    record = add(tmp_path)
    add_signature(record.file, BOB, signing(2))
    again = read_chain(tmp_path, signing()).records[0]
    revoke(tmp_path, again)

    with pytest.raises(RecordRefused, match="revoked by alice"):
        verified_head(tmp_path, rules(2))
