"""Tasks at once over A2A: 200 over both runtimes, and fewer over the published server beside them.

The model is a process of its own, which answers at once; so is each server. The client is this
process. All three share the machine's processors.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target

__all__ = ["measure"]

TASKS: Final = 200
FEWER: Final = 5
"""Tasks for the published server. It did not end 20 at once within 80 s."""
WARM_UP: Final = 5
LIMIT_S: Final = 300
RUNS: Final = 3
FASTER: Final = Target(3, "at least")
LEANER: Final = Target(1 / 4, "at most")
START_S: Final = 60
PUBLISHED: Final = "PARITY_PUBLISHED_A2A"


@dataclass(slots=True)
class _Load:
    """What one run found."""

    tasks: int = 0
    first_s: list[float] = field(default_factory=list)
    events: int = 0
    wall_s: float = 0.0
    bytes_per_task: float = 0.0

    @property
    def p95_s(self) -> float:
        return sorted(self.first_s)[round(0.95 * len(self.first_s)) - 1]

    @property
    def tasks_per_s(self) -> float:
        return self.tasks / self.wall_s

    @property
    def events_per_s(self) -> float:
        return self.events / self.wall_s


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """The medians of three runs of each server, in turns, each in a process of its own."""
    # Each of the streams takes a file.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    servers = {name: [*PARITY, "agent", "--a2a", "--runtime", name] for name in ("legacy", "adk")}
    published = os.environ.get(PUBLISHED)
    if published:
        servers["published"] = ["node", published]
    else:
        progress(f"A2A: name the published server's program in {PUBLISHED}")
    loads: dict[str, list[_Load]] = {name: [] for name in servers}
    with _model() as model:
        for run in range(1 if quick else RUNS):
            for name, command in servers.items():
                tasks = FEWER if name == "published" else TASKS
                progress(f"A2A: {tasks} tasks at once, {name}, run {run + 1}")
                loads[name].append(_once(command, model, tasks))
    return Section("A2A load", _figures(loads))


def _figures(loads: dict[str, list[_Load]]) -> list[Figure]:
    figures = []
    for name, runs in loads.items():
        p95 = statistics.median(run.p95_s for run in runs)
        rate = statistics.median(run.events_per_s for run in runs)
        memory = statistics.median(run.bytes_per_task for run in runs)
        figures += [
            Figure(name=f"{name}: time to the first event, p95", value=p95, unit="s wall"),
            Figure(name=f"{name}: events a second", value=rate, unit="1/s"),
            Figure(name=f"{name}: memory a task", value=memory / 1024, unit="KiB"),
        ]
    theirs = loads.get("published")
    if not theirs:
        return figures
    for name in ("legacy", "adk"):
        faster = [
            mine.tasks_per_s / their.tasks_per_s
            for mine, their in zip(loads[name], theirs, strict=True)
        ]
        leaner = [
            mine.bytes_per_task / their.bytes_per_task
            for mine, their in zip(loads[name], theirs, strict=True)
        ]
        figures += [
            Figure(
                name=f"{name}: tasks a second, against the published server's",
                value=statistics.median(faster),
                target=FASTER,
            ),
            Figure(
                name=f"{name}: memory a task, against the published server's",
                value=statistics.median(leaner),
                target=LEANER,
            ),
        ]
    return figures


@contextmanager
def _model() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.a2a_model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def _once(command: Sequence[str], model: str, tasks: int) -> _Load:
    with tempfile.TemporaryDirectory(prefix="a2a-") as place:
        folder = Path(place)
        (folder / "ws").mkdir()
        (folder / "home" / ".gemini").mkdir(parents=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        (folder / "home" / ".gemini" / "settings.json").write_text(json.dumps(settings))
        port = _free_port()
        with subprocess.Popen(
            command,
            cwd=folder / "ws",
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder / "home"),
                "GEMINI_API_KEY": "none",
                "GOOGLE_GEMINI_BASE_URL": model,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "CODER_AGENT_PORT": str(port),
                "CODER_AGENT_ALLOWED_ROOT": "/",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                return asyncio.run(_played(port, folder / "ws", process.pid, tasks))
            finally:
                process.kill()


async def _played(port: int, workspace: Path, pid: int, tasks: int) -> _Load:
    await _until_listening(port)
    for number in range(WARM_UP):
        await _task(port, workspace, f"w{number}", _Load())
    before = _resident(pid)
    load = _Load()
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
            for number in range(tasks):
                group.create_task(_task(port, workspace, f"m{number}", load))
    except TimeoutError:
        problem = f"a server does not end {tasks} tasks at once within {LIMIT_S} s"
        raise MeasurementError(problem) from None
    load.wall_s = time.perf_counter() - begun
    load.tasks = tasks
    load.bytes_per_task = (_resident(pid) - before) / tasks
    return load


async def _task(port: int, workspace: Path, name: str, load: _Load) -> None:
    """One task: a message, and its events to the end of the stream."""
    message = {
        "kind": "message",
        "role": "user",
        "messageId": name,
        "parts": [{"kind": "text", "text": "hi"}],
        "metadata": {"coderAgent": {"kind": "agent-settings", "workspacePath": str(workspace)}},
    }
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}
    ).encode()
    head = (
        f"POST / HTTP/1.1\r\nhost: localhost:{port}\r\ncontent-type: application/json\r\n"
        f"accept: text/event-stream\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("localhost", port, limit=2**24)
    writer.write(head.encode() + body)
    final = False
    count = 0
    while line := await reader.readline():
        if line.startswith(b"data: "):
            if not count:
                load.first_s.append(time.perf_counter() - begun)
            count += 1
            final = final or b'"final":true' in line
    writer.close()
    if not final:
        raise MeasurementError("a task did not end its turn")
    load.events += count


async def _until_listening(port: int) -> None:
    ends = time.perf_counter() + START_S
    while True:
        try:
            _, writer = await asyncio.open_connection("localhost", port)
        except OSError:
            if time.perf_counter() > ends:
                raise MeasurementError(f"a server does not listen after {START_S} s") from None
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _resident(pid: int) -> int:
    text = Path(f"/proc/{pid}/statm").read_text()
    return int(text.split()[1]) * resource.getpagesize()
