import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.signoff.records import read_record
from harness.signoff.statement import SignOff
from tests.harness.samples import BACKEND, write_corpus
from tests.harness.signoff.signable import Signable, git, signable


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signable]:
    yield from signable(tmp_path, monkeypatch)


def signed(checkout: Signable, name: str = "0001-A-release.json") -> SignOff:
    said = read_record(checkout.signoffs / name).statement
    assert isinstance(said, SignOff)
    return said


def nothing_written(checkout: Signable) -> bool:
    return not checkout.signoffs.exists() or not list(checkout.signoffs.iterdir())


def edit_journal(line: str, **changes: Any) -> None:
    """Change the lines of the journal that have this key."""
    file = Path("parity-report/leg.jsonl")
    lines = [json.loads(each) for each in file.read_text().splitlines()]
    changed = [{**each, **changes} if line in each else each for each in lines]
    file.write_text("".join(json.dumps(each) + "\n" for each in changed))


def test_a_yes_that_comes_out_again_is_signed(checkout: Signable) -> None:
    result = checkout.sign()

    assert result.exit_code == 0, result.output
    said = signed(checkout)
    assert (said.number, said.predecessor, said.signer) == (1, None, "alice")
    assert sorted(said.traces) == ["a/1", "a/2", "b/2"]
    assert said.replayed.cases == 3
    assert [each.kind for each in said.evidence] == ["journal", "kill matrix"]
    assert said.components["waivers"].parts.keys() == {"W1", "W2"}
    assert (checkout.signoffs / "HEAD").is_file()


def test_what_is_signed_is_shown_with_what_it_does_not_say(checkout: Signable) -> None:
    output = checkout.sign().output

    assert "leg legacy ≡ adk: 3 of 3 cases parity, 3 differences waived" in output
    said = output[output.index("what this does not say:") :]
    assert "Nothing is said of the phases B (local subagents), C (interactive)." in said
    assert "No run compares legacy with the published core" in said
    assert "Where these waivers apply the runtimes do differ: W1, W2." in said


def test_the_next_record_names_the_one_before(checkout: Signable) -> None:
    checkout.sign()
    assert checkout.sign(profile="pull_request").exit_code == 0

    said = signed(checkout, "0002-A-pull_request.json")
    assert said.predecessor is not None
    assert said.predecessor.file == "0001-A-release.json"


def test_a_gate_that_does_not_say_yes_is_not_signed(checkout: Signable) -> None:
    Path("parity-report/kills.json").unlink()

    result = checkout.sign()

    assert result.exit_code == 3
    assert "the gate says unknown: all: there is no kill matrix" in result.output
    assert nothing_written(checkout)


def test_a_gate_that_says_no_is_not_signed(checkout: Signable) -> None:
    result = checkout.sign("--as-of", "2100-06-01")

    assert result.exit_code == 1
    assert "the gate says no" in result.output
    assert nothing_written(checkout)


@pytest.mark.parametrize("where", ["changed", "untracked", "hidden"])
def test_a_dirty_checkout_is_refused(checkout: Signable, where: str) -> None:
    ignore = checkout.root / ".gitignore"
    if where == "untracked":
        (checkout.root / "notes.txt").write_text("x")
    else:
        ignore.write_text(ignore.read_text() + "x\n")
    if where == "hidden":
        git(checkout.root, "update-index", "--assume-unchanged", ".gitignore")

    result = checkout.sign()

    assert result.exit_code == 1
    assert "is not as committed" in result.output
    assert nothing_written(checkout)


def test_what_is_in_no_checkout_is_refused(checkout: Signable) -> None:
    (checkout.root / ".git").rename(checkout.root / "was-git")

    result = checkout.sign()

    assert result.exit_code == 1
    assert "is in no checkout" in result.output


def test_the_folder_of_records_does_not_make_the_checkout_dirty(checkout: Signable) -> None:
    checkout.sign()

    assert checkout.sign().exit_code == 0


def test_a_journal_with_other_traces_is_refused_by_case(checkout: Signable) -> None:
    edit_journal("blockers", digests=["0" * 64, "1" * 64])

    result = checkout.sign()

    assert result.exit_code == 1
    assert "3 of 3 did not come out as journalled: a/1: legacy and adk left another" in (
        result.output
    )
    assert nothing_written(checkout)


def journal_of(checkout: Signable, **cases: str) -> list[dict[str, Any]]:
    """The lines of the journal of a run with these cases too, whatever its verdict."""
    write_corpus(checkout.root / "cassettes", **cases)
    checkout.commit()
    with suppress(AssertionError):  # that it is parity
        checkout.journal()
    checkout.measure()
    text = Path("parity-report/leg.jsonl").read_text()
    return [json.loads(each) for each in text.splitlines()]


