"""Resource bombs in `parity run`: each ends within its limits, and the other cases go on.

A bomb that a parser or tool bounds at its place is at parity. One that only the watchdog can end is
inconclusive. All of them run by night; a sample runs each time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.security.bombs import REFUSED, bombs

ROOT = Path(__file__).parents[2]
HARMLESS = {
    "cassette": 1,
    "name": "bombs/harmless",
    "session": {"model": "gemini-2.5-flash"},
    "script": [{"send": "go"}],
    "model": [{"text": "done"}],
}
ALL = sorted(bombs())
SAMPLE = sorted(
    {
        *ALL[::24],
        *sorted(REFUSED)[::3],
        "asked_write_file_modify_with_editor",
        "glob_braces",
        "grep_nested_plus",
        "memory_imports",
    }
)


def verdicts(folder: Path, names: Iterable[str], *limits: str) -> tuple[int, dict[str, str], str]:
    """Run bombs and a harmless case: exit code, verdict by name, and what was printed."""
    made = bombs()
    for document in (*(made[name] for name in names), HARMLESS):
        file = folder / "corpus" / f"{document['name']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document))
    report = folder / "report.json"
    words = [sys.executable, "-m", "harness.cli", "run", str(folder / "corpus"), "-n", "2"]
    done = subprocess.run(
        [*words, "--no-keep", "--json", str(report), *limits],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    document = json.loads(report.read_text())
    seen = {case["cassette"]: case["verdict"] for case in document["cases"]}
    return done.returncode, seen, done.stdout + done.stderr


def check(names: list[str], code: int, seen: dict[str, str], printed: str) -> None:
    """Everything ended, nothing diverged, and the loader refused what it has to refuse."""
    refused = REFUSED.intersection(names)
    assert code == (2 if refused else 3), printed
    assert "Traceback" not in printed
    assert seen["bombs/harmless"] == "parity"
    assert set(seen) == {f"bombs/{name}" for name in (*names, "harmless") if name not in refused}
    assert set(seen.values()) <= {"parity", "inconclusive"}, printed
    for name in refused:
        assert f"bombs/{name}.json" in printed


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_a_sample_of_bombs_ends_within_small_limits(tmp_path: Path) -> None:
    check(SAMPLE, *verdicts(tmp_path, SAMPLE, "--limits", "cpu=4,wall=60,memory=600"))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_bomb_ends_within_the_usual_limits(tmp_path: Path) -> None:
    assert len(ALL) >= 50

    check(ALL, *verdicts(tmp_path, ALL))
