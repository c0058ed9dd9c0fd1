from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import Figure, MeasurementError
from benchmarks.upstream_corpus import Pass, measure, passed, spread_over, upstream_figures
from harness.cassette.find import CassetteFile
from runtimes.upstream import pool

ROOT = Path("corpus")


def files(count: int) -> list[CassetteFile]:
    return [CassetteFile(ROOT / f"{place}.yaml", ROOT, str(place)) for place in range(count)]


def a_pass(*seconds: float, sessions: int = 0, started: int = 0, retired: int = 0) -> Pass:
    by_name = {str(place): each for place, each in enumerate(seconds)}
    return Pass(seconds=by_name, sessions=sessions, started=started, retired=retired)


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> pool.Statistics:
    """The pool's counts, which already know of sessions before."""
    counts = pool.Statistics(sessions=7, started=3, retired=2)
    monkeypatch.setattr(pool, "statistics", counts)
    return counts


def test_gain_is_taken_over_the_cassettes_that_ran_cold() -> None:
    warm = a_pass(0.1, 0.3, 9.6)
    cold = a_pass(1.0, 3.0)

    found = by_name(upstream_figures([warm], [cold], [1.0], judged=True))

    assert found["warm pool, one process"].value == pytest.approx(0.3)
    assert found["a new driver each, one process"].value == pytest.approx(0.5)
    assert found["warm / new, the same 2 cassettes"].value == pytest.approx(10)


@pytest.mark.parametrize(
    ("cold", "wall", "verdicts"), [(0.5, 0.5, ["missed", "met"]), (0.51, 0.6, ["met", "missed"])]
)
def test_new_drivers_and_two_workers_are_judged(
    cold: float, wall: float, verdicts: list[str]
) -> None:
    figures = upstream_figures([a_pass(1.0, 1.0, 1.0)], [a_pass(cold)], [wall], judged=True)

    judged = [(figure.name, figure.verdict) for figure in figures if figure.target]
    names = ["a new driver each, one process", "-n 2, start included"]
    assert judged == list(zip(names, verdicts, strict=True))


def test_other_cassettes_than_the_shared_are_not_judged() -> None:
    figures = upstream_figures([a_pass(1.0)], [a_pass(1.0)], [1.0], judged=False)

    assert not any(figure.verdict for figure in figures)


def test_shares_are_of_the_sessions_of_all_repeats() -> None:
    warm = [a_pass(1.0, sessions=10, started=1), a_pass(1.0, sessions=30, started=2, retired=1)]

    found = by_name(upstream_figures(warm, [a_pass(1.0)] * 2, [1.0, 2.0], judged=True))

    needed = found["warm pool: sessions that needed a new driver"]
    left = found["warm pool: sessions that left something behind"]
    assert (needed.value, needed.note) == (7.5, "3 of 40")
    assert (left.value, left.note) == (2.5, "1 of 40")


def test_pass_counts_its_own_sessions_only(counts: pool.Statistics) -> None:
    def run(file: CassetteFile) -> None:
        counts.sessions += 1
        counts.started += file.name == "0"
        counts.retired += 1

    found = passed(files(3), run)

    assert list(found.seconds) == ["0", "1", "2"]
    assert (found.sessions, found.started, found.retired) == (3, 1, 3)


def test_cassette_that_broke_the_driver_counts_for_nothing() -> None:
    with pytest.raises(MeasurementError, match=r"^0 could not be run: the driver was killed$"):
        passed(files(2), lambda file: "the driver was killed")


def test_sample_is_spread_over_all() -> None:
    assert [file.name for file in spread_over(files(10), 4)] == ["0", "2", "5", "7"]
    assert spread_over(files(3), 4) == files(3)


def test_missing_node_is_skipped_with_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARITY_NODE", "no-such-program")

    section = measure(quick=True, progress=pytest.fail)

    assert section.figures == []
    (remark,) = section.remarks
    assert remark.startswith("Skipped: ")
    assert "no-such-program; install node" in remark
