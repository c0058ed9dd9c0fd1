"""Runs killed at random points: what is in the journal, what `--resume` does, what is left.

`python -m benchmarks.kills --runs 100`. Each run replays a few cassettes, is killed with SIGKILL
(or SIGTERM, with `--signal TERM`) at a moment that a seeded generator chose, and is gone on with
until it ends. What must hold: a case whose `finished` line was whole is not run again, the results
of the resumed journal are those of an undisturbed run, no process is left, no folder is left after
the next start, and no traceback is printed. This process adopts the children of a killed one
(`PR_SET_CHILD_SUBREAPER`, Linux), so that it can wait for all of them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.figures import MeasurementError

__all__ = ["Kill", "Setting", "adopt_orphans", "killed_run", "main", "measured", "results_in"]

_SET_CHILD_SUBREAPER: Final = 36
_ALL_GONE_S: Final = 20.0
_TEMPORARY: Final = "temporary"
"""The folder that runs take for the machine's temporary folder."""
_STRAY: Final = ("Traceback", "Exception ignored", "resource_tracker", "Error")
_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_USUAL: Final = (
    "abort/during_shell",
    "hooks/timed_out",
    "mcp/cancelled",
    "tools/background_running",
    "tools/mixed_batch",
    "tools/shell_job_left_behind",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is run and killed."""

    command: Sequence[str]
    """`parity run …`, without journal."""
    folder: Path
    """Where journals go, and where it is run."""
    expected: dict[str, str]
    """Cassette to its `finished` line in an undisturbed run."""
    number: signal.Signals = signal.SIGKILL
    """The signal that ends it."""


@dataclass(slots=True, kw_only=True)
class Kill:
    """The result of one run that was killed."""

    after_s: float
    kept: int = 0
    """Cases that were finished when it was killed."""
    ended: bool = False
    """It had come to its end before."""
    folders: int = 0
    """Folders that it left behind until the next start."""
    adopted: int = 0
    """Processes that it left behind for a moment."""
    problems: list[str] = field(default_factory=list)


def adopt_orphans() -> None:
    """Become the parent of whatever a killed child of this process leaves behind.

    Raises:
        OSError: this system cannot do that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def results_in(journal: Path) -> dict[str, str]:
    """Cassette to its `finished` line, of the whole lines of a journal."""
    if not journal.exists():
        return {}
    text = journal.read_bytes()
    lines = text[: text.rfind(b"\n") + 1].decode().splitlines()
    return {json.loads(line)["finished"]: line for line in lines if line.startswith('{"finished"')}


def killed_run(setting: Setting, number: int, after_s: float) -> Kill:
    """Start a run, kill it after so many seconds, see to what is left, and go on with it."""
    journal = setting.folder / f"{number}.jsonl"
    command = [*setting.command, "--journal", str(journal)]
    kill = Kill(after_s=after_s)
    with tempfile.TemporaryFile() as errors:
        process = _started(command, setting.folder, errors.fileno())
        try:
            kill.ended = process.wait(after_s) in (0, 1, 3)
        except subprocess.TimeoutExpired:
            process.send_signal(setting.number)
            process.wait()
        kill.adopted, left = _wait_for_orphans()
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if any(word in said for word in _STRAY):
        kill.problems.append(f"printed {said[-2000:]}")
    kill.folders = len(_folders(setting))
    kill.problems += [f"left running: {name}" for name in left]
    before = results_in(journal)
    kill.kept = len(before)
    with tempfile.TemporaryFile() as errors:
        again = _started([*command, "--resume"], setting.folder, errors.fileno())
        if again.wait() not in (0, 1, 3):
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            kill.problems.append(f"--resume ended with {again.returncode}: {said[-500:]}")
    after = results_in(journal)
    kill.problems += [f"{name} was judged again" for name in _twice(journal)]
    kill.problems += [f"{name} was lost" for name in before if after.get(name) != before[name]]
    if after != setting.expected:
        kill.problems.append("the resumed journal is not that of an undisturbed run")
    _, left = _wait_for_orphans()
    kill.problems += [f"left running after --resume: {name}" for name in left]
    kill.problems += [f"left after --resume: {name}" for name in _folders(setting)]
    return kill


def _started(
    command: Sequence[str], folder: Path, errors: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={
            **os.environ,
            "PYTHONPATH": str(_REPOSITORY),
            "PARITY_KEEP": "0",
            "TMPDIR": str(folder / _TEMPORARY),
        },
    )


def _folders(setting: Setting) -> list[str]:
    return sorted(entry.name for entry in (setting.folder / _TEMPORARY).iterdir())


def _twice(journal: Path) -> list[str]:
    lines = journal.read_text().splitlines()
    seen = [json.loads(line)["finished"] for line in lines if line.startswith('{"finished"')]
    return sorted({name for name in seen if seen.count(name) > 1})


def _wait_for_orphans() -> tuple[int, list[str]]:
    """Wait until nothing of the killed run is there; how many there were, and who would not go."""
    adopted, deadline = 0, time.perf_counter() + _ALL_GONE_S
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return adopted, []
        if pid:
            adopted += 1
        elif time.perf_counter() > deadline:
            left = list(_children())
            for child, _ in left:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            return adopted, [name for _, name in left]
        else:
            time.sleep(0.005)


def _children() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
            name = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, IndexError, ValueError):
            continue
        if parent == os.getpid():
            yield int(entry.name), name.strip()


