"""What earlier builds wrote is read, and is written as it was, byte for byte."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from harness.codec import Coded, Listed
from harness.gate.facts import Facts
from harness.journal_header import JournalHeader
from harness.orders.model import Explored
from harness.parity.verdict import CaseResult
from harness.scenarios.block import BlockDone
from harness.timeline.model import Timelines, unpack

FILE: Final = Path(__file__).with_name("written_before.json")
"""A value of each class with every field filled, lone surrogates included."""
BEFORE: Final[dict[str, Any]] = json.loads(FILE.read_text())
CLASSES: Final[dict[str, Any]] = {
    "result": CaseResult,
    "timelines": Timelines,
    "block": BlockDone,
    "facts": Facts,
    "header": JournalHeader,
    "explored": Explored,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Listed):
    x: int
    y_axis: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Coded):
    first_point: Point
    others: tuple[Point, ...] = ()


def test_what_was_written_before_is_written_again_to_the_byte() -> None:
    again = {name: kind.from_json(BEFORE[name]).to_json() for name, kind in CLASSES.items()}

    assert json.dumps(again, indent=1) + "\n" == FILE.read_text()


def test_packed_timelines_of_before_are_unpacked() -> None:
    assert unpack(BEFORE["result"]["timelines"]).to_json() == BEFORE["timelines"]


def test_a_nested_value_is_read_as_it_is_by_itself() -> None:
    shape = Shape(first_point=Point(x=1, y_axis=2), others=(Point(x=3), Point(x=4)))

    assert shape.to_json() == {"firstPoint": [1, 2], "others": [[3, 0], [4, 0]]}
    assert Shape.from_json(shape.to_json()) == shape
    assert Shape.from_json({"firstPoint": [1], "unknown": True}).first_point == Point(x=1)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "firstPoint: this key is required"),
        ({"first_point": [1]}, "firstPoint: this key is required"),
        ({"firstPoint": ["one"]}, "firstPoint.x: must be a whole number, not 'one'"),
        ({"firstPoint": [1, 2, 3]}, "firstPoint: not a list of at most 2 values"),
        ([], "the whole: must be a mapping, not a list"),
    ],
)
def test_a_value_of_another_shape_is_refused_by_its_place(value: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Shape.from_json(value)
