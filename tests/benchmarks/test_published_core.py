from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_protocol.content import TextPart
from agent_protocol.events import Message
from benchmarks.conversations import open_conversation
from benchmarks.figures import Figure, MeasurementError
from benchmarks.model import USAGE
from benchmarks.published_core import (
    _MESSAGE,
    CORE,
    SCRIPT,
    Core,
    _answer,
    _started,
    cpu_figures,
    measure,
    memory_figures,
)
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, find_node, package_folder
from services.clock import virtual_loop

MB = 1024 * 1024


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def seconds(core: float, legacy: float) -> Mapping[str, float]:
    return {
        f"{name}@{turn}": cost * (1 if turn == 10 else 2)
        for name, cost in ((CORE, core), ("legacy", legacy), ("adk", 0.004))
        for turn in (10, 100, 1000)
    }


def test_cost_of_a_turn_is_a_part_of_the_cores_within_each_repeat() -> None:
    repeats = [seconds(0.002, 0.001), seconds(0.02, 0.001), seconds(0.004, 0.001)]

    found = by_name(cpu_figures(repeats))

    early = found[f"legacy / {CORE}, text, turn 10"]
    assert (early.value, early.note) == (0.25, "0.05 to 0.5 in 3")
    assert found[f"{CORE}, text, turn 10"].value == pytest.approx(4)
    assert found[f"{CORE}, text: turn 1000 / turn 10"].value == 2


def test_only_legacy_at_turn_10_has_to_be_below_the_core() -> None:
    figures = cpu_figures([seconds(0.001, 0.001)])

    judged = [
        (figure.name, str(figure.target), figure.verdict) for figure in figures if figure.target
    ]
    assert judged == [(f"legacy / {CORE}, text, turn 10", "< 1", "missed")]


SIZES = {
    CORE: {"imported": 150 * MB, "start": 200 * MB, "end": 800 * MB, "heap": MB, "peak": 900 * MB},
    "legacy": {"start": 30 * MB, "end": 40 * MB, "peak": 40 * MB},
    "adk": {"start": 100 * MB, "end": 300 * MB, "peak": 300 * MB},
}


def test_memory_is_a_quarter_of_the_cores_in_all_and_in_growth() -> None:
    found = by_name(memory_figures(SIZES, judged=True))

    judged = {
        name: (figure.value, figure.verdict) for name, figure in found.items() if figure.target
    }
    assert judged == {
        f"legacy / {CORE}, text: RSS, all": (0.05, "met"),
        f"legacy / {CORE}, text: RSS, growth": (pytest.approx(10 / 600), "met"),
        f"adk / {CORE}, text: RSS, all": (0.375, "missed"),
        f"adk / {CORE}, text: RSS, growth": (pytest.approx(200 / 600), "missed"),
    }
    assert found[f"{CORE}, text: RSS, all"].value == 800


def test_memory_of_a_short_conversation_is_not_judged() -> None:
    assert not any(figure.verdict for figure in memory_figures(SIZES, judged=False))


def test_core_that_is_not_installed_is_skipped_with_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    try:
        find_node()
    except UpstreamUnavailable as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv("PARITY_CACHE_HOME", str(tmp_path))

    section = measure(quick=True, progress=pytest.fail)

    assert section.figures == []
    (remark,) = section.remarks
    assert remark.startswith(f"Skipped: the published core {DEFAULT_VERSION} is not installed; ")
    assert remark.endswith("run `parity upstream install`.")


def test_missing_node_is_skipped_with_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARITY_NODE", "no-such-program")

    section = measure(quick=True, progress=pytest.fail)

    assert section.figures == []
    assert "no-such-program; install node" in section.remarks[0]


def stand_in(tmp_path: Path, code: str) -> Core:
    """A core whose node is this Python, and whose script is `code`."""
    script = tmp_path / "script.py"
    script.write_text(f"import json, os, signal, sys\n{code}\n", "utf-8")
    return Core(Path(sys.executable), tmp_path, script)


