"""The command in a folder that has packages of our names, wherever Python looks first."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from parity import OWN

REPOSITORY = Path(__file__).parents[2]
NAMES = ("blank_answer", "combining_marks")
CASES = [str(REPOSITORY / "cassettes" / "text" / f"{name}.yaml") for name in NAMES]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow
def test_ours_are_ours_where_the_users_come_first(jobs: str, tmp_path: Path) -> None:
    for name in OWN:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    paths = os.pathsep.join([str(tmp_path), str(REPOSITORY)])

    done = subprocess.run(
        [sys.executable, "-m", "parity_entry", "run", *CASES, "-n", jobs, "--no-keep"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "parity: legacy and adk over 2 cases" in done.stdout


def test_the_console_script_is_the_one_that_knows_ours() -> None:
    scripts = [each for each in entry_points(group="console_scripts") if each.name == "parity"]

    assert [each.value for each in scripts] in ([], ["parity_entry.command:main"])
