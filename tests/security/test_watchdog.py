"""No case stops a run: not with the processor, nor with memory, nor by waiting for ever."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.experiment.case import CaseTask, judge
from harness.experiment.events import CaseFinished
from harness.experiment.limits import Limits
from harness.experiment.pool import WorkerDied, on_demand, process_workers, run_cases
from harness.experiment.usage import MEASURABLE
from harness.parity.verdict import CaseResult
from tests.harness.samples import write_corpus
from tests.processes import ends
from tests.security.watched_bombs import WATCHED, one_long_case, several_cases

pytestmark = pytest.mark.skipif(not MEASURABLE, reason="needs /proc to see what processes use")

CPU = Limits(cpu_s=0.5)
WALL = Limits(wall_s=0.5)
MEMORY = Limits(memory_mib=200)


def judged(folder: Path, limits: Limits, jobs: int, **cases: str) -> dict[str, str]:
    """What comes of each case: why nothing does, or its verdict."""
    write_corpus(folder, **cases)
    tasks = [
        CaseTask(
            backend=WATCHED,
            name=name.replace("__", "/"),
            file=folder / f"{name.replace('__', '/')}.yaml",
            root=folder,
            control="legacy",
            candidate="adk",
        )
        for name in sorted(cases)
    ]
    events = run_cases(
        verdict,
        tasks,
        died=lambda task, died: died.why,
        jobs=jobs,
        backend=replace(WATCHED, limits=limits),
        runtimes=[],
    )
    return {each.task.name: each.result for each in events if isinstance(each, CaseFinished)}


def verdict(task: CaseTask) -> str:
    outcome = judge(task)
    assert isinstance(outcome, CaseResult)
    return outcome.verdict.value


def pids(folder: Path, name: str) -> Sequence[str]:
    return (folder / f"{name}.pids").read_text().split()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("bomb", "limits", "reason"),
    [
        ("spins in a pattern", CPU, "it used more than 0.5 s of CPU time"),
        ("spins in python", CPU, "it used more than 0.5 s of CPU time"),
        ("allocates", MEMORY, "its memory grew by more than 200 MiB"),
        ("sleeps deaf", WALL, "it took longer than 0.5 s"),
        ("starts a spinning child", CPU, "it used more than 0.5 s of CPU time"),
        ("starts a child that allocates", MEMORY, "its memory grew by more than 200 MiB"),
        ("leaves a spinning orphan", CPU, "it used more than 0.5 s of CPU time"),
        ("ends its guard and spins", CPU, "it used more than 0.5 s of CPU time"),
    ],
)
@pytest.mark.sampled(4)
def test_a_bomb_is_stopped_once_and_the_other_cases_go_on(
    tmp_path: Path, bomb: str, limits: Limits, reason: str, jobs: int
) -> None:
    outcomes = judged(tmp_path, limits, jobs, a__1="plain", a__2=bomb, a__3="plain", a__4="plain")

    stopped = f"stopped: {reason}, all its runs together; see --limits"
    assert outcomes == {"a/1": "parity", "a/2": stopped, "a/3": "parity", "a/4": "parity"}
    began_in = pids(tmp_path, "a/2")
    assert len(began_in) == (2 if "child" in bomb or "orphan" in bomb else 1)
    assert all(map(ends, began_in))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("bomb", ["exits", "segfaults"])
@pytest.mark.sampled(4)
def test_a_worker_that_dies_by_itself_is_distinguished_from_a_stopped_one(
    tmp_path: Path, bomb: str, jobs: int
) -> None:
    outcomes = judged(tmp_path, Limits(), jobs, a__1="plain", a__2=bomb, a__3="plain")

    assert outcomes == {"a/1": "parity", "a/2": "its worker process died", "a/3": "parity"}
    assert len(pids(tmp_path, "a/2")) == 2


def test_two_bombs_at_once_are_both_stopped_and_neither_runs_again(tmp_path: Path) -> None:
    """The second is still there when the first has broken the pool: it does not heed SIGTERM."""
    outcomes = judged(tmp_path, WALL, 2, a__1="sleeps deaf", a__2="sleeps deaf")

    assert all(why.startswith("stopped: it took longer") for why in outcomes.values())
    assert [len(pids(tmp_path, name)) for name in outcomes] == [1, 1]


def test_each_case_has_the_limits_for_itself(tmp_path: Path) -> None:
    """A worker that has used much before is not held to account for it in a later case."""
    bombs = {f"a__{number}": "spins in a pattern" for number in range(3)}

    outcomes = judged(tmp_path, CPU, 1, **bombs, b__1="plain")

    assert outcomes["b/1"] == "parity"
    assert [why[:8] for why in outcomes.values()].count("stopped:") == 3


@pytest.mark.parametrize(
    ("task", "outcome"),
    [(several_cases, "4"), (one_long_case, "stopped: it used more than 0.8 s of CPU time")],
)
@pytest.mark.slow
def test_each_case_of_a_long_task_has_the_limits_for_itself(
    task: Callable[[int], int], outcome: str
) -> None:
    backend = replace(WATCHED, limits=Limits(cpu_s=0.8))

    workers = process_workers(backend, [], forked=True)

    def died(number: int, died: WorkerDied) -> Any:
        return died.why

    with on_demand(task, workers, died) as ask:
        assert str(ask(4)).startswith(outcome)


def invoke(*words: object) -> Result:
    return CliRunner().invoke(parity, [str(word) for word in words], obj=WATCHED)


def test_the_run_the_journal_and_the_report_say_why(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="spins in a pattern", a__2="plain")
    journal, report, junit = (tmp_path / name for name in ("run.jsonl", "r.json", "r.xml"))
    words = ["run", corpus, "--limits", "cpu=0.4", "--journal", journal]

    result = invoke(*words, "--json", report, "--junit", junit)
    again = invoke(*words, "--resume")

    reason = "stopped: it used more than 0.4 s of CPU time, all its runs together; see --limits"
    assert (result.exit_code, again.exit_code) == (3, 3)
    assert reason in result.output
    assert reason in again.output
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    kept = {line["finished"]: line for line in lines if "finished" in line}
    assert kept["a/1"]["blockers"] == [reason]
    assert kept["a/2"]["verdict"] == "parity"
    assert reason in report.read_text()
    assert reason in junit.read_text()
    assert len(pids(corpus, "a/1")) == 1


def test_repeated_runs_have_so_much_more(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="spins in a pattern")

    result = invoke("run", corpus, "--limits", "cpu=0.2", "--repeat", "2")

    assert "more than 0.4 s of CPU time" in result.output


def test_a_trace_that_was_stopped_is_not_observed(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="spins in a pattern")

    result = invoke("trace", corpus, "--runtime", "adk", "--limits", "cpu=0.2")

    assert result.exit_code == 3
    assert "not observed: a/1: stopped: it used more than 0.2 s" in result.output


def test_a_baseline_that_was_stopped_is_not_kept(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="allocates", a__2="plain")
    words = ["--runtime", "adk", "--out", tmp_path / "kept", "--limits", "memory=100"]

    result = invoke("baseline", corpus, *words)

    assert result.exit_code == 3
    assert "not observed: a/1: stopped: its memory grew by more than 100 MiB" in result.output
    assert [file.name for file in (tmp_path / "kept" / "a").iterdir()] == ["2.json"]
