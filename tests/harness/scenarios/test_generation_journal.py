import os
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.scenarios.generation import Again, GenerationPlan, Outcome, Shrinking
from harness.scenarios.generation_journal import GenerationJournal, last_seed
from tests.harness.scenarios.made_up import done, finding, plan

VERSIONS = {"code": "abc"}


def opened(folder: Path, given: GenerationPlan, *, resume: bool = False) -> GenerationJournal:
    return GenerationJournal(folder, given, VERSIONS, resume=resume)


def written(folder: Path) -> Path:
    """The journal of a run with two blocks and a finding that came again and was shrunk."""
    found = finding(1)
    with opened(folder, plan()) as journal:
        journal.block(done(0), 2.5)
        journal.block(done(1, found), 4.0)
        journal.outcome(found.fingerprint, Outcome(again=Again.CAME, result=found.result))
        journal.shrunk(found.fingerprint, Shrinking(words="small", result=found.result))
    return journal.file


def test_a_resumed_run_has_all_earlier_results(tmp_path: Path) -> None:
    written(tmp_path)

    with opened(tmp_path, plan(), resume=True) as journal:
        generation = journal.generation

    found = finding(1)
    assert journal.resumed
    assert sorted(generation.blocks) == [0, 1]
    assert generation.blocks[1] == done(1, found)
    assert generation.findings == {found.fingerprint: found}
    assert generation.outcomes[found.fingerprint].again is Again.CAME
    assert generation.shrunk[found.fingerprint].result == found.result
    assert journal.elapsed_s == 4.0


def test_journal_lines_are_flushed_at_once(tmp_path: Path) -> None:
    with opened(tmp_path, plan()) as journal:
        journal.block(done(0), 1.0)
        assert len(journal.file.read_text().splitlines()) == 2


def test_a_last_line_that_was_cut_off_is_left_out_and_written_over(tmp_path: Path) -> None:
    file = written(tmp_path)
    os.truncate(file, file.stat().st_size - 10)

    with opened(tmp_path, plan(), resume=True) as journal:
        assert journal.generation.shrunk == {}
        journal.block(done(2), 5.0)

    with opened(tmp_path, plan(), resume=True) as journal:
        assert sorted(journal.generation.blocks) == [0, 1, 2]


def test_without_resume_the_same_plan_begins_anew(tmp_path: Path) -> None:
    written(tmp_path)

    with opened(tmp_path, plan()) as journal:
        assert journal.generation.blocks == {}

    assert len(journal.file.read_text().splitlines()) == 1


def test_there_is_a_journal_for_each_plan(tmp_path: Path) -> None:
    with opened(tmp_path, plan()) as one, opened(tmp_path, plan(seed=2)) as other:
        assert one.file != other.file


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    file = written(tmp_path)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], '{"what": 1}\n', *lines[2:]]))

    with pytest.raises(UsageError, match=r"line 3 .*without --resume"):
        opened(tmp_path, plan(), resume=True)


@pytest.mark.parametrize("text", ["", "nonsense\n", '{"journal": 1}\n', "[]\n"])
def test_a_file_that_is_no_generation_journal_is_refused(tmp_path: Path, text: str) -> None:
    written(tmp_path).write_text(text)

    with pytest.raises(UsageError, match="without --resume"):
        opened(tmp_path, plan(), resume=True)


def test_a_journal_of_other_code_is_refused_and_says_so(tmp_path: Path) -> None:
    written(tmp_path)

    with pytest.raises(UsageError, match="another run: code was 'abc' and is 'def'"):
        GenerationJournal(tmp_path, plan(), {"code": "def"}, resume=True)


def test_a_journal_that_belongs_to_another_plan_is_refused(tmp_path: Path) -> None:
    text = written(tmp_path).read_text()
    with opened(tmp_path, plan(seed=2)) as other:
        pass
    other.file.write_text(text)

    with pytest.raises(UsageError, match="another run: seed was 1 and is 2"):
        opened(tmp_path, plan(seed=2), resume=True)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    place = tmp_path / "in the way"
    place.write_text("")

    with pytest.raises(UsageError, match="in the way"):
        opened(place, plan())


def test_the_seed_of_the_last_such_run_is_found(tmp_path: Path) -> None:
    for age, given in enumerate([plan(seed=1), plan(seed=2), plan(seed=3, profile="aborts")]):
        with opened(tmp_path, given) as journal:
            pass
        os.utime(journal.file, (age, age))
    tmp_path.joinpath("broken.jsonl").write_text("nonsense")

    assert last_seed(tmp_path, plan(seed=0)) == 2
    assert last_seed(tmp_path, plan(seed=0, examples=1)) is None
    assert last_seed(tmp_path / "nowhere", plan()) is None


@pytest.mark.parametrize("resume", [False, True])
def test_a_journal_has_one_writer(tmp_path: Path, resume: bool) -> None:
    before = written(tmp_path).read_bytes()

    with opened(tmp_path, plan(), resume=True):
        with pytest.raises(UsageError, match="is being written by process"):
            opened(tmp_path, plan(), resume=resume)
        assert written_so_far(tmp_path) == before

    assert list(tmp_path.iterdir()) == [tmp_path / f"{plan().digest}.jsonl"]


def written_so_far(folder: Path) -> bytes:
    return (folder / f"{plan().digest}.jsonl").read_bytes()


def test_a_journal_that_is_refused_is_left_unlocked(tmp_path: Path) -> None:
    written(tmp_path)
    for _ in range(2):
        with pytest.raises(UsageError, match="belongs to another run"):
            GenerationJournal(tmp_path, plan(), {"code": "def"}, resume=True)
