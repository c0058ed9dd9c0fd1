"""No file and no function of the project is too long to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
MOST_LINES: Final = 500
MOST_FUNCTION_LINES: Final = 80
FOLDERS: Final = (
    *(
        "adapters",
        "agent_protocol",
        "benchmarks",
        "examples",
        "harness",
        "parity",
        "parity_entry",
        "parity_tests",
    ),
    *("runtimes", "seeded_faults", "services", "surfaces", "tests"),
)


def too_long(path: Path) -> list[str]:
    """The file, if it is too long, and its functions that are."""
    text = path.read_text("utf-8")
    lines = len(text.splitlines())
    found = [f"{path}: {lines} lines"] if lines > MOST_LINES else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_FUNCTION_LINES:
                found.append(f"{path}:{node.lineno} {node.name}: {length} lines")
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_functions_are_short(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    assert [problem for file in files for problem in too_long(file)] == []


def test_a_long_file_and_a_long_function_are_found(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("def f():\n" + "    pass\n" * MOST_LINES, "utf-8")
    assert too_long(file) == [f"{file}: 501 lines", f"{file}:1 f: 501 lines"]
