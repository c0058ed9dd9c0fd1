"""The table of `docs/a2a.md`: all that the specification says, and all its tests, are there."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.surfaces.a2a.extension.proto import FILE, declared

PAGE: Final = Path(__file__).parents[4] / "docs" / "a2a.md"
HERE: Final = Path(__file__).parent
SECTIONS: Final = {"2", "2.1", "3.1", "3.2", "3.3", "4", "Appendix A"}
"""The sections with rules. Section 1 has none."""
METHODS: Final = {"message/stream", "commands/get", "command/execute"}


class Row(NamedTuple):
    section: str
    says: str
    patterns: tuple[str, ...]


def rows(page: str) -> list[Row]:
    """The rows of the table."""
    _, _, rest = page.partition("| Section | What it says | Tests |\n| --- | --- | --- |\n")
    lines = rest.partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [
        Row(section, says, tuple(re.findall(r"`([^`]+)`", tests))) for section, says, tests in cells
    ]


def named_here() -> Iterator[str]:
    """The tests of this folder that are named after a section: `test_turns.py::test_2_…`."""
    for file in sorted(HERE.glob("test_*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE):
            if re.match(r"test_(\d|appendix)", name):
                yield f"{file.name}::{name}"


def is_named_after(test: str, section: str) -> bool:
    """Whether a test has the section in its name: `test_3_2_and_3_3_…` has two of them."""
    words = section.lower().replace(".", "_").replace(" ", "_")
    name = test.partition("::test_")[2]
    return name.startswith(f"{words}_") or f"_and_{words}_" in name


ROWS: Final = rows(PAGE.read_text("utf-8"))
TESTS: Final = list(named_here())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.says[:40])
def test_a_row_has_tests_that_are_named_after_its_section(row: Row) -> None:
    assert row.section in SECTIONS
    assert row.patterns
    for pattern in row.patterns:
        found = [test for test in TESTS if fnmatchcase(test, pattern)]
        assert found, pattern
        assert all(is_named_after(test, row.section) for test in found), pattern


def members_in(page: str, name: str) -> tuple[str, ...]:
    """The members of a message or an enumeration in the row about it."""
    (says,) = [row.says for row in rows(page) if row.says.startswith(f"`{name}`: ")]
    return tuple(re.findall(r"`([^`]+)`", says.partition(": ")[2]))


@pytest.mark.parametrize(("name", "members"), declared(FILE.read_text()).items())
def test_each_message_and_enumeration_has_a_row_with_all_its_members(
    name: str, members: tuple[str, ...]
) -> None:
    page = PAGE.read_text("utf-8")

    assert members_in(page, name) == members
    assert members_in(page.replace(f"`{members[-1]}`", "`other`"), name) != members


def test_each_section_and_method_has_a_row() -> None:
    assert {row.section for row in ROWS} == SECTIONS
    for method in METHODS:
        assert any(f"`{method}`" in row.says for row in ROWS), method


def test_each_test_of_a_section_is_in_the_table() -> None:
    patterns = [pattern for row in ROWS for pattern in row.patterns]

    assert [
        test for test in TESTS if not any(fnmatchcase(test, pattern) for pattern in patterns)
    ] == []
