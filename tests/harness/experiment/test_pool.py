import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.experiment.case import CaseOutcome, CaseTask, judge
from harness.experiment.events import (
    CaseFinished,
    CaseStarted,
    Event,
    Events,
    RunFinished,
    RunStarted,
    StopRun,
    Waiting,
    follow,
    on_finished,
)
from harness.experiment.pool import WorkerDied, Workers, run_cases, run_on
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


def events_of(given: Sequence[CaseTask], jobs: int) -> Events[CaseTask, CaseOutcome | WorkerDied]:
    def died(task: CaseTask, died: WorkerDied) -> CaseOutcome | WorkerDied:
        return died

    return run_cases(judge, given, died=died, jobs=jobs, backend=BACKEND, runtimes=[])


def verdicts(given: Sequence[CaseTask], jobs: int) -> tuple[dict[str, str], list[str]]:
    started: list[str] = []
    outcomes = {}
    for event in events_of(given, jobs):
        if isinstance(event, CaseStarted):
            started.append(event.task.name)
        elif isinstance(event, CaseFinished) and isinstance(event.result, WorkerDied):
            outcomes[event.task.name] = "died"
        elif isinstance(event, CaseFinished):
            assert isinstance(event.result, CaseResult)
            outcomes[event.task.name] = event.result.verdict.value
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
    events = events_of(given, 1)

    seen = [next(events) for _ in range(3)]
    events.close()

    assert seen[:2] == [RunStarted(2), CaseStarted(given[0])]
    assert isinstance(seen[2], CaseFinished)
    assert seen[2].task is given[0]


def test_stopping_early_ends_the_workers(tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    given = tasks(tmp_path / "corpus", a__1="plain", a__2=f"waits at {meeting}")
    events = events_of(given, 2)
    while not isinstance(next(events), CaseFinished):
        pass
    assert meeting.read_text() == "waiting"

    events.close()

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
    events = run_on(workers, function, given, jobs, died=lambda task, died: "died")
    return {event.task: event.result for event in events if isinstance(event, CaseFinished)}


def test_any_standard_executor_will_do() -> None:
    threads = Workers(lambda jobs: ThreadPoolExecutor(jobs))

    assert results(double, range(20), 3, threads) == {n: 2 * n for n in range(20)}


def test_a_task_is_asked_for_when_there_is_somebody_to_do_it() -> None:
    asked: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            asked.append(number)
            yield number

    events = run_on(here(), double, tasks(), 2, died=lambda task, died: 0)
    while not isinstance(next(events), CaseFinished):
        pass
    events.close()

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


def test_a_task_that_takes_long_makes_events_of_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.experiment.pool._TICK_S", 0.001)
    enough = threading.Event()
    waited: list[Waiting] = []

    def task(number: int) -> bool:
        return enough.wait(10)

    def waiting(event: Event[int, bool]) -> None:
        if isinstance(event, Waiting):
            waited.append(event)
            if len(waited) == 3:
                enough.set()

    found: list[tuple[int, bool]] = []
    threads = Workers(lambda jobs: ThreadPoolExecutor(jobs))
    events = run_on(threads, task, [1], 1, died=lambda task, died: False)
    ending = follow(events, waiting, on_finished(lambda task, result: found.append((task, result))))

    assert found == [(1, True)]
    assert len(waited) >= 3
    assert ending == RunFinished()


def test_how_long_a_task_took_is_measured_around_it_by_the_clock_that_is_given() -> None:
    clock = iter([10.0, 10.25])
    events = run_on(here(), double, [4], 1, died=lambda task, died: 0, seconds=lambda: next(clock))

    assert [each for each in events if isinstance(each, CaseFinished)] == [CaseFinished(4, 8, 250)]


@pytest.mark.parametrize(
    ("raised", "ending"),
    [(KeyboardInterrupt, RunFinished(interrupted=True)), (StopRun, RunFinished(stopped=True))],
)
def test_a_run_that_is_ended_early_has_one_last_event(
    raised: type[BaseException], ending: RunFinished
) -> None:
    seen: list[Event[int, int]] = []

    def ends(event: Event[int, int]) -> None:
        if isinstance(event, CaseFinished) and event.task == 1:
            raise raised

    events = run_on(here(), double, range(9), 1, died=lambda task, died: 0)

    assert follow(events, seen.append, ends) == ending
    assert seen[0] == RunStarted(9)
    assert [each.task for each in seen if isinstance(each, CaseStarted)] == [0, 1]
    assert seen[-1] == ending