def instead(
    lines: list[dict[str, Any]], name: str, other: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Write the journal with something else in the place of a case's result."""
    made = [other(line) if line.get("finished") == name else line for line in lines]
    text = "".join(json.dumps(each) + "\n" for each in made)
    Path("parity-report/leg.jsonl").write_text(text)


def test_a_divergence_that_was_taken_out_of_the_journal_is_found_again(checkout: Signable) -> None:
    lines = journal_of(checkout, c__1="loses usage")
    clean = {"divergences": [], "verdict": "parity", "timelines": ""}
    instead(lines, "c/1", lambda line: line | clean)

    result = checkout.sign()

    assert result.exit_code == 1
    assert "c/1: its verdict, divergences are not as journalled" in result.output
    assert nothing_written(checkout)


@pytest.mark.parametrize(
    ("phase", "code", "says"),
    [(None, 3, "1 case skipped: c/1"), ("A", 1, "c/1: the journal says that it was skipped")],
)
def test_a_case_that_the_journal_only_says_was_skipped_is_found(
    checkout: Signable, phase: str | None, code: int, says: str
) -> None:
    lines = journal_of(checkout, c__1="loses usage")
    lines[0]["phase"] = phase
    instead(lines, "c/1", lambda line: {"skipped": line["finished"]})

    result = checkout.sign()

    assert result.exit_code == code
    assert says in result.output
    assert nothing_written(checkout)


def test_a_case_that_is_said_to_be_of_another_phase_is_found(checkout: Signable) -> None:
    lines = journal_of(checkout, c__1="loses usage")
    instead(lines, "c/1", lambda line: line | {"phase": "C"})

    result = checkout.sign()

    assert result.exit_code == 1
    assert "c/1: its phase is not as journalled" in result.output


HANDOVER = """
[[phase.A.leg]]
name = "begun in adk"
control = "legacy+legacy"
candidate = "adk+legacy"
min_cases = 1
[phase.A.classes]"""


@pytest.mark.parametrize("tampered", [False, True])
def test_sessions_that_change_hands_are_run_again_too(checkout: Signable, tampered: bool) -> None:
    gates = checkout.root / "parity_tests" / "gates.toml"
    gates.write_text(gates.read_text().replace("\n[phase.A.classes]", HANDOVER, 1))
    checkout.commit()
    checkout.journal()
    handing = replace(BACKEND, can_hand_over=lambda cassette: cassette.name != "a/2")
    sides = ["--control", "legacy+legacy", "--candidate", "adk+legacy"]
    back = Path("parity-report/back.jsonl")
    checkout.invoke("run", "cassettes", *sides, "--journal", back, backend=handing)
    if tampered:
        back.write_text(back.read_text().replace('"digests": ["', '"digests": ["0', 1))

    result = checkout.sign(backend=handing)

    assert result.exit_code == int(tampered), result.output
    assert "running 2 cases again: legacy+legacy and adk+legacy" in result.output
    assert ("a/1: legacy+legacy left another trace" in result.output) is tampered


def test_cases_of_another_phase_are_skipped_again(checkout: Signable) -> None:
    lines = journal_of(checkout, c__1="phase B")
    lines[0]["phase"] = "A"
    instead(lines, "c/1", lambda line: {"skipped": line["finished"]})

    result = checkout.sign()

    assert result.exit_code == 0, result.output
    assert sorted(signed(checkout).traces) == ["a/1", "a/2", "b/2"]


def test_evidence_of_other_code_is_refused(checkout: Signable) -> None:
    (checkout.root.parent / "code" / "services" / "clock.py").write_text("TICK = 2\n")

    result = checkout.sign()

    assert result.exit_code == 3
    assert "services/clock.py changed" in result.output


def test_nothing_is_signed_without_a_word_of_consent(checkout: Signable) -> None:
    words = ["--phase", "A", "--journal", "parity-report", "--key", checkout.key("alice")]

    result = checkout.invoke("sign", *words)

    assert result.exit_code == 2
    assert "there is no terminal for a confirmation; give --yes" in result.output
    assert nothing_written(checkout)


def test_a_key_that_the_gates_do_not_name_signs_no_release(checkout: Signable) -> None:
    checkout.keygen("mallory")

    result = checkout.sign("--signer", "mallory", key="mallory")

    assert result.exit_code == 1
    assert "the key is no signer's of release records" in result.output
    assert nothing_written(checkout)


def test_a_throwaway_key_signs_for_a_pull_request(checkout: Signable) -> None:
    checkout.keygen("ci")
    unnamed = checkout.sign(key="ci", profile="pull_request")
    assert unnamed.exit_code == 1
    assert "say who signs with --signer" in unnamed.output

    assert checkout.sign("--signer", "ci", key="ci", profile="pull_request").exit_code == 0
    assert signed(checkout, "0001-A-pull_request.json").signer == "ci"


def test_a_key_cannot_sign_under_the_name_of_another_signer(checkout: Signable) -> None:
    checkout.keygen("ci")
    wrong = checkout.sign("--signer", "bob")
    assert "the key is alice's, not bob's" in wrong.output

    taken = checkout.sign("--signer", "bob", key="ci", profile="pull_request")
    assert "bob signs with another key" in taken.output
    assert nothing_written(checkout)


def test_a_key_that_others_can_read_is_refused(checkout: Signable) -> None:
    checkout.key("alice").chmod(0o644)

    result = checkout.sign()

    assert result.exit_code == 2
    assert f"chmod 600 {checkout.key('alice')}" in result.output


def test_the_key_is_nowhere_to_be_seen(checkout: Signable) -> None:
    lines = [each for each in checkout.key("alice").read_text().splitlines() if "---" not in each]
    result = checkout.sign()

    written = "".join(file.read_text() for file in checkout.signoffs.iterdir())
    assert lines
    assert not any(line in result.output + written for line in lines)


def test_a_broken_chain_is_not_gone_on_with(checkout: Signable) -> None:
    checkout.sign()
    (checkout.signoffs / "0001-A-release.json").unlink()

    result = checkout.sign()

    assert result.exit_code == 1
    assert "rolled back" in result.output


def test_a_link_in_the_place_of_the_next_record_is_not_followed(checkout: Signable) -> None:
    checkout.signoffs.mkdir()
    elsewhere = checkout.root.parent / "elsewhere"
    (checkout.signoffs / "0001-A-release.json").symlink_to(elsewhere)

    result = checkout.sign()

    assert result.exit_code == 1
    assert not elsewhere.exists()


def test_a_second_signer_signs_the_same_after_the_same_checks(checkout: Signable) -> None:
    checkout.sign()
    record = checkout.signoffs / "0001-A-release.json"
    payload = read_record(record).envelope.payload
    add = ["sign", "--add", record, "--journal", "parity-report", "--yes"]

    assert checkout.invoke(*add, "--key", checkout.key("bob")).exit_code == 0

    both = read_record(record).envelope
    assert both.payload == payload
    assert len(both.signatures) == 2
    again = checkout.invoke(*add, "--key", checkout.key("bob"))
    assert (again.exit_code, "has a signature of this key" in again.output) == (1, True)


def test_a_second_signer_does_not_sign_what_no_longer_holds(checkout: Signable) -> None:
    checkout.sign()
    record = checkout.signoffs / "0001-A-release.json"
    (checkout.root / "cassettes" / "a" / "3.yaml").write_text("plain")
    checkout.commit()
    checkout.journal()

    add = ["--add", record, "--journal", "parity-report", "--yes", "--key", checkout.key("bob")]
    result = checkout.invoke("sign", *add)

    assert result.exit_code == 1
    assert "cassette a/3 new" in result.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--journal", "parity-report"], "nothing says which phase"),
        (["--phase", "A"], "name one private key"),
        (["--phase", "A", "--journal", "gone"], "is not there"),
        (["--phase", "A", "--journal", "parity-report"], "name one private key"),
        (["--phase", "A", "--journal", "parity-report", "--key", "gone"], "cannot be read"),
        (["--add", "gone.json", "--journal", "parity-report"], "cannot be read"),
        (["--add", "x", "--phase", "A", "--journal", "p"], "takes phase, profile and day"),
    ],
)
def test_wrong_usage_is_one_clear_message(checkout: Signable, words: list[str], says: str) -> None:
    if "gone" in words and "--key" not in words and "--add" not in words:
        words = [*words, "--key", str(checkout.key("alice"))]
    result = checkout.invoke("sign", *words)

    assert result.exit_code in (1, 2)
    assert says in result.output
    assert "Traceback" not in result.output
    assert nothing_written(checkout)


