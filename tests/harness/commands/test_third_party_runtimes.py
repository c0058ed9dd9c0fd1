"""Commands with a third party's runtime that is broken: one sentence, exit 2, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtimes.third_party import GOOD, install

REPOSITORY = Path(__file__).parents[3]
NAMES = ("blank_answer", "combining_marks")
CASES = [str(REPOSITORY / "cassettes" / "text" / f"{name}.yaml") for name in NAMES]
NAMED = "parity: the runtime 'mine' (entry point `mine = mine_rt:open_runtime` of mine-rt 1.5)"
BROKEN = "def f(): raise ValueError('no licence')\nf()"
WRONG = "def open_runtime(services): return None"


def parity(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "parity_entry", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["run", *CASES, "--candidate", "mine", "--no-keep"],
        ["run", *CASES, "--candidate", "mine", "--no-keep", "-n", "2"],
        ["run", *CASES, "--control", "mine+legacy", "--no-keep"],
        ["trace", CASES[0], "--runtime", "mine"],
        ["generate", "--examples", "1", "--candidate", "mine"],
        ["agent", "--runtime", "mine", "-p", "x"],
    ],
)
@pytest.mark.sampled(6)
def test_a_broken_import_is_one_sentence(words: list[str], tmp_path: Path) -> None:
    done = parity(install(tmp_path, BROKEN), *words)

    line = done.stderr.splitlines()[-1]
    assert line.removeprefix("parity: ").startswith(NAMED.removeprefix("parity: "))
    failed = "importing mine_rt failed with ValueError: no licence (mine_rt.py, line 1)"
    assert f"{failed}; mend that package" in line
    assert "Traceback" not in done.stderr
    assert done.returncode == (42 if words[0] == "agent" else 2)


def test_the_traceback_is_there_with_debug(tmp_path: Path) -> None:
    folder = install(tmp_path, BROKEN)

    done = parity(folder, "--debug", "run", CASES[0], "--candidate", "mine")

    assert f'File "{folder}/mine_rt.py", line 1, in f' in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize(
    "words",
    [
        ["run", *CASES, "--candidate", "mine", "--no-keep", "-n", "1"],
        ["run", *CASES, "--candidate", "mine", "--no-keep", "-n", "2"],
        ["trace", CASES[0], "--runtime", "mine"],
        ["generate", "--candidate", "mine", "--sample", "-n", "2"],
        ["generate", "--candidate", "mine", "--search"],
    ],
)
@pytest.mark.sampled(5)
def test_a_wrong_shape_that_shows_in_a_worker_ends_the_run(
    words: list[str], tmp_path: Path
) -> None:
    done = parity(install(tmp_path, WRONG), *words)

    *before, line = done.stderr.splitlines()
    assert line.startswith(f"{NAMED} cannot be used: its factory returned no async context")
    assert len(before) == (words[0] == "generate")
    assert done.returncode == 2


@pytest.mark.slow
def test_what_does_not_need_it_goes_on(tmp_path: Path) -> None:
    folder = install(tmp_path, BROKEN)

    run = parity(folder, "run", CASES[0], "--no-keep")
    listed = parity(folder, "list", CASES[0])

    assert (run.returncode, run.stderr) == (0, "")
    assert (listed.returncode, listed.stderr) == (0, "")


@pytest.mark.slow
def test_what_it_says_that_it_cannot_do_is_not_drawn(tmp_path: Path) -> None:
    traits = (
        "from parity.runtimes.contract import RuntimeTraits\nTRAITS = RuntimeTraits(features={})\n"
    )
    folder = install(tmp_path, GOOD + traits.format("frozenset({'interactive'})"))
    words = ["--sample", "--seed", "3", "--examples", "25", "--json", "out.json"]

    done = parity(folder, "generate", "--candidate", "mine", *words)

    assert done.returncode == 0, done.stdout + done.stderr
    missing = "compression, confirmations, fallback_handler, hooks, masking, next_speaker, reset"
    assert f"not drawn: mine has no {missing}, resume, rewind, routing\n" in done.stderr
    assert "undecided" not in done.stdout


@pytest.mark.slow
def test_a_runtime_that_works_is_judged(tmp_path: Path) -> None:
    done = parity(
        install(tmp_path, GOOD), "run", *CASES, "--candidate", "mine", "--no-keep", "-n", "2"
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "parity: legacy and mine over 2 cases" in done.stdout
