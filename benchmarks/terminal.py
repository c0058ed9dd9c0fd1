"""The interactive terminal: its first screen, streamed output, and the memory of a long session."""

from __future__ import annotations

import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.acp_start import published_command
from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target

__all__ = ["measure"]

FIRST_SCREEN: Final = Target(1, "below")
FRAMES: Final = Target(20, "at least")
CORES: Final = Target(1, "below")
MEMORY: Final = Target(1.3)
STARTS: Final = 5
TURNS: Final = 1000
KILOBYTES: Final = 1024
_PLACEHOLDER: Final = b"Type your message"
_END: Final = b"the-very-end"
_FRAME: Final = b"\x1b[?2026h"
"""Begins a frame, where the terminal says that it shows frames as a whole."""
_ASKS_FOR_FRAMES: Final = b"\x1b[?2026$p"
_SHOWS_FRAMES: Final = b"\x1b[?2026;2$y"
_LIMIT_S: Final = 120


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """The medians of the starts; one stream of a megabyte; the sizes after a thousand turns."""
    starts, turns = (2, 100) if quick else (STARTS, TURNS)
    progress(f"terminal: {starts} starts")
    figures = list(_first_screens(starts))
    progress("terminal: a stream of a megabyte")
    figures += _streamed()
    progress(f"terminal: {turns} turns, twice")
    screen, headless = (_resident_after(turns, side) for side in ("terminal", "headless"))
    figures += [
        Figure(name=f"resident after {turns} turns", value=screen / 2**20, unit="MB"),
        Figure(
            name="against the same turns without a screen", value=screen / headless, target=MEMORY
        ),
    ]
    return Section("terminal", figures)


def _first_screens(starts: int) -> Iterator[Figure]:
    published = published_command()
    ours, theirs = [], []
    for _ in range(starts + 1):  # The first one fills the caches.
        ours.append(_start([*PARITY, "agent"]))
        if published:
            theirs.append(_start(published))
    wall = statistics.median(ours[1:])
    name = f"start to the input, median of {starts}"
    yield Figure(name=name, value=wall, unit="s wall", target=FIRST_SCREEN)
    if published:
        beside = statistics.median(theirs[1:])
        yield Figure(name="the published CLI's", value=beside, unit="s wall")
        yield Figure(name="share of the published CLI's time", value=wall / beside)


def _start(command: Sequence[str]) -> float:
    with tempfile.TemporaryDirectory() as folder, _Screen(command, Path(folder)).open() as screen:
        begun = time.perf_counter()
        screen.until(_PLACEHOLDER)
        return time.perf_counter() - begun


def _streamed() -> Iterator[Figure]:
    line = "A line of a long answer, with words of all kinds, up to eighty letters or so.\n"
    text = line * (1024 // len(line) + 1)
    chunks = [{"candidates": [_candidate(text[:1024])]} for _ in range(KILOBYTES)]
    chunks.append({"candidates": [{**_candidate(f"\n\n{_END.decode()}"), "finishReason": "STOP"}]})
    answer = json.dumps({"method": "generateContentStream", "response": chunks})
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder, "answers.jsonl")
        answers.write_text(f"{answer}\n", "utf-8")
        command = [*PARITY, "agent", "--fake-responses", str(answers)]
        with _Screen([*command, "-m", "gemini-2.5-flash"], Path(folder)).open() as screen:
            screen.until(_PLACEHOLDER)
            screen.until(b"context left")
            screen.send(b"go\r")
            screen.until(b"A line of")
            frames, cpu, begun = screen.frames, screen.cpu_s(), time.perf_counter()
            screen.until(_END)
            wall = time.perf_counter() - begun
            frames, cpu = screen.frames - frames, screen.cpu_s() - cpu
    yield Figure(name="a streamed megabyte on the screen", value=wall, unit="s wall")
    yield Figure(name="its frames", value=frames / wall, unit="a second", target=FRAMES)
    yield Figure(name="its CPU", value=cpu / wall, unit="cores", target=CORES)


def _candidate(text: str) -> dict[str, object]:
    return {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}


def _resident_after(turns: int, side: str) -> int:
    command = [sys.executable, "-m", "benchmarks.terminal_session", side, str(turns)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeasurementError(f"a session of {turns} turns failed: {done.stderr[-500:]}")
    return int(done.stdout.split()[-1])


class _Screen:
    """A program in a pseudo-terminal, in a home and a folder of its own."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = list(command)
        self._folder = folder
        self._seen = b""
        self.frames = 0

    @contextmanager
    def open(self) -> Iterator[_Screen]:
        """Start the program; leaving ends it."""
        import pty
        from fcntl import ioctl
        from struct import pack
        from termios import TIOCSWINSZ

        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, pack("HHHH", 50, 120, 0, 0))
        with subprocess.Popen(
            self._command,
            cwd=self._folder,
            env=self._variables(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            os.close(theirs)
            self._terminal, self._pid = ours, process.pid
            try:
                yield self
            finally:
                process.kill()
                os.close(ours)

    def _variables(self) -> Mapping[str, str]:
        home = self._folder / "home" / ".gemini"
        home.mkdir(parents=True, exist_ok=True)
        document = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"disableLoopDetection": True},  # The long answer repeats itself.
        }
        (home / "settings.json").write_text(json.dumps(document), "utf-8")
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_HOME": str(home.parent),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "TERM": "xterm-256color",
        }

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    def until(self, words: bytes) -> None:
        """Read until the program has drawn `words`.

        Raises:
            MeasurementError: it never does.
        """
        limit = time.monotonic() + _LIMIT_S
        while words not in self._seen:
            ready, _, _ = select.select([self._terminal], [], [], max(0, limit - time.monotonic()))
            try:
                read = os.read(self._terminal, 1 << 16) if ready else b""
            except OSError:
                read = b""
            if not read:
                raise MeasurementError(f"{self._command[-1]} has not drawn {words.decode()!r}")
            if _ASKS_FOR_FRAMES in read:
                self.send(_SHOWS_FRAMES)
            self.frames += read.count(_FRAME)
            # Only words that stand together count; colours may stand between them.
            self._seen = re.sub(rb"\x1b\[[0-9;]*m", b"", (self._seen + read)[-(1 << 17) :])

    def cpu_s(self) -> float:
        """The CPU time of the program so far."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
