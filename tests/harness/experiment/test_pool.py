import os
from collections.abc import Sequence
from pathlib import Path

from harness.experiment.case import CaseTask, judge
from harness.experiment.pool import WorkerDied, completed
from harness.parity.verdict import CaseResult
from tests.harness.samples import BACKEND, write_corpus


def tasks(folder: Path, **cases: str) -> list[CaseTask]:
    write_corpus(folder, **cases)
    names = sorted(name.replace("__", "/") for name in cases)
    return [
        CaseTask(
            backend=BACKEND,
            name=name,
            file=folder / f"{name}.yaml",
            root=folder,
            control="legacy",
            candidate="adk",
        )
        for name in names
    ]


def verdicts(given: Sequence[CaseTask], jobs: int) -> tuple[dict[str, str], list[str]]:
    started: list[str] = []
    outcomes = {}
    for task, outcome in completed(
        judge,
        given,
        jobs=jobs,
        backend=BACKEND,
        runtimes=["legacy", "adk"],
        started=lambda task: started.append(task.name),
    ):
        if isinstance(outcome, WorkerDied):
            outcomes[task.name] = "died"
        else:
            assert isinstance(outcome, CaseResult)
            outcomes[task.name] = outcome.verdict.value
    return outcomes, started


def test_two_workers_find_what_one_finds(tmp_path: Path) -> None:
    given = tasks(tmp_path, a__1="plain", a__2="loses usage", a__3="crashes", a__4="plain")

    alone, _ = verdicts(given, 1)
    together, started = verdicts(given, 2)

    assert together == alone
    assert set(alone.values()) == {"parity", "divergent", "inconclusive"}
    assert sorted(started) == [task.name for task in given]


def test_a_worker_that_is_killed_costs_its_own_case_only(tmp_path: Path) -> None:
    given = tasks(tmp_path, a__1="plain", a__2="kills its worker", a__3="loses usage")

    outcomes, started = verdicts(given, 2)

    assert outcomes == {"a/1": "parity", "a/2": "died", "a/3": "divergent"}
    assert sorted(started) == ["a/1", "a/2", "a/3"]


def test_in_one_process_nothing_is_begun_that_is_not_asked_for(tmp_path: Path) -> None:
    given = tasks(tmp_path, a__1="plain", a__2="plain")
    started: list[str] = []
    outcomes = completed(
        judge,
        given,
        jobs=1,
        backend=BACKEND,
        runtimes=[],
        started=lambda task: started.append(task.name),
    )

    next(outcomes)
    outcomes.close()

    assert started == ["a/1"]


def test_stopping_early_ends_the_workers(tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    given = tasks(tmp_path / "corpus", a__1="plain", a__2=f"waits at {meeting}")
    outcomes = completed(
        judge, given, jobs=2, backend=BACKEND, runtimes=[], started=lambda task: None
    )
    next(outcomes)
    assert meeting.read_text() == "waiting"

    outcomes.close()

    assert meeting.with_suffix(".unwound").exists()
