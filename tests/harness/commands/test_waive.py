import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.harness.samples import BACKEND, write_corpus

SAID = ["--owner", "adk-runtime", "--impact", "None.", "--reason", "Later."]


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three cassettes: one differs, one stalls and one agrees."""
    monkeypatch.chdir(tmp_path)
    write_corpus(
        tmp_path / "cassettes", a__differs="loses usage", a__same="plain", a__stuck="stalls"
    )
    (tmp_path / "parity_tests").mkdir()
    (tmp_path / "parity_tests" / "waivers.toml").write_text("# mine\nformat = 1\n# to the end\n")
    return tmp_path


def test_it_proposes_what_covers_the_first_cause_and_names_the_others(here: Path) -> None:
    result = invoke("waive", "a/differs", "--as-of", "2026-06-01")

    assert result.exit_code == 0, result.output
    (entry,) = tomllib.loads(result.stdout)["waiver"]
    assert (entry["scenario"], entry["channel"]) == ("a/differs", "events")
    assert (entry["between"], entry["candidate"]) == (["legacy", "adk"], "<absent>")
    assert entry["owner"].startswith("<to be written")
    assert str(entry["expires"]) == "2026-08-30"
    assert "it does not cover --fingerprint" in result.stderr
    assert "to complete: owner, impact, reason" in result.stderr


def test_appended_it_is_behind_what_the_file_holds_and_accepted(here: Path) -> None:
    file = here / "parity_tests" / "waivers.toml"
    before = invoke("run", "-k", "differs")
    while True:  # one difference after the other
        result = invoke("waive", "a/differs", *SAID, "--append")
        if result.exit_code:
            break

    assert before.exit_code == 1
    assert "unwaived difference" in result.output
    assert file.read_text().startswith("# mine\nformat = 1\n# to the end\n\n[[waiver]]\n")
    assert len(tomllib.loads(file.read_text())["waiver"]) > 1
    assert invoke("run", "-k", "differs").exit_code == 0
    assert list(file.parent.iterdir()) == [file]


def test_appended_without_its_words_the_file_is_refused_by_name(here: Path) -> None:
    assert invoke("waive", "a/differs", "--append").exit_code == 0

    result = invoke("run", "-k", "differs")

    assert result.exit_code == 2
    assert "waiver[0].impact: must be completed by you" in result.output


def test_a_file_that_is_not_there_is_made(here: Path) -> None:
    file = here / "new" / "waivers.toml"

    result = invoke("waive", "a/differs", *SAID, "--append", "--waivers", file)

    assert result.exit_code == 0, result.output
    assert file.read_text().startswith("format = 1\n\n[[waiver]]\n")


def test_a_finding_is_read_from_a_journal(here: Path) -> None:
    invoke("run", "--journal", "j.jsonl")

    named = invoke("waive", "a/differs", "--journal", "j.jsonl", "--as-of", "2026-06-01")
    alone = invoke("waive", "--journal", "j.jsonl", "--as-of", "2026-06-01")
    run = invoke("waive", "a/differs", "--as-of", "2026-06-01")
    (here / "out").mkdir()
    (here / "j.jsonl").rename(here / "out" / "j.jsonl")
    folder = invoke("waive", "--journal", "out", "--as-of", "2026-06-01")

    assert folder.stdout == named.stdout
    assert named.exit_code == alone.exit_code == 0
    assert named.stdout == alone.stdout == run.stdout


def test_another_difference_is_chosen_by_its_fingerprint(here: Path) -> None:
    first = invoke("waive", "a/differs")
    other = first.stderr.partition("--fingerprint ")[2].split()[0]

    chosen = invoke("waive", "a/differs", "--fingerprint", other[:6].upper())

    assert chosen.exit_code == 0
    assert tomllib.loads(chosen.stdout)["waiver"][0]["id"].endswith(other[:6])
    assert chosen.stdout != first.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "no cassette is named"),
        (["a/nothing"], 2, "no cassette 'a/nothing'"),
        (["a/"], 2, "name one of"),
        (["a/same"], 2, "unwaived difference"),
        (["a/stuck"], 3, "an inconclusive case cannot be waived"),
        (["a/differs", "--fingerprint", "zz"], 2, "no open difference has the fingerprint"),
        (["a/differs", "--fingerprint", ""], 2, "no open difference has the fingerprint"),
        (["a/differs", "--owner", "Ada Lovelace"], 2, "owner"),
        (["a/differs", "--control", "legcy"], 2, "unknown runtime"),
        (["a/differs", "--days", "0"], 2, "--days"),
        (["a/differs", "--days", "400"], 2, "--days"),
        (["a/differs", "--waivers", "missing.toml"], 2, "missing.toml"),
        (["a/differs", "--journal", "missing.jsonl"], 2, "missing.jsonl"),
        (["a/differs", "--append", "--waivers", "/proc/x/w.toml"], 2, "cannot be written"),
    ],
)
def test_what_cannot_be_waived_is_reported(
    here: Path, arguments: list[str], code: int, words: str
) -> None:
    result = invoke("waive", *arguments)

    assert result.exit_code == code
    assert words in result.output
    assert "Traceback" not in result.output


def test_an_id_that_is_there_already_leaves_the_file_as_it_is(here: Path) -> None:
    file = here / "parity_tests" / "waivers.toml"
    invoke("waive", "a/differs", *SAID, "--append", "--id", "W1")
    before = file.read_text()

    result = invoke("waive", "a/differs", *SAID, "--append", "--id", "W1")

    assert result.exit_code == 2
    assert "'W1' occurs twice" in result.output
    assert file.read_text() == before


def test_help_has_exit_codes_and_examples() -> None:
    words = invoke("waive", "--help").output

    assert "Exit codes: 0 an entry was proposed" in words
    assert "parity waive --journal" in words
