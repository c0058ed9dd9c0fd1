import json
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.scenarios.shrinking.journal import ShrinkHeader, ShrinkJournal

HEADER = ShrinkHeader(
    cassette="0123456789abcdef",
    fingerprint="f",
    control="legacy",
    candidate="adk",
    fault=None,
    waivers="w",
    code="c",
)


def begun(folder: Path) -> Path:
    with ShrinkJournal(folder, HEADER, resume=False) as journal:
        journal.add("one")
        journal.kept({"a": 1})
        journal.add("two")
        journal.kept({"a": 2})
    return journal.file


def resumed(folder: Path, header: ShrinkHeader = HEADER) -> ShrinkJournal:
    with ShrinkJournal(folder, header, resume=True) as journal:
        return journal


def test_an_ended_shrinking_resumes_with_its_tries(tmp_path: Path) -> None:
    begun(tmp_path)
    with ShrinkJournal(tmp_path, HEADER, resume=True) as journal:
        journal.add("three")

    again = resumed(tmp_path)

    assert [digest in again for digest in ("one", "two", "three", "four")] == [1, 1, 1, 0]
    assert len(again) == 3
    assert again.best == {"a": 2}
    assert again.remark is None


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    begun(tmp_path)
    with ShrinkJournal(tmp_path, HEADER, resume=False) as journal:
        assert "one" not in journal

    assert resumed(tmp_path).best is None


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = begun(tmp_path)
    file.write_text(file.read_text()[:-4])

    again = resumed(tmp_path)

    assert (again.best, again.remark, "two" in again) == ({"a": 1}, None, True)
    assert all(json.loads(line) for line in file.read_text().splitlines())


@pytest.mark.parametrize(
    "text", ["", "no journal\n", "[1]\n", '"text"\n', "\x00\xff", "[" * 100_000, "{}\n"]
)
def test_a_file_that_is_no_journal_is_not_used(tmp_path: Path, text: str) -> None:
    file = begun(tmp_path)
    file.write_text(text)

    again = resumed(tmp_path)

    assert again.remark is not None
    assert "begun anew" in again.remark
    assert (len(again), again.best) == (0, None)


def test_the_journal_of_another_shrinking_is_not_used(tmp_path: Path) -> None:
    begun(tmp_path)

    again = resumed(tmp_path, replace(HEADER, code="d", fault="usage-dropped"))

    assert again.remark is not None
    assert "another fault, code" in again.remark
    assert "one" not in again


def test_a_missing_journal_is_named_and_begun_anew(tmp_path: Path) -> None:
    again = resumed(tmp_path / "new")

    assert again.remark == f"there is no {again.file} to go on with: begun anew"


def test_a_finished_shrinking_removes_its_journal(tmp_path: Path) -> None:
    with ShrinkJournal(tmp_path, HEADER, resume=False) as journal:
        journal.add("one")
        journal.ended()

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match=r"cannot be written.*work in a folder"):
        ShrinkJournal(tmp_path / "file" / "shrink", HEADER, resume=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which Linux has")
def test_a_full_disk_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / f"{HEADER.cassette}.jsonl").symlink_to("/dev/full")

    with pytest.raises(UsageError, match="cannot be written: No space"):
        ShrinkJournal(tmp_path, HEADER, resume=False)


@pytest.mark.parametrize("resume", [False, True])
def test_a_journal_has_one_writer(tmp_path: Path, resume: bool) -> None:
    file = begun(tmp_path)

    with ShrinkJournal(tmp_path, HEADER, resume=True):
        before = file.read_bytes()
        with pytest.raises(UsageError, match="is being written by process"):
            ShrinkJournal(tmp_path, HEADER, resume=resume)
        assert file.read_bytes() == before

    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    file = begun(tmp_path)
    before = file.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(UsageError, match="cannot be written: File too large"):
            ShrinkJournal(tmp_path, HEADER, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
