import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.experiment.case import CaseTask, judge
from harness.experiment.pool import WorkerDied, Workers, completed, worked
from harness.parity.verdict import CaseResult
from tests.harness.samples import BACKEND, write_corpus
from tests.harness.scenarios.made_up import ProcessIsGone, here


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


def double(number: int) -> int:
    return 2 * number


def dies_of_three(number: int) -> int:
    if number == 3:
        raise ProcessIsGone
    return 2 * number


def results(
    function: Callable[[int], int], given: Iterable[int], jobs: int, workers: Workers
) -> dict[int, object]:
    return {
        task: "died" if isinstance(outcome, WorkerDied) else outcome
        for task, outcome in worked(function, given, jobs, workers, ahead=1)
    }


def test_any_standard_executor_will_do() -> None:
    threads = Workers(lambda jobs: ThreadPoolExecutor(jobs))

    assert results(double, range(20), 3, threads) == {n: 2 * n for n in range(20)}


def test_a_task_is_asked_for_when_there_is_somebody_to_do_it() -> None:
    asked: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            asked.append(number)
            yield number

    outcomes = worked(double, tasks(), 2, here(), ahead=1)
    next(outcomes)
    outcomes.close()

    assert len(asked) <= 4


def test_a_broken_executor_is_replaced_and_only_the_task_that_broke_it_is_lost() -> None:
    opened: list[int] = []

    found = results(dies_of_three, range(6), 2, here(opened))

    assert found == {n: "died" if n == 3 else 2 * n for n in range(6)}
    assert opened == [2, 1, 2]


def test_what_died_with_another_is_done_again_alone() -> None:
    given = iter([ProcessIsGone, None])

    def dies_once(number: int) -> int:
        if next(given, None) is ProcessIsGone:
            raise ProcessIsGone
        return number

    opened: list[int] = []

    assert results(dies_once, [7], 2, here(opened)) == {7: 7}
    assert opened[:2] == [2, 1]


def test_an_executor_may_have_a_death_of_its_own_that_breaks_nothing() -> None:
    class Gone(Exception):
        pass

    def dies(number: int) -> int:
        if number == 1:
            raise Gone
        return number

    threads = Workers(lambda jobs: ThreadPoolExecutor(jobs), deaths=(Gone,))

    assert results(dies, range(3), 2, threads) == {0: 0, 1: "died", 2: 2}


def test_what_a_task_raises_comes_out() -> None:
    def fails(number: int) -> int:
        raise ValueError(number)

    with pytest.raises(ValueError, match="7"):
        results(fails, [7], 2, here())


def test_who_waits_for_a_task_that_takes_long_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.experiment.pool._TICK_S", 0.001)
    enough = threading.Event()
    calls: list[None] = []

    def waiting() -> None:
        calls.append(None)
        if len(calls) == 3:
            enough.set()

    def task(number: int) -> bool:
        return enough.wait(10)

    threads = Workers(lambda jobs: ThreadPoolExecutor(jobs))
    assert list(worked(task, [1], 1, threads, waiting=waiting)) == [(1, True)]
    assert len(calls) >= 3
