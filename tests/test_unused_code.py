"""The check of what only tests use finds it, and a list that is out of date."""

from __future__ import annotations

from pathlib import Path

from tests.unused_code import problems, unused

CODE = '''
from enum import Enum

__all__ = ["exported", "used"]


class Colour(Enum):
    RED = 1


def exported():
    return used()


def used():
    return Colour


@tool
def called():
    """Through its decorator."""
'''


def test_a_function_that_is_only_exported_is_found(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text(CODE)

    found = unused(tmp_path, ["package"], ["@tool"])

    assert found == {"package/module.py:exported": 11}


def test_what_is_not_listed_and_what_is_listed_in_vain_are_problems() -> None:
    found = {"a.py:one": 1, "b.py:two": 2}

    lines = problems(found, ["a.py:*", "c.py:gone"])

    assert [line.split(" ")[0] for line in lines] == ["b.py:two", "c.py:gone:"]
    assert problems(found, ["*:one", "b.py:two"]) == []
