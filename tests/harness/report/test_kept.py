from datetime import UTC, datetime
from pathlib import Path

from harness.report.kept import MOST, keep_copy, kept_journals, kept_place, prune

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_runs_of_one_second_have_different_names_and_are_sorted(tmp_path: Path) -> None:
    made = [kept_place(NOON, tmp_path / "deep") for _ in range(11)]

    assert made[0] == tmp_path / "deep" / "20260601T120000Z-1.jsonl"
    assert kept_journals(tmp_path / "deep") == made


def test_git_ignores_them(tmp_path: Path) -> None:
    kept_place(NOON, tmp_path / "journals")

    assert (tmp_path / "journals" / ".gitignore").read_text() == "*\n"


def test_the_newest_are_kept_and_other_files_left_alone(tmp_path: Path) -> None:
    made = [kept_place(NOON.replace(minute=n), tmp_path) for n in range(MOST + 3)]
    (tmp_path / "mine.jsonl").write_text("")

    prune(tmp_path)

    assert kept_journals(tmp_path) == made[3:]
    assert (tmp_path / "mine.jsonl").exists()


def test_a_place_that_cannot_be_written_keeps_nothing_and_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    folder = tmp_path / "file" / "journals"

    assert kept_place(NOON, folder) is None
    keep_copy(tmp_path / "file", NOON, folder)
    prune(folder)
    assert kept_journals(folder) == []


def test_a_copy_is_kept_of_a_journal_that_is_somewhere_else(tmp_path: Path) -> None:
    (tmp_path / "j").write_text("text")

    keep_copy(tmp_path / "j", NOON, tmp_path / "kept")

    assert [file.read_text() for file in kept_journals(tmp_path / "kept")] == ["text"]


def test_a_copy_of_what_is_gone_leaves_nothing(tmp_path: Path) -> None:
    keep_copy(tmp_path / "gone", NOON, tmp_path / "kept")

    assert kept_journals(tmp_path / "kept") == []
