"""A process that waits for the end of another, and ends the processes which that one left behind.

A script that imports only the standard library, since it must start at once and must not break.
Only the guarded process can write to the pipe of its input: a line for each process that leads a
session (`child PID`) and for each folder of a run (`folder PATH`). The input ends when the guarded
process ends, in whatever way.
"""

import os
import signal
import sys
import time
from pathlib import Path

_ROUNDS = 200
_PAUSE_S = 0.01
"""The pause between rounds, since a killed process takes a moment to end."""


def main() -> None:
    """Read the reports of the guarded process, and clean up at its end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    leaders: dict[int, str] = {}
    folders: list[str] = []
    for line in sys.stdin.buffer:
        kind, _, what = os.fsdecode(line.rstrip(b"\n")).partition(" ")
        if kind == "child":
            leaders[int(what)] = _begun(int(what))
        elif kind == "folder":
            folders.append(what)
    end_all(leaders, folders)
    if any(map(os.path.isdir, folders)):
        import shutil  # slow to import, and hardly ever needed

        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def end_all(leaders: dict[int, str], folders: list[str]) -> None:
    """Kill, until none is left, the members of the leaders' sessions, their descendants, and each
    process whose current folder is in `folders`, which finds processes that were not yet reported.
    """
    for _ in range(_ROUNDS):
        targets = _targets(leaders, folders)
        if not targets:
            return
        # All stop before the first ends: a shell whose child ends goes on with its next command.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in targets:
                _signal(pid, number)
        time.sleep(_PAUSE_S)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _targets(leaders: dict[int, str], folders: list[str]) -> set[int]:
    table = {pid: facts for pid in _pids() if (facts := _facts(pid)) is not None}
    # Another process may have a leader's id by now; a session without a leader keeps its id.
    ours = {pid for pid, begun in leaders.items() if pid not in table or table[pid][2] == begun}
    found = {pid for pid, (_, session, _, _) in table.items() if pid in ours or session in ours}
    found |= {pid for pid in table if _inside(pid, folders)}
    before = -1
    while len(found) != before:
        before = len(found)
        found |= {pid for pid, (parent, _, _, _) in table.items() if parent in found}
    gone = {pid for pid in found if table[pid][3] in "ZX"}
    return found - gone - {os.getpid(), 1}


def _pids() -> list[int]:
    try:
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal()]
    except OSError:  # not Linux: only the reported leaders are known
        return []


def _facts(pid: int) -> tuple[int, int, str, str] | None:
    """Return parent, session, time of start and state of a process; `None` if it is gone."""
    try:
        # The name in parentheses may contain any character.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[3]), fields[19].decode(), fields[0].decode()
    except (OSError, IndexError, ValueError):
        return None


def _begun(pid: int) -> str:
    facts = _facts(pid)
    return "" if facts is None else facts[2]


def _inside(pid: int, folders: list[str]) -> bool:
    try:
        place = str(Path(f"/proc/{pid}/cwd").readlink()).removesuffix(" (deleted)")
    except OSError:
        return False
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


if __name__ == "__main__":
    main()
