import io
import re
from collections.abc import Callable

import pytest

from harness.experiment.events import CaseFinished, RunStarted, Waiting
from harness.parity.verdict import CaseVerdict
from harness.report.progress import CaseProgress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Task:
    def __init__(self, name: str) -> None:
        self.name = name


def begun(total: int, stream: io.StringIO, clock: Callable[[], float]) -> CaseProgress:
    """The progress of a run whose results are the verdicts themselves."""
    progress = CaseProgress(stream, lambda name, verdict: verdict, clock)
    progress(RunStarted(total))
    return progress


class _Clock:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


def lines(total: int, seconds_a_case: float, verdict: CaseVerdict | None = None) -> list[str]:
    """What a log gets of `total` cases, one after the other."""
    clock, stream = _Clock(), io.StringIO()
    with begun(total, stream, clock) as bar:
        for _ in range(total):
            clock.s += seconds_a_case
            bar(CaseFinished(_Task("a/b"), verdict))
    return stream.getvalue().splitlines()


def test_a_log_gets_a_line_every_ten_seconds() -> None:
    found = lines(1000, 2.0)

    assert len(found) == 1000 * 2 / 10
    assert found[0] == "5 of 1000 cases (0%) after 10s, about 33m10s left"


def test_a_log_gets_a_line_every_twentieth_where_that_comes_first() -> None:
    found = lines(100, 1.0)

    assert len(found) == 18, "after the last case comes the report"
    assert found[0] == "10 of 100 cases (10%) after 10s, about 1m30s left"
    assert found[1] == "15 of 100 cases (15%) after 15s, about 1m25s left"


def test_a_short_run_needs_no_line() -> None:
    assert lines(9, 1.0) == []


def test_a_case_that_takes_long_does_not_silence_the_log() -> None:
    clock, stream = _Clock(), io.StringIO()
    with begun(2, stream, clock) as bar:
        for clock.s in range(1, 41):
            bar(Waiting())

    assert len(stream.getvalue().splitlines()) == 4
    assert stream.getvalue().splitlines()[-1] == "0 of 2 cases (0%) after 40s"


def test_the_failures_so_far_are_counted() -> None:
    clock, stream = _Clock(), io.StringIO()
    with begun(8, stream, clock) as bar:
        for verdict in (*CaseVerdict, CaseVerdict.DIVERGENT, None):
            clock.s += 10
            bar(CaseFinished(_Task("a/b"), verdict))

    assert stream.getvalue().splitlines()[-1] == (
        "5 of 8 cases (62%) after 50s, about 30s left; 2 divergent, 1 inconclusive"
    )


def test_a_terminal_shows_time_estimate_and_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    clock, stream = _Clock(), _Terminal()
    with begun(4, stream, clock) as bar:
        clock.s = 60
        bar(CaseFinished(_Task("a/b"), CaseVerdict.PARITY))
        bar(CaseFinished(_Task("a/c"), CaseVerdict.DIVERGENT))

    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "2 of 4 cases (50%) after 1m, about 1m left; 1 divergent; a/c" in shown
