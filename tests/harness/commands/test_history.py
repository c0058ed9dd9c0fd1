from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.report.journal import read_journal
from harness.report.kept import JOURNALS, kept_journals
from tests.harness.samples import BACKEND, write_corpus


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus, in which commands are run."""
    write_corpus(tmp_path / "cassettes", a__1="plain", a__2="loses usage", b__3="crashes")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more: object) -> Result:
    return invoke("run", "--keep", *more)


def judged() -> list[str]:
    """The cases of the newest journal that is one."""
    kept = [file for file in kept_journals() if file.stat().st_size]
    return list(read_journal(kept[-1]).finished)


def test_a_run_leaves_its_journal_behind(here: Path) -> None:
    run()

    assert judged() == ["a/1", "a/2", "b/3"]


def test_a_run_with_a_journal_of_its_own_leaves_a_copy(here: Path) -> None:
    run("--journal", "j")

    assert kept_journals()[-1].read_bytes() == (here / "j").read_bytes()


def test_of_a_run_that_was_gone_on_with_the_copy_is_exchanged(here: Path) -> None:
    run("--journal", "j")
    lines = (here / "j").read_text().splitlines(keepends=True)
    (here / "j").write_text("".join(lines[:6]))

    run("--journal", "j", "--resume")
    run("--journal", kept_journals()[-1], "--resume")

    assert len(kept_journals()) == 1
    assert judged() == ["a/1", "a/2", "b/3"]


def test_a_run_that_was_stopped_says_how_to_go_on(here: Path) -> None:
    write_corpus(here / "cassettes", a__2="interrupts")
    named, unnamed, lost = run("--journal", "my j"), run(), run("--no-keep")

    assert "to continue: the same command with --journal 'my j' --resume" in named.output
    assert (
        f"to continue: the same command with --journal {kept_journals()[-1]} --resume"
        in unnamed.output
    )
    assert "to go on" not in lost.output


def test_a_run_that_shall_leave_nothing_leaves_nothing(here: Path) -> None:
    run("--no-keep")

    assert not (here / ".parity").exists()


def test_a_folder_that_cannot_be_written_is_no_reason_not_to_run(here: Path) -> None:
    (here / ".parity").write_text("a file")

    assert run("-k", "a/1").exit_code == 0


def test_an_interrupted_run_is_a_last_run_too(here: Path) -> None:
    write_corpus(here / "cassettes", a__1="plain", a__2="interrupts", b__3="plain")
    run()
    write_corpus(here / "cassettes", a__2="plain")

    result = run("--last-failed")

    assert result.exit_code == 0
    assert "2 cases not parity or never judged" in result.output
    assert judged() == ["a/2", "b/3"]


def test_only_what_was_not_parity_is_run_again(here: Path) -> None:
    run()
    write_corpus(here / "cassettes", a__2="plain")

    first = run("--last-failed")
    second = run("--last-failed")
    write_corpus(here / "cassettes", b__3="plain")
    third = run("--last-failed")
    fourth = run("--last-failed")

    assert first.output.startswith(f"last run: {JOURNALS}")
    assert "2 cases not parity" in first.output
    assert (first.exit_code, second.exit_code, third.exit_code, fourth.exit_code) == (3, 3, 0, 0)
    assert "0 cases not parity" in fourth.output
    assert judged() == ["b/3"]


def test_what_could_not_be_loaded_is_run_again(here: Path) -> None:
    write_corpus(here / "cassettes", a__2="broken", b__3="plain")
    run()
    write_corpus(here / "cassettes", a__2="plain")

    assert run("--last-failed").exit_code == 0
    assert judged() == ["a/2"]


def test_a_named_journal_says_what_failed_and_is_not_written(here: Path) -> None:
    run("--journal", "j")
    before = (here / "j").read_bytes()

    run("--last-failed", "--journal", "j")

    assert judged() == ["a/2", "b/3"]
    assert (here / "j").read_bytes() == before


def test_the_last_run_is_one_of_the_same_sides(here: Path) -> None:
    run()
    run("--candidate", "legacy", "--journal", "other")
    (here / JOURNALS / "20990101T000000Z-1.jsonl").write_text("")

    run("--last-failed")
    named = run("--last-failed", "--journal", "other")

    assert judged() == ["a/2", "b/3"]
    assert named.exit_code == 2
    assert (
        "is from a run of legacy and legacy; add --control legacy --candidate legacy"
        in named.output
    )


def test_a_waiver_takes_a_case_from_what_failed(here: Path) -> None:
    run()
    common = 'impact = "i"\nreason = "r"\nowner = "adk"\nexpires = 2100-12-31\nmax_count = 9\n'
    (here / "w.toml").write_text(
        "format = 1\n"
        '[[waiver]]\nid = "W1"\nscenario = "a/*"\nchannel = "events"\npath = ""\n'
        f'control = "re:.*usage.*"\ncandidate = "<absent>"\n{common}'
        '[[waiver]]\nid = "W2"\nscenario = "a/*"\nchannel = "cost"\npath = "tokens.*"\n'
        f'control = "re:.*"\ncandidate = 0\n{common}'
    )

    run("--last-failed", "--waivers", "w.toml")

    assert judged() == ["b/3"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--last-failed",), ".parity/journals has no journal of a run of legacy and adk"),
        (("--last-failed", "--resume", "--journal", "j"), "leave one out"),
        (("--last-failed", "--journal", "gone"), "cannot be read"),
    ],
)
def test_a_last_run_that_there_is_none_of_is_wrong_usage(
    here: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert words in result.output


def test_a_failed_case_whose_cassette_is_gone_is_reported(here: Path) -> None:
    run("-k", "a/2")
    (here / "cassettes" / "a" / "2.yaml").unlink()

    result = run("--last-failed")

    assert result.exit_code == 2
    assert "the cassettes contain none of these cases" in result.output


def test_a_cassettes_history_lists_each_run_and_what_had_changed(here: Path) -> None:
    run("--as-of", "2026-01-01")
    write_corpus(here / "cassettes", a__1="plain, other", a__2="plain")
    run("--as-of", "2026-01-02")
    run("--repeat", "2")

    result = invoke("history", "a/2")

    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "a/2"
    assert "legacy and adk: divergent: events[4] usage (missing) [" in lines[1]
    assert lines[2] == "    changed: corpus: a/2 changed"
    assert lines[3].endswith("no revision  legacy and adk: parity")
    assert lines[4] == "    changed: repeat was 1 and is 2"
    assert lines[5].endswith("legacy and adk: parity")
    assert len(lines) == 6


def test_runs_of_other_sides_are_not_held_against_each_other(here: Path) -> None:
    run()
    run("--candidate", "legacy")
    run()

    assert "changed:" not in invoke("history", "a/2").output


def test_a_part_of_a_name_that_one_cassette_has_will_do(here: Path) -> None:
    run("-k", "a")

    assert invoke("history", "2").output.startswith("a/2\n")


def test_runs_that_did_not_take_it_on_are_left_out_and_others_say_why_they_say_nothing(
    here: Path,
) -> None:
    write_corpus(here / "cassettes", a__1="plain", a__2="phase B", b__3="broken")
    run("-k", "a/1")
    run("--phase", "A")

    assert "skipped" in invoke("history", "a/2").output
    assert "not loaded: " in invoke("history", "b/3").output
    assert len(invoke("history", "b/3").output.splitlines()) == 2


def test_journals_elsewhere_and_those_that_are_none(here: Path) -> None:
    run("--journal", "nightly/1.jsonl")
    (here / "nightly" / "2.jsonl").write_text("no journal\n")

    result = invoke("history", "a/1", "--journals", "nightly", "--journals", "nightly/1.jsonl")

    assert result.exit_code == 0
    assert result.output.count("legacy and adk: parity") == 1
    assert "skipped: nightly/2.jsonl: line 1 is not the header of a journal" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a/22",), "did you mean a/2"),
        (("zzzzzz",), "see `parity list`"),
        (("a",), "'a' matches several cassettes; name one of a/1, a/2"),
        (("a/1", "--journals", "gone"), "gone cannot be read: it does not exist"),
        (("a/1", "--journals", "cassettes"), "no journals in cassettes"),
    ],
)
def test_a_history_that_cannot_be_shown_is_one_clear_message(
    here: Path, arguments: tuple[str, ...], words: str
) -> None:
    run()

    result = invoke("history", *arguments)

    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
