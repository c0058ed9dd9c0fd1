from dataclasses import replace
from pathlib import Path

import pytest

from harness.baseline.files import Baseline, cassette_digest, write_baseline
from harness.errors import LoadProblem
from harness.experiment.case import CaseTask, Observed, Skipped, TraceTask, judge, trace
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.timeline.model import unpack
from tests.harness.samples import BACKEND, write_corpus


def task(folder: Path, text: str) -> CaseTask:
    write_corpus(folder, a__case=text)
    return CaseTask(
        backend=BACKEND,
        name="a/case",
        file=folder / "a" / "case.yaml",
        root=folder,
        control="legacy",
        candidate="adk",
    )


@pytest.mark.parametrize(
    ("text", "verdict", "words"),
    [
        ("plain", CaseVerdict.PARITY, ""),
        ("loses usage", CaseVerdict.DIVERGENT, ""),
        ("stalls", CaseVerdict.INCONCLUSIVE, "could not go on"),
        ("crashes", CaseVerdict.INCONCLUSIVE, "RuntimeError: no such wheel"),
        ("gives up", CaseVerdict.INCONCLUSIVE, "the disk is full; make room"),
        ("shell", CaseVerdict.INCONCLUSIVE, "run_shell_command: ls; give --trust"),
    ],
)
def test_whatever_a_case_does_is_its_own_result(
    tmp_path: Path, text: str, verdict: CaseVerdict, words: str
) -> None:
    result = judge(task(tmp_path, text))

    assert isinstance(result, CaseResult)
    assert result.verdict is verdict
    assert words in "".join(result.blockers)
    assert "\n" not in "".join(result.blockers)


def test_a_case_at_parity_keeps_both_runs_to_be_shown(tmp_path: Path) -> None:
    result = judge(task(tmp_path, "plain"))

    assert isinstance(result, CaseResult)
    assert result.verdict is CaseVerdict.PARITY
    rows = unpack(result.timelines).rows
    assert rows
    assert all(row.control and row.candidate and not row.divergences for row in rows)


CONTRACT = """\
## Phase A
### streaming
| P-001 | Usage is reported. | `event:usage` | s |
| P-002 | It is aborted. | `end:aborted` | s |
"""


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    file = tmp_path / "contract.md"
    file.write_text(CONTRACT)
    return file


def test_a_result_says_what_was_declared_reached_and_spent(tmp_path: Path, contract: Path) -> None:
    result = judge(replace(task(tmp_path, "plain P-001"), contract=contract))

    assert isinstance(result, CaseResult)
    assert (result.phase, result.contract, result.remarks) == ("A", ("P-001",), ())
    assert "event:usage" in result.reached[0]
    assert result.reached[0] == result.reached[1]
    assert result.cost is not None
    assert result.cost[0]["modelCalls"] == {"generateContentStream(main)": 2}
    assert CaseResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("plain P-002", ["P-002 is declared, but legacy and adk did not reach it"]),
        ("loses usage P-001", ["P-001 is declared, but adk did not reach it"]),
        ("plain P-001 P-009", ["P-009 is declared, but the contract has no such behaviour"]),
        ("stalls P-002", []),
    ],
)
def test_a_declared_behaviour_that_was_not_reached_is_remarked_on(
    tmp_path: Path, contract: Path, text: str, remarks: list[str]
) -> None:
    result = judge(replace(task(tmp_path, text), contract=contract))

    assert isinstance(result, CaseResult)
    assert [each for each in result.remarks if "declared" in each] == remarks


def test_a_trusted_cassette_may_start_processes(tmp_path: Path) -> None:
    result = judge(replace(task(tmp_path, "shell"), trusted=True))

    assert isinstance(result, CaseResult)
    assert result.verdict is CaseVerdict.PARITY


def test_a_file_that_cannot_be_loaded_is_a_problem_of_its_own(tmp_path: Path) -> None:
    result = judge(task(tmp_path, "broken"))

    assert isinstance(result, LoadProblem)
    assert result.message == f"{tmp_path}/a/case.yaml: model: is wrong; mend it"


def test_a_loader_that_fails_is_reported_with_its_file(tmp_path: Path) -> None:
    result = judge(replace(task(tmp_path, "plain"), file=tmp_path / "gone.yaml"))

    assert isinstance(result, LoadProblem)
    assert "FileNotFoundError" in result.message


def test_a_case_of_another_phase_is_skipped(tmp_path: Path) -> None:
    assert judge(replace(task(tmp_path, "phase B"), phase="A")) == Skipped()
    assert judge(replace(task(tmp_path, "phase B"), phase="B")) != Skipped()


def test_what_the_api_objects_to_is_held_against_baselines_of_the_core(tmp_path: Path) -> None:
    asked = replace(task(tmp_path, "is objected to"), core=(tmp_path / "kept",))
    unknown = judge(asked)
    seen = replace(BACKEND.run(BACKEND.load(asked.file, asked.root), "legacy"), runtime="upstream")
    write_baseline(asked.core[0], Baseline.of(seen, asked.name, cassette_digest(asked.file)))
    known = judge(asked)
    command = f"parity baseline {asked.file} --runtime upstream --out {tmp_path}/kept"

    assert isinstance(unknown, CaseResult)
    assert isinstance(known, CaseResult)
    assert [each.finding.rule for each in unknown.unsettled] == ["call-unanswered"]
    assert command in unknown.remarks[0]
    assert known.verdict is CaseVerdict.PARITY
    assert [each.finding.rule for each in known.inherited] == ["call-unanswered"]


def test_a_task_without_such_folders_counts_what_the_api_objects_to(tmp_path: Path) -> None:
    result = judge(task(tmp_path, "is objected to"))

    assert isinstance(result, CaseResult)
    assert result.verdict is CaseVerdict.PARITY
    assert [each.finding.rule for each in result.unsettled] == ["call-unanswered"]


def test_an_interrupt_goes_through(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        judge(task(tmp_path, "interrupts"))


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("plain", None),
        ("stalls", "legacy could not go on by itself: the run stalled"),
        ("gives up", "a/case: the disk is full; make room"),
        ("shell", "not run: the model calls run_shell_command: ls; give --trust"),
    ],
)
def test_a_trace_that_was_not_observed_says_why(
    tmp_path: Path, text: str, doubt: str | None
) -> None:
    judged = task(tmp_path, text)
    outcome = trace(
        TraceTask(
            backend=BACKEND,
            name=judged.name,
            file=judged.file,
            root=judged.root,
            runtime="legacy",
            out=tmp_path / "out",
        )
    )

    assert isinstance(outcome, Observed)
    assert (outcome.doubt or "").startswith(doubt or "")
    assert (outcome.doubt is None) is (doubt is None)
    written = (tmp_path / "out" / "a" / "case.json").exists()
    assert written is (text in ("plain", "stalls"))