def test_a_record_that_cannot_be_written_leaves_nothing_behind(
    checkout: Signable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(part: object, file: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupted)
    result = checkout.sign()

    assert result.exit_code == 130
    assert nothing_written(checkout)


def test_for_a_pull_request_some_cases_may_be_run_again_and_that_is_said(
    checkout: Signable,
) -> None:
    checkout.keygen("ci")
    some = ["--signer", "ci", "--cases", "2"]
    result = checkout.sign(*some, key="ci", profile="pull_request")

    assert result.exit_code == 0, result.output
    said = signed(checkout, "0001-A-pull_request.json")
    assert sorted(said.traces) == ["a/1", "a/2", "b/2"]
    assert said.replayed.cases == 2
    gap = "Of the 3 cases of legacy ≡ adk only 2, drawn by chance, were run again"
    assert gap in " ".join(said.not_said)


def test_what_is_run_again_by_chance_is_held_against_the_journal(checkout: Signable) -> None:
    checkout.keygen("ci")
    edit_journal("digests", digests=["0" * 64, "0" * 64])
    some = ["--signer", "ci", "--cases", "1"]
    result = checkout.sign(*some, key="ci", profile="pull_request")

    assert result.exit_code == 1
    assert "did not come out as journalled" in result.output
    assert nothing_written(checkout)


def test_for_a_release_all_cases_are_run_again(checkout: Signable) -> None:
    result = checkout.sign("--cases", "2")

    assert result.exit_code == 2
    assert "what is signed for release is run again whole" in result.output
    assert nothing_written(checkout)
