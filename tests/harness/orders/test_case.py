from datetime import date
from pathlib import Path

import pytest

from harness.errors import LoadProblem
from harness.orders.case import OrdersTask, explore
from harness.orders.model import OrdersResult, verdict_of
from harness.orders.places import Place
from harness.parity.verdict import CaseVerdict
from harness.parity.waivers import Waivers
from tests.harness.orders.runs import run_in_order
from tests.harness.samples import BACKEND, write_corpus


def task(folder: Path, text: str, **more: object) -> OrdersTask:
    write_corpus(folder, a__case=text)
    values = {
        "backend": BACKEND,
        "name": "a/case",
        "file": folder / "a" / "case.yaml",
        "root": folder,
        "control": "legacy",
        "candidate": "adk",
        "most": 24,
        "waivers": Waivers(as_of=date(2026, 11, 22)),
        "run": run_in_order,
        **more,
    }
    return OrdersTask(**values)  # type: ignore[arg-type] # values of many types


def explored(folder: Path, text: str, **more: object) -> OrdersResult:
    result = explore(task(folder, text, **more))
    assert isinstance(result, OrdersResult)
    return result


@pytest.mark.parametrize(
    ("text", "orders", "verdict"),
    [
        ("alone", 1, CaseVerdict.PARITY),
        ("two", 2, CaseVerdict.PARITY),
        ("three", 6, CaseVerdict.PARITY),
        ("four", 24, CaseVerdict.PARITY),
        ("two; adk mixes results up", 2, CaseVerdict.DIVERGENT),
        ("two; legacy mixes results up; adk mixes results up", 2, CaseVerdict.DIVERGENT),
        ("two; adk goes one by one", 2, CaseVerdict.INCONCLUSIVE),
        ("two; stalls", 2, CaseVerdict.INCONCLUSIVE),
    ],
)
def test_parity_requires_parity_under_every_order(
    tmp_path: Path, text: str, orders: int, verdict: CaseVerdict
) -> None:
    result = explored(tmp_path, text)

    assert len(result.runs) == orders
    assert result.verdict is verdict
    assert result.answers.exhaustive
    assert result.side_by_side is (orders > 1)


def test_the_number_of_tried_orders_is_limited_and_reported(tmp_path: Path) -> None:
    result = explored(tmp_path, "four", most=5)

    assert len(result.runs) == result.answers.orders == 5
    assert not result.answers.exhaustive


def test_the_order_under_which_it_diverges_is_known(tmp_path: Path) -> None:
    worst = explored(tmp_path, "three; adk mixes results up").worst

    assert worst is not None
    assert worst.places == ("0/1 call", "0/2 call", "0/0 call")
    assert worst.result.open[0].channel == "transcript"


def test_an_order_leak_of_both_engines_is_divergent(tmp_path: Path) -> None:
    result = explored(tmp_path, "two; names who was first")

    assert {run.verdict for run in result.runs} == {CaseVerdict.PARITY}
    assert [found.runtime for found in result.leaks] == ["legacy", "adk"]
    assert (result.leaks[0].difference.one, result.leaks[0].difference.other) == (0, 1)
    assert result.verdict is CaseVerdict.DIVERGENT


def test_a_difference_explained_by_a_shared_thing_is_no_leak(tmp_path: Path) -> None:
    result = explored(tmp_path, "two; same file; names who was first")

    assert result.leaks == ()
    assert [found.difference.shared for found in result.dependent] == [("the file x.txt",)] * 2
    assert result.verdict is CaseVerdict.PARITY


def test_orders_that_touch_the_shared_alike_must_still_agree(tmp_path: Path) -> None:
    result = explored(tmp_path, "three; two write the same file; names who was first")

    third_first = [run.number for run in result.runs if run.places[0] == "0/2 call"]
    assert {found.difference.other for found in result.leaks} == set(third_first)


def test_the_interleaving_of_the_parents_stream_is_no_leak(tmp_path: Path) -> None:
    result = explored(tmp_path, "two; events interleave")

    assert result.findings == ()
    assert result.verdict is CaseVerdict.PARITY


def test_an_impossible_order_is_counted_and_does_not_hang(tmp_path: Path) -> None:
    result = explored(tmp_path, "two; the second follows the first")

    assert result.unreachable == 1
    assert result.runs[1].left == "0/1 call was next, but 0/0 call continued"


def test_from_an_order_that_was_left_nothing_is_tried_twice(tmp_path: Path) -> None:
    result = explored(tmp_path, "three; the second follows the first")

    had = [run.places for run in result.runs if run.left is None]
    assert result.unreachable
    assert len(had) == len(set(had))


def test_a_faster_candidate_follows_the_controls_order(
    tmp_path: Path,
) -> None:
    result = explored(tmp_path, "steps; adk is ready with everything")

    assert result.verdict is CaseVerdict.PARITY
    assert len(result.runs) == 3


def test_unused_steps_on_both_sides_are_no_doubt_under_another_order(
    tmp_path: Path,
) -> None:
    assert explored(tmp_path, "two; leaves a step over").verdict is CaseVerdict.PARITY


def test_a_candidate_that_does_not_follow_the_control_is_not_called_equal(tmp_path: Path) -> None:
    worst = explored(tmp_path, "two; adk goes one by one").worst

    assert worst is not None
    assert worst.missed == "0/1 call was next, but 0/0 call continued"


def test_one_order_alone_can_be_asked_for(tmp_path: Path) -> None:
    only = (Place.parse("0/2 call"),)

    result = explored(tmp_path, "three", only=only)

    assert [run.places for run in result.runs] == [("0/2 call", "0/0 call", "0/1 call")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("crashes", "RuntimeError: no such wheel"),
        ("gives up", "the disk is full; make room"),
        ("shell", "run_shell_command: ls; give --trust"),
    ],
)
def test_errors_of_a_case_become_its_result(tmp_path: Path, text: str, words: str) -> None:
    result = explored(tmp_path, text)

    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert words in "".join(result.blockers)


def test_a_file_that_cannot_be_loaded_is_a_problem(tmp_path: Path) -> None:
    problem = explore(task(tmp_path, "broken"))

    assert isinstance(problem, LoadProblem)
    assert "is wrong; mend it" in problem.message


def test_the_verdict_of_several_cases_is_the_worst(tmp_path: Path) -> None:
    good, bad, unsure = (
        explored(tmp_path, text)
        for text in ("two", "two; adk mixes results up", "two; adk goes one by one")
    )

    assert verdict_of([good]) is CaseVerdict.PARITY
    assert verdict_of([good, unsure]) is CaseVerdict.INCONCLUSIVE
    assert verdict_of([unsure, bad, good]) is CaseVerdict.DIVERGENT
    assert verdict_of([]) is CaseVerdict.INCONCLUSIVE
