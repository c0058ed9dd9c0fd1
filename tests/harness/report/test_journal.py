import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.parity.verdict import CaseResult
from harness.report.journal import Journal, JournalHeader, read_journal

HEADER = JournalHeader(
    control="legacy",
    candidate="adk",
    corpus="c1",
    waivers="w1",
    as_of="2026-06-01",
    repeat=1,
    trust=False,
    versions={"code": "1", "google-adk": "2.13.0"},
)
RESULT = CaseResult(cassette="a/one", digests=("1", "1"))


def journal_of(file: Path, *results: CaseResult, in_flight: str | None = None) -> Path:
    with Journal(file, HEADER) as journal:
        for result in results:
            journal.started(result.cassette)
            journal.closed(result)
        if in_flight is not None:
            journal.started(in_flight)
    return file


def test_a_line_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        journal.started("a/one")
        after_start = (tmp_path / "j").read_text().splitlines()
        journal.closed(RESULT)
        after_end = (tmp_path / "j").read_text().splitlines()

    assert json.loads(after_start[-1]) == {"started": "a/one"}
    assert json.loads(after_end[-1])["finished"] == "a/one"
    assert json.loads(after_end[-1])["verdict"] == "parity"
    assert json.loads(after_end[-1])["digests"] == ["1", "1"]


def test_it_reads_back_what_was_written(tmp_path: Path) -> None:
    record = read_journal(journal_of(tmp_path / "j", RESULT, in_flight="a/two"))

    assert record.header == HEADER
    assert record.finished == {"a/one": RESULT}
    assert record.in_flight == ("a/two",)
    assert (record.torn, record.ended) == (False, False)


def test_it_says_that_the_run_came_to_its_end(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        journal.ended()

    assert read_journal(tmp_path / "j").ended


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_costs_that_line_only(tmp_path: Path, cut: int) -> None:
    file = journal_of(tmp_path / "j", RESULT, replace(RESULT, cassette="a/two"))
    file.write_bytes(file.read_bytes()[:-cut])

    record = read_journal(file)

    assert record.torn
    assert list(record.finished) == ["a/one"]
    assert record.in_flight == ("a/two",)


def test_resuming_goes_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    file = journal_of(tmp_path / "j", RESULT, in_flight="a/two")
    file.write_bytes(file.read_bytes() + b'{"finished": "a/tw')

    with Journal(file, HEADER, resume=True) as journal:
        assert journal.finished == {"a/one": RESULT}
        journal.closed(replace(RESULT, cassette="a/two"))

    record = read_journal(file)
    assert list(record.finished) == ["a/one", "a/two"]
    assert not record.torn


def test_without_resume_a_journal_begins_anew(tmp_path: Path) -> None:
    file = journal_of(tmp_path / "j", RESULT)
    with Journal(file, HEADER):
        pass

    assert read_journal(file).finished == {}


def test_resuming_without_a_journal_begins_one(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "j", HEADER, resume=True) as journal:
        assert journal.finished == {}

    assert read_journal(tmp_path / "new" / "j").header == HEADER


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(HEADER, candidate="legacy"), "candidate was 'adk' and is 'legacy'"),
        (replace(HEADER, corpus="c2"), "corpus was 'c1' and is 'c2'"),
        (replace(HEADER, trust=True), "trust was False and is True"),
        (replace(HEADER, versions={"code": "2"}), "code was '1' and is '2'"),
        (replace(HEADER, versions={"code": "1"}), "google-adk was '2.13.0' and is None"),
    ],
)
def test_a_run_that_differs_is_not_resumed_and_it_says_in_what(
    tmp_path: Path, other: JournalHeader, words: str
) -> None:
    file = journal_of(tmp_path / "j", RESULT)
    before = file.read_bytes()

    with pytest.raises(UsageError, match="another run") as caught:
        Journal(file, other, resume=True)

    assert words in str(caught.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json\n",
        "[]\n",
        '{"journal": 2}\n',
        '{"journal": 1}\n',
        json.dumps({"journal": 1, "surprise": 1}) + "\n",
    ],
)
def test_what_is_no_journal_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "j").write_text(text)

    with pytest.raises(UsageError):
        read_journal(tmp_path / "j")


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    file = journal_of(tmp_path / "j", RESULT)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], '{"finished": "a/one"}', *lines[1:]]) + "\n")

    with pytest.raises(UsageError, match="line 2"):
        read_journal(file)


def test_a_place_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be written"):
        Journal(tmp_path / "file" / "j", HEADER)