def test_process_gets_the_plan_and_an_environment_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    report = "dict(os.environ, cwd=os.getcwd(), plan=json.loads(sys.argv[2]))"
    core = stand_in(tmp_path, f"print(json.dumps({report}))")

    found = core.run({"way": "cpu"})

    assert found["plan"] == {"way": "cpu"}
    assert found["HOME"] == found["cwd"]
    assert not Path(found["HOME"]).exists()
    own = {"PATH", "HOME", "TZ", "LANG", "cwd", "plan"}
    assert set(found) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == own


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('first\\nlast', file=sys.stderr); sys.exit(3)", "ended with 3: last"),
        ("sys.exit(3)", "ended with 3: no message"),
        ("print('hello')", "answered no JSON"),
    ],
)
def test_process_that_fails_says_how(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(MeasurementError, match=said):
        stand_in(tmp_path, code).run({})


def test_process_is_ended_at_its_deadline(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"not done after 0\.01 s"):
        stand_in(tmp_path, "signal.pause()").run({}, deadline_s=0.01)


def test_process_is_ended_when_the_measurement_is_interrupted() -> None:
    command = [sys.executable, "-c", "import signal; signal.pause()"]

    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as nowhere:
        started = _started(command, home, nowhere, nowhere)
        child = started.__enter__()
        assert not started.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    assert child.returncode == -signal.SIGKILL


PACKAGE = """
console.log('noise');
export const createPolicyEngineConfig = async () => ({});
export class BaseLlmClient {}
export class LoggingContentGenerator {
  constructor(model) { this.model = model; }
}
export class Config {
  async refreshAuth() {}
  async initialize() {}
}
export class LegacyAgentSession {
  constructor({ config }) { this.model = config.contentGenerator.model; this.sent = 0; }
  subscribe(callback) { this.callback = callback; }
  async send(payload) { setTimeout(() => this.answer(payload), 0); }
  async answer(payload) {
    let text = '';
    for await (const chunk of await this.model.generateContentStream()) {
      text += chunk.text;
      chunk.text = 'spoilt';
    }
    const heard = payload.message.content[0].text + text;
    const good = heard === 'Hi. One. Two.' && ++this.sent <= 15;
    this.callback({ type: 'agent_end', reason: good ? 'completed' : `${heard} ${this.sent}` });
  }
}
"""


@pytest.fixture
def node() -> Path:
    try:
        return find_node()
    except UpstreamUnavailable as missing:
        pytest.skip(str(missing))


def packed(tmp_path: Path, code: str) -> Path:
    """A package in the form of the core's, with `code` in place of it."""
    (tmp_path / "package.json").write_text('{"type": "module", "main": "lib.js"}', "utf-8")
    (tmp_path / "lib.js").write_text(code, "utf-8")
    return tmp_path


def plan(**also: Any) -> dict[str, Any]:
    return {"message": "Hi.", "chunks": [{"text": " One."}, {"text": " Two."}], **also}


def test_turns_around_each_place_are_measured_and_no_more_are_taken(
    node: Path, tmp_path: Path
) -> None:
    core = Core(node, packed(tmp_path, PACKAGE))

    found = core.run(plan(way="cpu", turns=[5, 10], visits=2, block=4))

    # The later conversation ends with turn 15, the last that the stand-in completes.
    assert {turn: len(costs) for turn, costs in found.items()} == {"5": 8, "10": 8}
    assert all(cost >= 0 for costs in found.values() for cost in costs)
    with pytest.raises(MeasurementError, match=r"a stream ended with Hi\. One\. Two\. 16"):
        core.run(plan(way="cpu", turns=[11], visits=2, block=4))


def test_memory_is_taken_over_the_asked_turns(node: Path, tmp_path: Path) -> None:
    core = Core(node, packed(tmp_path, PACKAGE))

    found = core.run(plan(way="rss", turns=15, warmUp=10), flags=["--expose-gc"])

    assert set(found) == {"imported", "start", "end", "heap", "peak"}
    assert 0 < found["heap"] < found["end"] <= found["peak"]
    with pytest.raises(MeasurementError, match="a stream ended with"):
        core.run(plan(way="rss", turns=16, warmUp=10), flags=["--expose-gc"])


def test_package_whose_exports_moved_is_named_with_what_is_missing(
    node: Path, tmp_path: Path
) -> None:
    code = PACKAGE.replace("export class Config", "class Config")

    with pytest.raises(MeasurementError, match=r"the package exports no Config$"):
        Core(node, packed(tmp_path, code)).run(plan(way="cpu"))


def test_failure_in_the_background_ends_the_process_with_its_message(
    node: Path, tmp_path: Path
) -> None:
    code = PACKAGE.replace("let text = '';", "throw new Error('out of order');")

    with pytest.raises(MeasurementError, match="ended with 1: out of order"):
        Core(node, packed(tmp_path, code)).run(plan(way="cpu", turns=[5], visits=1, block=1))


@pytest.mark.parametrize(("asked", "made"), [("", 0), ("await answer(); await answer();", 2)])
def test_turn_that_is_not_one_model_request_is_refused(
    node: Path, tmp_path: Path, asked: str, made: int
) -> None:
    answering = f"""
    const answer = () => this.model.generateContentStream();
    {asked}
    return this.callback({{ type: 'agent_end', reason: 'completed' }});
    """
    code = PACKAGE.replace("let text = '';", f"{answering} let text = '';")

    with pytest.raises(MeasurementError, match=f"a turn made {made} model requests"):
        Core(node, packed(tmp_path, code)).run(plan(way="cpu", turns=[5], visits=1, block=1))


def test_the_script_ends_with_its_parent_process(node: Path, tmp_path: Path) -> None:
    package = packed(tmp_path, PACKAGE.replace("this.callback({", "({"))
    asked = json.dumps(plan(way="cpu", turns=[5], visits=1, block=1))

    with tempfile.TemporaryFile() as nowhere:
        command: list[str | Path] = [node, SCRIPT, package, asked]
        with _started(command, str(tmp_path), nowhere, nowhere) as child:
            assert child.stdin is not None
            child.stdin.close()
            assert child.wait() == 1


def test_core_is_sent_and_answered_what_our_runtimes_are() -> None:
    async def said() -> list[str]:
        async with open_conversation("legacy", "text") as conversation:
            await conversation.turn()
            messages = [each for each in conversation._agent.events if isinstance(each, Message)]
        parts = [part for message in messages for part in message.content]
        return [part.text for part in parts if isinstance(part, TextPart)]

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        ours = runner.run(said())
    answer = asyncio.run(_answer())

    assert [_MESSAGE, *(text(chunk) for chunk in answer)] == ours
    assert answer[-1]["usageMetadata"] == USAGE


def text(chunk: Mapping[str, Any]) -> str:
    (part,) = chunk["candidates"][0]["content"]["parts"]
    return str(part["text"])


@pytest.mark.slow
async def test_installed_core_answers_turns(node: Path) -> None:
    try:
        package = package_folder(DEFAULT_VERSION)
    except UpstreamUnavailable as missing:
        pytest.skip(str(missing))
    asked = {"way": "cpu", "message": "Hi.", "chunks": await _answer()}

    found = Core(node, package).run({**asked, "turns": [2], "visits": 1, "block": 1})

    assert len(found["2"]) == 1
