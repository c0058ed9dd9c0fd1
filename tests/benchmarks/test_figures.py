from __future__ import annotations

import json
import math

import pytest

from benchmarks.figures import Figure, Section, Target, document, number, table


@pytest.mark.parametrize(
    ("target", "good", "bad"),
    [
        (Target(1.3), 1.3, 1.301),
        (Target(10, "at least"), 10.0, 9.9),
        (Target(0.3, "below"), 0.299, 0.3),
    ],
)
def test_target_is_met_up_to_its_limit(target: Target, good: float, bad: float) -> None:
    assert target.met_by(good)
    assert not target.met_by(bad)


@pytest.mark.parametrize("bound", ["at most", "at least", "below"])
def test_what_is_no_number_meets_nothing(bound: str) -> None:
    assert not Target(1.0, bound).met_by(math.nan)  # type: ignore[arg-type]  # both bounds, by name


def test_target_reads_as_a_comparison() -> None:
    assert [str(Target(1.3)), str(Target(10, "at least")), str(Target(0.3, "below"))] == [
        "<= 1.3",
        ">= 10",
        "< 0.3",
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.0123456, "0.0123"),
        (1, "1"),
        (1.3, "1.3"),
        (1.2345, "1.23"),
        (45.678, "45.7"),
        (100, "100"),
        (1234.5, "1234"),
        (-2.345, "-2.35"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_number_keeps_three_digits_and_no_exponent(value: float, shown: str) -> None:
    assert number(value) == shown


def test_verdict_is_empty_without_a_target() -> None:
    assert Figure(name="n", value=1.0).verdict == ""
    assert Figure(name="n", value=1.0, target=Target(2)).verdict == "met"
    assert Figure(name="n", value=3.0, target=Target(2)).verdict == "missed"


SECTION = Section(
    "speed",
    [
        Figure(name="plain", value=1.5, unit="ms"),
        Figure(name="a ratio of something", value=1.42, target=Target(1.3), note="why"),
    ],
    ("said of all",),
)


def test_table_has_figure_target_and_verdict_in_columns() -> None:
    lines = table(SECTION).splitlines()

    assert lines[0].split() == ["speed", "found", "target"]
    assert set(lines[1]) == {"-"}
    assert lines[2].split() == ["plain", "1.5", "ms"]
    assert lines[3] == "a ratio of something  1.42 x  <= 1.3  missed  why"
    assert lines[2].index("1.5 ms") + len("1.5 ms") == lines[3].index("1.42 x") + len("1.42 x")
    assert lines[4] == "  said of all"


def test_document_is_json_with_verdicts_failures_and_facts() -> None:
    found = json.loads(
        json.dumps(document([SECTION], [("corpus", "no cassettes")], {"cores": 2, "quick": True}))
    )

    assert found == {
        "cores": 2,
        "quick": True,
        "sections": [
            {
                "name": "speed",
                "figures": [
                    {"name": "plain", "value": 1.5, "unit": "ms"},
                    {
                        "name": "a ratio of something",
                        "value": 1.42,
                        "unit": "x",
                        "target": "<= 1.3",
                        "verdict": "missed",
                        "note": "why",
                    },
                ],
                "remarks": ["said of all"],
            }
        ],
        "failures": [{"name": "corpus", "problem": "no cassettes"}],
    }
