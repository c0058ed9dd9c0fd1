from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures import Figure
from benchmarks.generation import (
    FAULT,
    block_figures,
    command_figures,
    finding,
    shrink_figures,
)
from harness.cassette.load import build_cassette
from harness.faults.catalogue import faults
from harness.parity.verdict import CaseResult
from harness.scenarios.shrinking import Shrunk, size_of
from harness.scenarios.trial import Trial
from services.wire import JsonObject


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def shrunk(document: JsonObject) -> Shrunk:
    trial = Trial(
        document=document,
        result=CaseResult(cassette="x"),
        reached=frozenset(),
        run_s=0,
        compare_s=0,
    )
    return Shrunk(document=document, trial=trial, tries=7, steps=2, finished=True, flaky=False)


def test_stages_are_reported_per_scenario_and_compared_with_the_runs_alone() -> None:
    one = {"draw": 0.2, "run": 2.0, "compare": 0.3, "alone": 1.0, "examples": 100.0}
    slow = {**one, "draw": 5.0, "run": 50.0, "compare": 5.0, "alone": 10.0}

    found = by_name(block_figures([one, slow, one]))

    assert found["draw and build, per scenario"].value == pytest.approx(2)
    assert found["run, per scenario, observed and over a socket"].value == pytest.approx(20)
    assert found["compare, per scenario"].value == pytest.approx(3)
    assert found["the two runs alone, per scenario"].value == pytest.approx(10)
    assert found["all of it / the two runs alone"].value == pytest.approx(2.5)
    assert found["all of it / the two runs alone"].note == "2.50 to 6.00 in 3"
    assert found["draw and compare / the two runs alone"].value == pytest.approx(50)


def test_the_command_is_reported_in_scenarios_a_second() -> None:
    found = by_name(command_figures(100, {1: [50, 20, 10], 2: [10]}))

    assert found["100 scenarios, -n 1, start included"].value == pytest.approx(5)
    assert found["100 scenarios, -n 2, start included"].value == pytest.approx(10)
    assert found["100 scenarios: -n 1 / -n 2"].value == pytest.approx(2)


def test_shrinking_is_judged_by_its_time_and_by_what_is_left() -> None:
    step = {"stream": [{"usageMetadata": {"totalTokenCount": 1}}]}
    small = {"cassette": 1, "name": "x", "session": {}, "script": [], "model": [step]}

    figures = shrink_figures(shrunk(small), 59.9)
    assert [figure.verdict for figure in figures] == ["met", "", "met"]

    figures = shrink_figures(replace(shrunk({**small, "model": [step] * 2}), finished=False), 60.1)
    assert [figure.verdict for figure in figures] == ["missed", "", "missed"]
    assert figures[0].note == "ended by the clock"


def test_the_fixed_finding_is_a_cassette_of_thirteen_turns_and_its_fault_exists(
    tmp_path: Path,
) -> None:
    document = finding()

    build_cassette(document, tmp_path / f"{document['name']}.yaml", tmp_path)
    assert size_of(document).turns == 13
    assert FAULT in faults()
