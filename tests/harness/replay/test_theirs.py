"""A third party's runtime that breaks what no runtime may break: one sentence with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.experiment.backend import real_backend
from harness.experiment.case import CaseTask, judge
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from tests.processes import ends
from tests.runtimes.third_party import forgotten, install

__all__ = ["forgotten"]

CASSETTE = {
    "cassette": 1,
    "name": "own/hi",
    "session": {"model": "gemini-2.5-flash"},
    "script": [{"send": "hi"}],
    "model": [],
}
RUNTIME = """
import asyncio, os
from contextlib import asynccontextmanager
from types import SimpleNamespace
from parity.agent_protocol.event_log import EventLog
from parity.agent_protocol.events import AgentEnd, AgentStart, Custom, Message, ToolResponse
from parity.runtimes.contract import RuntimeTraits

TRAITS = RuntimeTraits(channels=frozenset({"events"}))
FIELDS = {"timestamp": "2026-01-01T00:00:00.000Z", "stream_id": "s"}

class Agent(EventLog):
    async def send(self, payload):
        self.task = asyncio.get_running_loop().create_task(self.stream())
        return "s"
    async def abort(self):
        pass
    def say(self, kind, /, **fields):
        self.number = getattr(self, "number", 0) + 1
        self.emit([kind(id=str(self.number), **FIELDS, **fields)])
    async def stream(self):
        self.say(AgentStart)
        await self.behave()
        self.say(AgentEnd, reason="completed")
    async def behave(self):
        BEHAVIOUR

class Runtime:
    def __init__(self):
        self.made = []
    def agent(self, *, prompt_id=None):
        self.made.append(Agent())
        return self.made[-1]
    def transcript(self):
        return []
    async def reset(self):
        pass
    async def settled(self):
        for each in self.made:
            await each.task

@asynccontextmanager
async def open_runtime(services):
    OPENING
    yield Runtime()
"""


def runtime(folder: Path, behaviour: str = "pass", opening: str = "pass") -> Path:
    source = RUNTIME.replace("BEHAVIOUR", behaviour).replace("OPENING", opening)
    return install(folder, source)


def seen(folder: Path, monkeypatch: pytest.MonkeyPatch, **how: str) -> Observation:
    monkeypatch.syspath_prepend(runtime(folder, **how))
    cassette = build_cassette(dict(CASSETTE), Path("own/hi.yaml").absolute())
    return run_cassette(cassette, "mine")


def line_of(folder: Path, text: str) -> int:
    lines = (folder / "mine_rt.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_good_one_is_observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = seen(tmp_path, monkeypatch)

    assert found.blocker is None
    assert [event["type"] for event in found.events] == ["agent_start", "agent_end"]


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (
            'self.say(ToolResponse, request_id="x", name="order")',
            "broke: it emits its events out of order: a tool_update or tool_response names a",
        ),
        (
            'self.say(Custom, kind="a", data={"x": object()})',
            "broke: it emits an event that is not JSON (Custom): Object of type object is not JSON",
        ),
        (
            "self.emit([3])",
            (
                "could not go on by itself: its stream never ended, since a task of it raised "
                "AttributeError: 'int' object has no attribute 'id'"
            ),
        ),
        (
            'await asyncio.Event().wait(); "here"',
            "could not go on by itself: the run stalled: the stream had not ended, and nothing",
        ),
        (
            'asyncio.get_running_loop().create_task(asyncio.Event().wait(), name="x"); "here"',
            "broke: it leaves work unfinished: Task was destroyed but it is pending: Event.wait",
        ),
    ],
)
def test_what_it_breaks_is_said_with_its_line(
    behaviour: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(tmp_path, monkeypatch, behaviour=behaviour)

    assert (found.blocker or "").startswith(problem)
    if "leaves" not in problem:
        place = line_of(tmp_path, "self.emit([kind(" if "say(" in behaviour else behaviour)
        assert (found.blocker or "").endswith(f"(mine_rt.py, line {place})")


def test_an_error_in_the_middle_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(tmp_path, monkeypatch, opening="raise ValueError('no licence')")

    place = line_of(tmp_path, "raise ValueError")
    assert found.blocker == f"got nowhere: ValueError: no licence (mine_rt.py, line {place})"


def test_a_process_that_it_leaves_is_named_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    started = f"os.posix_spawnp('sh', ['sh', '-c', 'echo $$ > {pid}; exec sleep 600'], {{}})"
    started += f"\n        while not os.path.getsize({str(pid)!r}): pass"
    pid.touch()

    found = seen(tmp_path, monkeypatch, behaviour=started)

    assert found.blocker == "broke: it leaves work unfinished: a process still runs: sleep 600"
    assert ends(int(pid.read_text()))


def test_the_other_cases_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(runtime(tmp_path, opening="raise ValueError('no licence')"))
    file = tmp_path / "own" / "hi.yaml"
    file.parent.mkdir()
    file.write_text(
        "cassette: 1\nname: own/hi\nsession: {model: x}\nscript: [{send: hi}]\nmodel: [{text: a}]\n"
    )
    task: dict[str, Any] = {"backend": real_backend(None), "name": "own/hi", "file": file}

    result = judge(CaseTask(**task, root=tmp_path, control="legacy", candidate="mine"))

    assert isinstance(result, CaseResult)
    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert result.blockers[0].startswith("mine got nowhere: ValueError: no licence (mine_rt.py")
