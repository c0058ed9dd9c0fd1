from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import LoadProblem, UsageError
from harness.experiment.case import Skipped
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseResult
from harness.report.journal import Journal, JournalRecord, read_journal
from harness.report.merged import merge, read_all, write_merged
from tests.harness.report.journals import (
    DIVERGENT,
    HEADER,
    INVENTORY,
    NAMES,
    RESULT,
    with_files,
    write_journal,
)

ALL = (
    RESULT,
    replace(RESULT, cassette="a/three"),
    DIVERGENT,
    replace(RESULT, cassette="b/four"),
)


def part(
    folder: Path, shard: str, results: Iterable[CaseResult], header: JournalHeader = HEADER
) -> JournalRecord:
    file = folder / f"{shard.replace('/', '-')}.jsonl"
    return read_journal(write_journal(file, results, header=replace(header, shard=shard)))


def results_in(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith('{"finished"')]


def test_two_shards_make_the_journal_of_one_run(tmp_path: Path) -> None:
    whole = write_journal(tmp_path / "whole", ALL, ended=True)
    second = part(tmp_path, "2/2", [ALL[1], ALL[3]])
    first = part(tmp_path, "1/2", [ALL[2], ALL[0]])

    merged = merge([second, first])
    write_merged(merged, tmp_path / "out")

    assert merged.lacks == ()
    assert results_in(tmp_path / "out") == results_in(whole)
    again, one = read_journal(tmp_path / "out"), read_journal(whole)
    assert (again.header, again.inventory, again.ended) == (one.header, one.inventory, True)
    assert again.took_ms == one.took_ms
    assert not list(tmp_path.glob(".*"))


def test_the_order_of_journals_makes_no_difference(tmp_path: Path) -> None:
    later = replace(HEADER, started_at="2026-06-01T09:00:00+00:00")
    shards = [part(tmp_path, "1/2", ALL[::2]), part(tmp_path, "2/2", ALL[1::2], later)]
    write_merged(merge(shards), tmp_path / "one")
    write_merged(merge(shards[::-1]), tmp_path / "two")

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert read_journal(tmp_path / "one").header.started_at == HEADER.started_at


def test_a_case_that_two_journals_have_alike_is_fine(tmp_path: Path) -> None:
    one = part(tmp_path, "", ALL)
    other = part(tmp_path, "1/2", [ALL[0]])

    assert merge([one, other]).record.finished == {result.cassette: result for result in ALL}


def test_a_case_of_which_two_journals_say_different_things_is_named(tmp_path: Path) -> None:
    one = part(tmp_path, "", ALL)
    other = part(tmp_path, "1/2", [replace(RESULT, digests=("1", "3"))])

    with pytest.raises(UsageError, match=r"have different results for a/one"):
        merge([one, other])


def test_two_journals_may_show_a_case_differently(tmp_path: Path) -> None:
    shown = [replace(RESULT, timelines=text) for text in ("eJw=", "eJx=")]
    records = [
        part(tmp_path, shard, [each]) for shard, each in zip(("", "1/2"), shown, strict=True)
    ]

    both = [merge(order).record.finished["a/one"] for order in (records, records[::-1])]

    assert both == [shown[0], shown[0]]


def test_a_case_that_was_judged_here_and_not_loaded_there_is_named(tmp_path: Path) -> None:
    one = part(tmp_path, "", ALL)
    with Journal(tmp_path / "j", HEADER, INVENTORY) as journal:
        journal.outcome("a/one", LoadProblem(file="a/one.yaml", message="is wrong"))

    with pytest.raises(UsageError, match=r"a/one was judged in .*, but not in another journal"):
        merge([one, read_journal(tmp_path / "j")])


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (replace(HEADER, candidate="upstream"), "candidate was 'adk' and is 'upstream'"),
        (replace(HEADER, as_of="2026-06-02"), "as_of was"),
        (replace(HEADER, environment={**HEADER.environment, "python": "3.12"}), "python was"),
    ],
)
def test_journals_of_different_runs_are_refused_saying_in_what(
    tmp_path: Path, header: JournalHeader, words: str
) -> None:
    one, other = part(tmp_path, "1/2", ALL[::2]), part(tmp_path, "2/2", ALL[1::2], header)

    with pytest.raises(UsageError) as caught:
        merge([one, other])

    assert words in str(caught.value)
    assert f"({other.file} differs)" in str(caught.value)


def test_journals_of_different_corpora_are_refused_naming_the_cassette(tmp_path: Path) -> None:
    one = part(tmp_path, "1/2", ALL[::2])
    file = write_journal(tmp_path / "j", (), inventory=with_files("corpus", a__five="7"))

    with pytest.raises(UsageError, match=r"corpus: a/five.py new, a/one gone"):
        merge([one, read_journal(file)])


def test_a_part_that_is_absent_is_named_with_its_cases(tmp_path: Path) -> None:
    merged = merge([part(tmp_path, "1/3", [ALL[0], ALL[3]]), part(tmp_path, "3/3", [ALL[2]])])

    assert merged.lacks == (
        "missing: 1 of 4 cases: a/three",
        "no journal of shard 2/3",
    )
    assert not merged.record.ended


def test_a_part_that_was_cut_off_is_named_with_its_cases(tmp_path: Path) -> None:
    cut = part(tmp_path, "1/2", [ALL[0]])

    merged = merge([cut, part(tmp_path, "2/2", ALL[1::2])])

    mend = "`parity run` with its options, --shard and --resume completes it"
    assert merged.lacks == (
        "missing: 1 of 4 cases: a/two",
        f"part 1/2, {cut.file}: is incomplete, 1 of its cases are missing; {mend}",
    )


def test_what_is_missing_can_be_judged_by_resuming_the_merged_journal(tmp_path: Path) -> None:
    write_merged(merge([part(tmp_path, "1/2", ALL[::2])]), tmp_path / "out")

    with Journal(tmp_path / "out", HEADER, INVENTORY, resume=True) as journal:
        assert journal.before is not None
        assert set(journal.before.finished) == {NAMES[0], NAMES[2]}


def test_what_was_skipped_or_not_loaded_is_not_missing(tmp_path: Path) -> None:
    problem = LoadProblem(file="b/four.yaml", message="is wrong")
    with Journal(tmp_path / "j", HEADER, INVENTORY) as journal:
        for result in ALL[:2]:
            journal.outcome(result.cassette, result)
        journal.outcome("a/two", Skipped())
        journal.outcome("b/four", problem)

    merged = merge([read_journal(tmp_path / "j")])
    write_merged(merged, tmp_path / "out")

    assert merged.lacks == ()
    again = read_journal(tmp_path / "out")
    assert (set(again.skipped), again.problems) == ({"a/two"}, {"b/four": problem})


def test_revisions_that_differ_merge_to_none(tmp_path: Path) -> None:
    other = replace(HEADER, revision="b" * 40, dirty=True)

    header = merge([part(tmp_path, "1/2", ()), part(tmp_path, "2/2", (), other)]).record.header

    assert (header.revision, header.dirty, header.shard) == ("", True, "")


def test_the_same_file_is_read_once(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j", ALL)

    assert len(read_all([file, file])) == 1


def test_a_merged_journal_can_take_the_place_of_one_that_was_merged(tmp_path: Path) -> None:
    first = part(tmp_path, "1/2", ALL[::2])

    write_merged(merge([first, part(tmp_path, "2/2", ALL[1::2])]), first.file)

    assert read_journal(first.file).missing == ()
