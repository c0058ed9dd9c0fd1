from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.inventory import Component, Inventory
from harness.signoff.chain import read_chain
from harness.signoff.history import History
from harness.signoff.records import Record, read_record
from harness.signoff.verification import Verification, verified
from tests.harness.signoff.signed import add, components, revoke, signing

PYTHON = {"python": "CPython 3.11"}


def now(**changed: Component) -> Inventory:
    named = {name.replace("_", " "): component for name, component in changed.items()}
    return Inventory({**components(), **named})


def check(
    record: Record,
    here: Inventory | None = None,
    environment: Mapping[str, str] = PYTHON,
    *,
    whole: bool = False,
    history: History | None = None,
) -> Verification:
    chain = read_chain(record.file.parent, signing(), history=history or History())
    cassettes = {"text/one": "cassettes/text/one.yaml"}
    return verified(record, chain, signing(), here or now(), environment, cassettes, whole=whole)


def test_a_record_holds_where_nothing_changed(tmp_path: Path) -> None:
    result = check(add(tmp_path))

    assert result.holds
    assert (result.problems, result.remarks, result.signers) == ((), (), ("alice",))
    assert result.to_json()["holds"] is True


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"corpus": Component({"text/one": "9" * 64, "text/two": "2" * 64})},
            "cassettes/text/one.yaml changed",
        ),
        ({"corpus": Component({"text/one": "1" * 64})}, "cassette text/two gone"),
        (
            {"corpus": Component({**components()["corpus"].files, "text/x": "5" * 64})},
            "cassette text/x new",
        ),
        (
            {"waivers": Component({"waivers.toml": "9" * 64}, {"W1": "9" * 64})},
            "waiver W1 changed",
        ),
        (
            {"waivers": Component({"waivers.toml": "9" * 64}, {"W1": "4" * 64, "W2": "5" * 64})},
            "waiver W2 new",
        ),
        (
            {"waivers": Component({"waivers.toml": "9" * 64}, {"W1": "4" * 64})},
            "waivers.toml changed, in nothing that has a name",
        ),
        ({"services": Component({"services/clock.py": "5" * 64})}, "services/clock.py new"),
        ({"baselines": Component({"text/one.json": "5" * 64})}, "baseline text/one.json new"),
        ({"gates": Component({"gates.toml": "5" * 64})}, "gates.toml new"),
        (
            {"fault_catalogue": Component({"services/faults/x.py": "5" * 64})},
            "services/faults/x.py new",
        ),
    ],
)
def test_what_changed_since_is_named_in_a_line(
    tmp_path: Path, changed: dict[str, Component], words: str
) -> None:
    result = check(add(tmp_path), now(**changed))

    assert result.problems == (words,)
    assert not result.holds


def test_another_machine_is_a_remark_and_no_problem(tmp_path: Path) -> None:
    here = now(distributions=Component({"click": "8.2", "new": "1"}))
    result = check(add(tmp_path), here, {"python": "CPython 3.12"})

    assert result.holds
    assert result.remarks == (
        "signed with python CPython 3.11; here is CPython 3.12",
        "other packages differ too: click, new",
    )


def test_another_version_of_a_package_that_is_asked_for_is_named(tmp_path: Path) -> None:
    record = add(tmp_path, environment={**PYTHON, "google-adk": "2.13.0"})

    assert check(record, environment={"google-adk": "2.13.9"}).problems == (
        "google-adk was 2.13.0 and is 2.13.9 here",
    )
    assert check(record, environment={"google-adk": "2.13.0"}).holds


def test_a_byte_of_the_record_is_named_as_its_signature(tmp_path: Path) -> None:
    record = add(tmp_path)
    forged = record.envelope.payload.replace(b'"2026-01-01"', b'"2026-01-02"')
    record.envelope.payload = forged

    problems = check(record).problems

    assert problems == (
        "0001-A-release.json: the record's signature does not fit its bytes (alice)",
    )


def test_a_revoked_record_does_not_hold_and_neither_does_its_phase(tmp_path: Path) -> None:
    record = add(tmp_path)
    revocation = revoke(tmp_path, record)

    assert "revoked by alice" in check(record).problems[0]
    (problem,) = check(revocation).problems
    assert problem.startswith(f"phase A has no record that stands: {record.name}: revoked by alice")


def test_a_revoked_phase_is_no_reason_against_a_record_of_another_that_is_named(
    tmp_path: Path,
) -> None:
    revoke(tmp_path, add(tmp_path))
    other = add(tmp_path, phase="B")

    assert check(other).holds
    (problem,) = check(other, whole=True).problems
    assert problem.startswith("phase A has no record that stands")


def test_the_revocation_of_an_older_record_leaves_the_newest_of_its_phase(tmp_path: Path) -> None:
    first, second = add(tmp_path), add(tmp_path)
    revocation = revoke(tmp_path, first)

    assert check(revocation, whole=True).holds
    assert check(second).holds
    assert not check(first).holds


def test_an_older_record_does_not_hold_where_the_newest_of_its_phase_was_revoked(
    tmp_path: Path,
) -> None:
    first = add(tmp_path)
    revoke(tmp_path, add(tmp_path))

    assert "phase A has no record that stands: 0002-A-release.json" in check(first).problems[0]


def test_a_record_is_undecided_where_git_cannot_say_whether_others_are_missing(
    tmp_path: Path,
) -> None:
    result = check(add(tmp_path), history=History(unknown=("there is no git",)))

    assert (result.problems, result.undecided, result.holds) == ((), ("there is no git",), False)


def test_an_older_record_is_judged_with_the_whole_chain(tmp_path: Path) -> None:
    first = add(tmp_path)
    second = add(tmp_path)
    assert check(first).holds

    second.file.unlink()
    assert "rolled back" in check(first).problems[0]


def test_what_could_not_be_found_out_does_not_hold(tmp_path: Path) -> None:
    result = replace(check(read_record(add(tmp_path).file)), undecided=("text/one: no node",))

    assert not result.holds
