"""Fake blocks that need no runtime, and executors in this process."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from harness.experiment.pool import Workers
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.scenarios.block import BlockDone, BlockTask, Finding
from harness.scenarios.generation import GenerationPlan

WAIVERS = Waivers(as_of=date(2026, 1, 1))


class ProcessIsGone(BaseException):
    """Raised by a task that would kill its worker."""


class HereAndNow(Executor):
    """Runs a task at once, in this process; a killing task breaks it like a pool of processes."""

    def __init__(self) -> None:
        self.broken = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.broken:
            raise BrokenExecutor("a worker was killed")
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except ProcessIsGone:
            self.broken = True
            future.set_exception(BrokenExecutor("a worker was killed"))
        return future


def here(opened: list[int] | None = None) -> Workers:
    """Workers in this process; `opened` records each requested number of workers."""

    @contextmanager
    def executor(jobs: int) -> Iterator[Executor]:
        if opened is not None:
            opened.append(jobs)
        yield HereAndNow()

    return Workers(executor)


def plan(**changes: Any) -> GenerationPlan:
    given: dict[str, Any] = {
        "way": "sample",
        "profile": "everything",
        "seed": 1,
        "control": "legacy",
        "candidate": "adk",
        "waivers": WAIVERS,
        "examples": 75,
    }
    return GenerationPlan(**{**given, **changes})


def document(name: str = "generated/everything_1") -> dict[str, Any]:
    return {
        "cassette": 1,
        "name": name,
        "phase": "A",
        "provenance": {"kind": "generated"},
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "say it"}],
        "model": [{"text": "it"}],
    }


def divergence(label: str = "usage", **changes: Any) -> Divergence:
    given: dict[str, Any] = {
        "cassette": "generated/everything_1",
        "channel": ChannelName.EVENTS,
        "kind": Kind.CHANGED,
        "label": label,
        "control": 1,
        "candidate": 2,
    }
    return Divergence(**{**given, **changes})


def finding(block: int = 0, label: str = "usage", **changes: Any) -> Finding:
    found = divergence(label)
    given: dict[str, Any] = {
        "fingerprint": found.fingerprint,
        "block": block,
        "document": document(),
        "choices": (1, 2, 3),
        "result": CaseResult(
            cassette="generated/everything_1",
            divergences=(found,),
            digests=("a", "b"),
            runtimes=("legacy", "adk"),
        ),
    }
    return Finding(**{**given, **changes})


def done(number: int, *findings: Finding, examples: int = 25) -> BlockDone:
    return BlockDone(
        number=number,
        examples=examples,
        digest=f"digest {number}",
        reached=Counter({"event:message": examples}),
        findings=list(findings),
        seen=Counter({each.fingerprint: 2 for each in findings}),
        run_s=0.5,
    )


def quiet(task: BlockTask) -> BlockDone:
    """A block without findings."""
    return done(task.number, examples=task.examples)


def kills_by_its_second_example(task: BlockTask) -> BlockDone:
    """A block whose second example kills its process."""
    if task.only in (None, 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return quiet(task)


class Silence:
    """A campaign's progress that records its calls."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.stages: list[str] = []
        self.updates = 0

    def update(self) -> None:
        self.updates += 1

    def say(self, words: str, style: str = "") -> None:
        self.said.append(words)

    def stage(self, words: str) -> None:
        self.stages.append(words)


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*.yaml"))
