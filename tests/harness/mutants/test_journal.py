from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.mutants.journal import MutantJournal
from harness.mutants.result import Finding, Measured, Outcome

PLAN = {"seed": 1, "size": 2}
STATE = {"code": "a"}
FINDING = Finding(case="text/a", runtime="adk", by=Outcome.FOUND, channel="events", place="e[1]")
ONE = Measured(
    fingerprint="1" * 12, outcome=Outcome.FOUND, finding=FINDING, reached=3, runs=2, seconds=0.5
)
OTHER = Measured(fingerprint="2" * 12, outcome=Outcome.SURVIVED, unsteady=("text/b: x",))


def kept(folder: Path, *measured: Measured) -> Path:
    with MutantJournal(folder, PLAN, STATE) as journal:
        for each in measured:
            journal.add(each)
    return journal.file


def test_a_run_that_goes_on_knows_what_was_measured(tmp_path: Path) -> None:
    kept(tmp_path, ONE, OTHER)

    with MutantJournal(tmp_path, PLAN, STATE, resume=True) as journal:
        assert journal.known == {"1" * 12: ONE, "2" * 12: OTHER}


def test_a_line_that_was_cut_off_is_lost_and_no_other(tmp_path: Path) -> None:
    file = kept(tmp_path, ONE, OTHER)
    file.write_bytes(file.read_bytes()[:-20])

    with MutantJournal(tmp_path, PLAN, STATE, resume=True) as journal:
        assert list(journal.known) == ["1" * 12]
        journal.add(OTHER)
    with MutantJournal(tmp_path, PLAN, STATE, resume=True) as journal:
        assert len(journal.known) == 2


def test_without_resume_a_run_begins_anew(tmp_path: Path) -> None:
    kept(tmp_path, ONE)

    with MutantJournal(tmp_path, PLAN, STATE) as journal:
        assert journal.known == {}


def test_results_of_another_state_of_the_code_are_refused(tmp_path: Path) -> None:
    kept(tmp_path, ONE)

    with pytest.raises(UsageError, match="code was 'a' and is 'b'"):
        MutantJournal(tmp_path, PLAN, {"code": "b"}, resume=True)


@pytest.mark.parametrize("line", ["{}", "[]", '{"mutant": {"outcome": "odd"}}', "no JSON"])
def test_a_line_of_something_else_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    file = kept(tmp_path, ONE)
    file.write_text(f"{file.read_text()}{line}\n")

    with pytest.raises(UsageError, match="line 3"):
        MutantJournal(tmp_path, PLAN, STATE, resume=True)


def test_two_runs_of_one_plan_do_not_write_at_once(tmp_path: Path) -> None:
    with MutantJournal(tmp_path, PLAN, STATE), pytest.raises(UsageError, match="being written"):
        MutantJournal(tmp_path, PLAN, STATE)
