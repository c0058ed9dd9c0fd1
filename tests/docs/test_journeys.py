"""ARCHITECTURE.md's journeys are true: their functions are called, in the order of the page."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
STATION: Final = re.compile(r"^\d+\. `([^`]+)` `([^`]+)`", re.MULTILINE)
JOURNEYS: Final = {
    "## Follow one case": ("run", "tools/read_ranges", "-n", "1"),
    "A user's message in **legacy**": ("trace", "tools/read_ranges", "--runtime", "legacy"),
    "The same message in **adk**": ("trace", "tools/read_ranges", "--runtime", "adk"),
}
"""The words with which a journey begins, and the arguments of `parity` that take it."""
RECORDER: Final = """
import os, sys, threading
from harness.cli import main

root, called = sys.argv[1], set()
file = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def note(frame, event, _):
    code = frame.f_code
    if event != "call" or code in called or not code.co_filename.startswith(root):
        return
    called.add(code)
    os.write(file, f"{code.co_filename[len(root) + 1:]} {code.co_qualname}\\n".encode())

sys.argv[1:] = sys.argv[3:]
threading.setprofile(note)
sys.setprofile(note)
main()
"""
"""Runs `parity` and writes down each function of the project at its first call.

A forked worker goes on writing to the same file.
"""


@cache
def journeys() -> dict[str, list[str]]:
    """The stations of each journey on the page, as `file function`."""
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    found = {}
    for beginning in JOURNEYS:
        _, _, rest = page.partition(beginning)
        block = re.split(r"\n(?=## |The same message)", rest, maxsplit=1)[0]
        found[beginning] = [" ".join(station) for station in STATION.findall(block)]
    return found


def first_calls(arguments: tuple[str, ...], file: Path) -> list[str]:
    """The functions that a command calls, in the order of their first calls."""
    command = [sys.executable, "-c", RECORDER, str(ROOT), str(file), *arguments]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return file.read_text("utf-8").splitlines()


@pytest.mark.parametrize("beginning", JOURNEYS)
def test_stations_are_called_in_the_order_of_the_page(beginning: str, tmp_path: Path) -> None:
    stations = journeys()[beginning]
    assert 10 <= len(stations) <= 12
    called = first_calls(JOURNEYS[beginning], tmp_path / "calls")
    assert [each for each in stations if each not in called] == []
    assert sorted(stations, key=called.index) == stations
