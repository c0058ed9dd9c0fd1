"""How long an editor waits for `initialize`: our agent, and the published CLI beside it."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target

__all__ = ["measure", "published_command"]

SHARE: Final = Target(1 / 3, "below")
RUNS: Final = 7
REQUEST: Final = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": 1, "clientCapabilities": {}},
        }
    ).encode()
    + b"\n"
)


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """The medians of seven starts of each program, in turns; one before them fills the caches."""
    published = published_command()
    progress(f"ACP: {RUNS} starts of each program")
    ours, theirs = [], []
    for _ in range(RUNS + 1):
        ours.append(_once([*PARITY, "agent", "--acp"]))
        if published:
            theirs.append(_once([*published, "--acp"]))
    wall = statistics.median(ours[1:])
    figures = [Figure(name="start to initialize, median of 7", value=wall, unit="s wall")]
    if published:
        beside = statistics.median(theirs[1:])
        figures += [
            Figure(name="the published CLI's, median of 7", value=beside, unit="s wall"),
            Figure(name="share of the published CLI's time", value=wall / beside, target=SHARE),
        ]
    else:
        progress("ACP: name the published CLI's bundle/gemini.js in PARITY_PUBLISHED_CLI")
    return Section("ACP start", figures)


def published_command() -> list[str]:
    """The command of the published CLI; empty without one."""
    bundle = os.environ.get("PARITY_PUBLISHED_CLI")
    if bundle:
        return ["node", bundle]
    return ["gemini"] if shutil.which("gemini") else []


def _once(command: Sequence[str]) -> float:
    begun = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "GEMINI_API_KEY": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(REQUEST)
        process.stdin.flush()
        answer = process.stdout.readline()
        wall = time.perf_counter() - begun
        process.stdin.close()
    if b'"result"' not in answer:
        raise MeasurementError(f"{' '.join(command)} did not answer initialize")
    return wall
