import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from harness.draw import chosen
from harness.experiment.case import CaseTask, judge
from harness.gate.facts import Facts
from harness.gate.measurements import SampleRun, read_measurement
from harness.parity.verdict import CaseResult
from harness.parity.waivers import load_waivers
from harness.scenarios.block import BlockDone, BlockTask
from harness.signoff.problems import SigningRefused
from harness.signoff.rerun import (
    Again,
    block_tasks_of,
    refuse_other,
    run_blocks_again,
    run_cases_again,
)
from tests.harness.samples import BACKEND, write_corpus
from tests.harness.scenarios.made_up import here

DAY = date(2026, 1, 1)
NAMES = [f"a/{number}" for number in range(50)]


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


def traces(given: list[CaseTask]) -> dict[str, tuple[str, str]]:
    results = [judge(task) for task in given]
    return {each.cassette: each.digests for each in results if isinstance(each, CaseResult)}


def problems(given: list[CaseTask], was: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    return {seen.name: seen.problem for seen in run_cases_again(given, was, jobs=1)}


def test_the_same_seed_chooses_the_same_cases() -> None:
    assert chosen(NAMES, 5, 1) == chosen(list(reversed(NAMES)), 5, 1)
    assert chosen(NAMES, 5, 1) != chosen(NAMES, 5, 2)
    assert len(chosen(NAMES, 5, 1)) == 5
    assert chosen(NAMES, 99, 1) == sorted(NAMES)


def test_what_comes_out_as_it_did_is_no_problem(tmp_path: Path) -> None:
    given = tasks(tmp_path, a__1="plain", a__2="loses usage")

    assert problems(given, traces(given)) == {"a/1": "", "a/2": ""}


def test_the_side_that_left_another_trace_is_named(tmp_path: Path) -> None:
    given = tasks(tmp_path, a__1="plain", a__2="plain")
    was = traces(given)
    (tmp_path / "a" / "1.yaml").write_text("loses usage")
    was["a/2"] = ("0" * 64, "1" * 64)

    assert problems(given, was) == {
        "a/1": "adk left another trace",
        "a/2": "legacy and adk left another trace",
    }


@pytest.mark.parametrize(("text", "undecided"), [("crashes", True), ("broken", False)])
def test_a_case_that_cannot_be_run_is_reported(tmp_path: Path, text: str, undecided: bool) -> None:
    given = tasks(tmp_path, a__1="plain")
    was = traces(given)
    (tmp_path / "a" / "1.yaml").write_text(text)

    (seen,) = run_cases_again(given, was, jobs=1)

    assert seen.problem
    assert seen.undecided is undecided


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        ([Again("a", "x"), Again("b", "y", undecided=True)], 1),
        ([Again("a"), Again("b", "y", undecided=True)], 3),
    ],
)
def test_nothing_is_signed_where_something_came_out_otherwise(seen: list[Again], code: int) -> None:
    with pytest.raises(SigningRefused, match="b: y") as caught:
        refuse_other(seen)

    assert caught.value.exit_code == code


def test_all_the_same_is_not_refused() -> None:
    refuse_other([Again("a"), Again("b")])


def sample(folder: Path, drawn: int, digests: Mapping[str, str]) -> SampleRun:
    file = folder / "sample.json"
    file.write_text(json.dumps({"blockDigests": digests}))
    summary = {
        "generation": 1,
        "way": "sample",
        "profile": "everything",
        "profileDigest": "d",
        "seed": 4,
        "control": "legacy",
        "candidate": "adk",
        "fault": None,
        "verdict": "nothing found",
        "interrupted": False,
        "drawn": drawn,
        "findings": [],
        "known": [],
        "unsettled": {},
        "command": "",
        "measured": Facts(as_of=DAY).to_json(),
    }
    found = read_measurement(file, summary)
    assert isinstance(found, SampleRun)
    return found


def block_tasks(folder: Path, digest: str = "d") -> list[tuple[BlockTask, str]]:
    waivers = load_waivers(None, as_of=DAY)
    found = sample(folder, 60, {"0": digest, "1": digest, "2": digest})
    return block_tasks_of(found, waivers, 2, seed=1)


def test_blocks_are_those_of_the_run_with_as_many_examples(tmp_path: Path) -> None:
    waivers = load_waivers(None, as_of=DAY)
    given = block_tasks_of(sample(tmp_path, 60, {}), waivers, 9, seed=1)

    assert [(task.number, task.examples) for task, _ in given] == [(0, 25), (1, 25), (2, 10)]
    assert {(task.seed, task.way, task.profile) for task, _ in given} == {
        (4, "sample", "everything")
    }


@pytest.mark.parametrize(
    ("done", "says"),
    [
        ({}, ""),
        ({"digest": "other"}, "other scenarios are drawn now"),
        ({"seen": {"events:x": 1}}, "finds events:x"),
        ({"lost": "its worker died"}, "its worker died"),
        ({"examples": 3}, "not all of it was drawn"),
    ],
)
def test_a_block_must_draw_the_same_and_find_nothing(
    tmp_path: Path, done: dict[str, object], says: str
) -> None:
    given = block_tasks(tmp_path)

    def run(task: BlockTask) -> BlockDone:
        found = BlockDone(number=task.number, examples=task.examples, digest="d")
        for name, value in done.items():
            if name == "seen":
                found.seen.update({"events:x": 1})
            else:
                setattr(found, name, value)
        return found

    ran = list(run_blocks_again(given, run, here(), jobs=1))

    assert {again.problem for again, _ in ran} == {says}
    assert all((block is None) is bool(says) for _, block in ran)
    assert len(ran) == 2
