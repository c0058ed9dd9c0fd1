"""What the tests of the published core as a runtime share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, check_available
from runtimes.upstream import pool

REPOSITORY = Path(__file__).parents[3]
DRIVER = Path(__file__).with_name("stand_in_driver.py")


def why_not() -> str:
    """Why the core cannot be run here, with the command that mends it; empty if it can."""
    try:
        check_available(DEFAULT_VERSION)
    except UpstreamUnavailable as missing:
        return str(missing)
    return ""


needs_core = pytest.mark.skipif(bool(why_not()), reason=why_not())


def drive_with(monkeypatch: pytest.MonkeyPatch, behaviour: str | list[str | Path]) -> None:
    """From now on drivers are the stand-in, of this behaviour, or what this command starts."""
    command = [sys.executable, DRIVER, behaviour] if isinstance(behaviour, str) else behaviour
    monkeypatch.setattr(pool, "find_node", lambda: Path(sys.executable))
    monkeypatch.setattr(pool, "package_folder", lambda version: Path("/nowhere"))
    monkeypatch.setattr(pool, "driver_command", lambda node, package: command)


def cassette(**keys: Any) -> Cassette:
    """A cassette of one send and one answer, but for `keys`."""
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        "model": [{"text": "hi"}],
        **keys,
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def calls(name: str, **args: Any) -> dict[str, Any]:
    """A model step that asks for one tool."""
    part = {"functionCall": {"name": name, "args": args}}
    content = {"role": "model", "parts": [part]}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def children() -> set[int]:
    """The processes that this one has started and that have not been waited for."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def running(mark: str) -> list[int]:
    """The processes that have `mark` in their command line, this one left aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            words = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if mark.encode() in words:
            found.append(int(folder.name))
    return found


@contextmanager
def fresh_pool() -> Iterator[None]:
    """No driver of another test before, and none of this one afterwards."""
    pool.close_idle()
    try:
        yield
    finally:
        pool.close_idle()
