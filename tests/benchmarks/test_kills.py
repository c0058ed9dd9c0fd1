import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.kills import results_in
from tests.harness.report.journals import DIVERGENT, RESULT, write_journal
from tests.harness.samples import write_corpus

REPOSITORY = Path(__file__).parents[2]
CASES = {f"a__{number}": "loses usage" if number % 3 else "plain" for number in range(12)}
START = """
from harness.cli import parity
from tests.harness.samples import BACKEND

if __name__ == "__main__":
    parity(obj=BACKEND)
"""
MEASURE = """
import json, sys
from pathlib import Path
from benchmarks.kills import adopt_orphans, measured

adopt_orphans()
base, folder, runs, jobs = json.loads(sys.argv[1])
sys.exit(min(measured(base, Path(folder), runs=runs, seed=7, jobs=jobs), 1))
"""

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux", reason="only Linux lets a process adopt what another leaves behind"
    ),
    pytest.mark.timeout(300),  # many runs of the whole program, on however busy a machine
]


def killed(base: list[str], runs: int, jobs: list[int]) -> str:
    """Kill runs in a process of their own, which adopts what they leave; returns its output.

    The folder has a short name: the socket of the server of workers lies in it.
    """
    with tempfile.TemporaryDirectory(prefix="k") as folder:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, json.dumps([base, folder, runs, jobs])],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_runs_killed_anywhere_lose_no_result_and_leave_no_process(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", **CASES)
    (tmp_path / "start.py").write_text(START)

    output = killed([sys.executable, str(tmp_path / "start.py"), "run", str(corpus)], 2, [1, 2])

    assert "-n 2: 12 cases" in output
    assert "runs with which something was wrong: 0" in output


@pytest.mark.slow
def test_real_runs_killed_anywhere_lose_no_result_and_leave_no_process() -> None:
    names = ("abort/during_shell", "tools/shell_job_left_behind", "tools/background_running")
    cassettes = [str(REPOSITORY / "cassettes" / f"{name}.yaml") for name in names]

    output = killed([sys.executable, "-m", "harness.cli", "run", *cassettes, "--trust"], 1, [1])

    assert "-n 1: 3 cases" in output
    assert "runs with which something was wrong: 0" in output


def test_results_are_read_from_whole_lines_only(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j", (RESULT, DIVERGENT))
    file.write_bytes(file.read_bytes()[:-3])

    assert list(results_in(file)) == ["a/one"]
    assert results_in(tmp_path / "gone") == {}
