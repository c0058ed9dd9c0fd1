"""`parity agent --a2a` as a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

__all__ = ["COMMAND", "started"]

COMMAND = ["-c", "from parity_entry.command import main; main()", "agent", "--a2a"]


@contextmanager
def started(
    folders: Path, *words: str, variables: dict[str, str] | None = None, approves: bool = True
) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """A server, and a client of it; the server is killed at the end.

    `approves`: whether the server approves every call.
    """
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--port", "0", *(["-y"] if approves else []), *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folders / "ws",
        env={**os.environ, "CODER_AGENT_ALLOWED_ROOT": str(folders), **(variables or {})},
    )
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the server has ended"
            found = re.search(r"listens on (https?://\S+)", line)
        with httpx.Client(base_url=found[1], timeout=60) as http:
            yield process, http
    finally:
        process.kill()
        process.communicate()
