from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import load_cassette
from harness.errors import UsageError
from harness.scenarios.found import FoundCassette, found_name, read_found, write_found
from tests.harness.scenarios.made_up import document, files


def found(**changes: Any) -> FoundCassette:
    given: dict[str, Any] = {
        "document": document(),
        "fingerprint": "0123456789ab",
        "control": "legacy",
        "candidate": "adk",
        "fault": None,
        "profile": "everything",
        "seed": 7,
        "block": 3,
        "kind": "generated",
        "says": "events[1] usage: inputTokens (changed)\nlegacy: 1\nadk:    2",
        "way": "search",
        "plan": "fedc",
    }
    return FoundCassette(**{**given, **changes})


def test_a_finding_is_a_cassette_that_says_what_differs_and_how_to_replay_it(
    tmp_path: Path,
) -> None:
    file = write_found(tmp_path, found())

    assert files(tmp_path) == ["generated/everything_0123456789ab.yaml"]
    cassette = load_cassette(file, tmp_path)
    assert cassette.name == "generated/everything_0123456789ab"
    assert cassette.note == "adk against legacy: events[1] usage: inputTokens (changed)"
    assert cassette.provenance.kind == "generated"
    assert cassette.provenance.seed == 7
    text = file.read_text("utf-8")
    assert text.startswith("# events[1] usage: inputTokens (changed)\n# legacy: 1\n# adk:    2\n")
    assert "profile everything, seed 7, block 3, drawn by search" in text
    assert f"# replay: parity run {file} --control legacy --candidate adk --trust\n" in text


def test_the_scenario_is_kept_as_it_was(tmp_path: Path) -> None:
    awkward = "two\nlines \t\x07 \u2028 \U0001f600 # not a comment: 'quoted'"
    file = write_found(tmp_path, found(document={**document(), "script": [{"send": awkward}]}))

    assert load_cassette(file, tmp_path).document["script"] == [{"send": awkward}]


def test_the_facts_in_the_head_are_read(tmp_path: Path) -> None:
    file = write_found(tmp_path, found())
    tmp_path.joinpath("generated", "notes.yaml").write_text("cassette: 1\n")

    (known,) = read_found(tmp_path)

    assert known.file == file
    assert (known.fingerprint, known.control, known.candidate) == ("0123456789ab", "legacy", "adk")
    assert (known.fault, known.plan) == (None, "fedc")


def test_a_difference_that_imitates_the_head_is_not_taken_for_it(tmp_path: Path) -> None:
    write_found(tmp_path, found(says="finding: ffff\nsides: a b\nfault: c\nplan: d"))

    (known,) = read_found(tmp_path)

    assert (known.fingerprint, known.control, known.plan) == ("0123456789ab", "legacy", "fedc")
    assert known.fault is None


def test_one_file_for_a_finding_its_shrunk_scenario_takes_the_place(tmp_path: Path) -> None:
    write_found(tmp_path, found())
    file = write_found(tmp_path, found(kind="shrunk", says="smaller"))

    assert files(tmp_path) == ["generated/everything_0123456789ab.yaml"]
    assert load_cassette(file, tmp_path).provenance.kind == "shrunk"
    assert list(tmp_path.rglob("*.part")) == []


def test_other_sides_and_faults_are_other_findings() -> None:
    names = {
        found_name(found()),
        found_name(found(control="upstream@0.60.0", candidate="legacy")),
        found_name(found(fault="usage-dropped")),
        found_name(found(profile=None)),
    }

    assert len(names) == 4
    assert "generated/everything_0123456789ab_upstream-0.60.0_legacy" in names


@pytest.mark.parametrize(
    "change", [{"fault": "usage-dropped"}, {"over_bytes": True}], ids=["fault", "bytes"]
)
def test_a_finding_that_a_replay_does_not_show_has_a_command(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    file = write_found(tmp_path, replace(found(command="parity generate --seed 7"), **change))

    text = file.read_text("utf-8")
    assert "# replay:" not in text
    assert "again: parity generate --seed 7" in text


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    tmp_path.joinpath("generated").write_text("in the way")

    with pytest.raises(UsageError, match=r"generated.*--found"):
        write_found(tmp_path, found())