def measured(
    base: Sequence[str],
    folder: Path,
    *,
    runs: int,
    seed: int,
    jobs: Sequence[int],
    number: signal.Signals = signal.SIGKILL,
) -> int:
    """Kill runs, print the results, and return the number of runs with a problem.

    Args:
        base: The command of a run, without `-n` and without a journal.
        folder: The working folder.
        runs: How many runs to kill.
        seed: Seed of the moments.
        jobs: Values of `-n`, by turns.
        number: The signal that ends a run.

    Raises:
        MeasurementError: there is nothing to kill.
    """
    rng = random.Random(seed)
    (folder / _TEMPORARY).mkdir()
    settings = {}
    for count in jobs:
        whole = folder / f"whole-{count}.jsonl"
        command = [*base, "-n", str(count)]
        begun = time.perf_counter()
        _started([*command, "--journal", str(whole)], folder).wait()
        took = time.perf_counter() - begun
        expected = results_in(whole)
        if not expected:
            raise MeasurementError(f"an undisturbed run found nothing: {command}")
        setting = Setting(command=command, folder=folder, expected=expected, number=number)
        settings[count] = setting, took
        print(f"-n {count}: {len(expected)} cases in {took:.1f} s, undisturbed", flush=True)
    kills: list[Kill] = []
    for index in range(runs):
        count = jobs[index % len(jobs)]
        setting, took = settings[count]
        kill = killed_run(setting, index, rng.uniform(0, took))
        kills.append(kill)
        if kill.ended:  # the machine has less to do by now
            settings[count] = setting, kill.after_s
        for problem in kill.problems:
            print(f"run {index}, killed after {kill.after_s:.2f} s: {problem}", flush=True)
    cut = [kill for kill in kills if not kill.ended]
    bad = sum(bool(kill.problems) for kill in kills)
    print(f"{len(kills)} runs, {len(cut)} killed before their end")
    print(f"cases in the journal at the kill: {sum(kill.kept for kill in cut)}")
    print(f"processes that were there for a moment longer: {sum(kill.adopted for kill in cut)}")
    print(f"folders that were there until the next start: {sum(kill.folders for kill in cut)}")
    print(f"runs with which something was wrong: {bad}")
    return bad


def main() -> int:
    """Kill runs and print the results; 1 if there was a problem."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.kills")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-n", "--jobs", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--signal", choices=["KILL", "TERM", "INT"], default="KILL")
    parser.add_argument("--control", default="legacy")
    parser.add_argument("--candidate", default="adk")
    parser.add_argument("cassettes", nargs="*", type=Path)
    asked = parser.parse_args()
    adopt_orphans()
    cassettes = [file.resolve(strict=True) for file in asked.cassettes] or _few()
    base = [sys.executable, "-m", "harness.cli", "run", *map(str, cassettes)]
    base += ["--trust", "--control", asked.control, "--candidate", asked.candidate]
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        bad = measured(
            base,
            Path(place),
            runs=asked.runs,
            seed=asked.seed,
            jobs=asked.jobs,
            number=signal.Signals[f"SIG{asked.signal}"],
        )
    return 1 if bad else 0


def _few() -> list[Path]:
    """Cassettes that start shells, jobs in the background, hooks and servers; and some plain ones.

    Raises:
        FileNotFoundError: the corpus has changed.
    """
    files = [_REPOSITORY / "cassettes" / f"{name}.yaml" for name in _USUAL]
    return [file.resolve(strict=True) for file in files]


if __name__ == "__main__":
    sys.exit(main())
