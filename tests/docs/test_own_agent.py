"""docs/own-agent.md: its files and commands, in an empty folder, with the installed wheel alone."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.environments import shared_environment

PAGE = (Path(__file__).parents[2] / "docs" / "own-agent.md").read_text("utf-8")
FILES = re.findall(r"^`([\w.]+)`\n\n```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
UP_TO = "## What else to run"
MOST_LINES, MOST_COMMANDS = 60, 10

pytestmark = pytest.mark.timeout(600)


def commands() -> list[tuple[str, list[str]]]:
    """The commands up to the second verdict, each with the lines that the page shows."""
    found: list[tuple[str, list[str]]] = []
    begin = PAGE.partition(UP_TO)[0]
    for block in re.findall(r"^```console\n(.*?)^```$", begin, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            elif line.strip() != "…":
                found[-1][1].append(line)
    return found


def test_it_takes_few_lines_and_commands() -> None:
    assert sum(text.count("\n") for _, text in FILES) <= MOST_LINES
    assert 0 < len(commands()) <= MOST_COMMANDS


@pytest.mark.slow
def test_from_an_empty_folder_to_a_verdict(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scripts = shared_environment(tmp_path_factory)
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    kept = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    variables = {**kept, "PATH": f"{scripts}{os.pathsep}{kept['PATH']}", "PYTHONPATH": ""}
    codes = []
    for command, shown in commands():
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
        lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        assert [line for line in shown if line not in lines] == [], done.stdout + done.stderr
        assert "Traceback" not in done.stderr

    assert codes == [0, 1, 0, 0]
