"""Lines that no run writes, and that JSON allows."""

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report.journal import read_journal
from tests.harness.gate.green import NAMES, LegFile, result

SIDES = ("legacy", "adk")


@pytest.mark.parametrize(
    "line",
    [
        {"took": NAMES[0], "ms": 10**400},
        {"took": NAMES[0], "ms": "nan"},
        {"took": NAMES[0], "ms": True},
        {"took": NAMES[0], "ms": -1},
        {"refused": NAMES[0], "file": 1, "message": 2},
    ],
)
def test_a_value_that_is_none_is_refused_by_its_line(
    line: dict[str, object], tmp_path: Path
) -> None:
    file = tmp_path / "j.jsonl"
    LegFile(*SIDES, results={name: result(name, SIDES) for name in NAMES}).write(file)
    with file.open("a") as stream:
        stream.write(json.dumps(line) + "\n")

    with pytest.raises(UsageError, match="line 13 is not a line of a journal"):
        read_journal(file)


@pytest.mark.parametrize(
    "line", [{"skipped": NAMES[0]}, {"refused": NAMES[0], "file": "f", "message": "m"}]
)
def test_a_case_has_one_end(line: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    LegFile(*SIDES, results={name: result(name, SIDES) for name in NAMES}).write(file)
    with file.open("a") as stream:
        stream.write(json.dumps(line) + "\n")

    with pytest.raises(UsageError, match="a/one is finished, and elsewhere it is not"):
        read_journal(file)
