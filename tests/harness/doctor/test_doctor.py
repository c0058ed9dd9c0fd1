"""`parity doctor` distinguishes a sound agent from one that lacks something or breaks something."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cassette.find import find_cassettes
from harness.cli import parity
from harness.doctor.checks import CHECKS, Outcome, Tool
from harness.doctor.examining import REPEATABLE, CheckTask, examine, examined
from harness.doctor.power import found_by_traits
from harness.experiment.backend import real_backend
from runtimes.contract import RuntimeTraits
from runtimes.registry import runtime_traits
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["forgotten"]

PROJECT = """
parity = 1
control = "mine"
candidate = "mine"
[runtimes]
mine = "clinic:runtime"
"""
AGENT = """
import asyncio
from google import genai
from google.genai import errors, types
from parity.adapters import agent_runtime

FLAWS = {FLAWS!r}
EVERYTHING, RUNS = [], []
CLIENT = genai.Client(api_key="local")

def order(item: str) -> dict:
    "Order an item."
    return {{"item": item}}

class Agent:
    def __init__(self):
        RUNS.append(self)
        self.client = CLIENT
        self.history = EVERYTHING if "keeps everything" in FLAWS else []

    async def answer(self, text):
        if "says nothing" in FLAWS:
            return
        if "asks no model" in FLAWS:
            yield "Hello."
            return
        if "never ends" in FLAWS:
            await asyncio.Event().wait()
        if "is no JSON" in FLAWS:
            yield {{"type": "custom", "kind": "x", "data": {{"x": object()}}}}
        if "leaves a task" in FLAWS:
            asyncio.get_running_loop().create_task(asyncio.Event().wait())
        if "raises" in FLAWS:
            raise RuntimeError("no licence")
        if "changes" in FLAWS:
            yield f"run {{len(RUNS)}} "
        if "forgets" in FLAWS:
            self.history.clear()
        self.history.append(types.Content(role="user", parts=[types.Part(text=text)]))
        try:
            async for item in self.turns():
                yield item
        except errors.APIError:
            if "hides errors" not in FLAWS:
                raise

    async def turns(self):
        off = types.AutomaticFunctionCallingConfig(disable=True)
        tools = [] if "has no tools" in FLAWS else [order]
        config = types.GenerateContentConfig(tools=tools, automatic_function_calling=off)
        for _ in range(9):
            parts = []
            async for chunk in await self.client.aio.models.generate_content_stream(
                model="gemini-2.5-flash", contents=self.history, config=config
            ):
                found = (chunk.candidates[0].content.parts or []) if chunk.candidates else []
                parts += found
                for item in self.items(chunk, found):
                    yield item
            self.history.append(types.Content(role="model", parts=parts))
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return
            for call in calls[:1] if "calls one tool" in FLAWS else calls:
                result = order(**call.args)
                if "hides results" not in FLAWS:
                    yield {{"type": "tool_response", "name": call.name, "result": result}}
            if "keeps results" in FLAWS:
                return
            parts = [
                types.Part.from_function_response(name=call.name, response={{"left": 3}})
                for call in calls
            ]
            self.history.append(types.Content(role="user", parts=parts))

    def items(self, chunk, parts):
        if not FLAWS & {{"mixes thoughts", "drops thoughts", "counts wrong", "counts nothing"}}:
            yield chunk
            return
        for part in parts:
            if part.function_call:
                yield {{"type": "tool_request", "name": part.function_call.name, "args": {{}}}}
            elif part.text and not (part.thought and "drops thoughts" in FLAWS):
                yield part.text
        if chunk.usage_metadata and "counts wrong" in FLAWS:
            yield {{"type": "usage", "model": "x", "input_tokens": 9, "output_tokens": 9}}

runtime = agent_runtime(lambda: Agent().answer)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "parity.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    forgotten_modules("clinic")


def write(folder: Path, *flaws: str) -> None:
    (folder / "clinic.py").write_text(AGENT.format(FLAWS=set(flaws)))
    forgotten_modules("clinic")


def run(*words: str) -> Result:
    forgotten_modules("clinic")
    return CliRunner().invoke(parity, list(words), prog_name="parity")


def test_a_sound_agent_works_throughout(folder: Path) -> None:
    write(folder, "nothing of this")

    found = examined("mine", real_backend(None), 1)

    assert {each.outcome for each in found.found} == {Outcome.WORKS}, found
    assert [each.name for each in found.found] == [*(check.name for check in CHECKS), REPEATABLE]
    assert found.tools == ("order",)


@pytest.mark.parametrize(
    ("flaw", "check", "outcome", "says"),
    [
        ("says nothing", "answer", "broken", "the model's answer is in no message"),
        ("asks no model", "model", "lacks", "no request to a model arrives"),
        ("asks no model", "tool call", "lacks", "it declares no tool"),
        ("forgets", "conversation", "lacks", "no later request has the first message"),
        ("has no tools", "parallel calls", "lacks", "it declares no tool"),
        ("hides results", "tool call", "lacks", "its result is none"),
        ("keeps results", "tool call", "broken", "is not sent to the model"),
        ("calls one tool", "parallel calls", "lacks", "2 are made and 1 answered"),
        ("mixes thoughts", "thoughts", "broken", "as a part of the answer"),
        ("drops thoughts", "thoughts", "lacks", "thoughts are not emitted"),
        ("counts wrong", "usage", "broken", "7 tokens in and 2 out are emitted as 9 and 9"),
        ("counts nothing", "usage", "lacks", "no event has the model's tokens"),
        ("hides errors", "busy model", "broken", "neither an error nor an answer"),
        ("hides errors", "broken answer", "broken", "as if it were whole"),
        ("keeps everything", "reset", "broken", "still gets the first message"),
        ("changes", "repeatable", "lacks", "two runs of one cassette differ: events[2] message"),
        ("never ends", "answer", "broken", "(clinic.py, line 28)"),
        ("is no JSON", "answer", "broken", "at clinic.py, line 30 it emits a value that is not"),
        ("leaves a task", "answer", "broken", "it leaves work unfinished"),
        ("raises", "answer", "broken", "the model's answer is in no message"),
    ],
)
def test_a_flaw_is_found(folder: Path, flaw: str, check: str, outcome: str, says: str) -> None:
    write(folder, flaw)
    declares = "has no tools" not in flaw and "asks no model" not in flaw
    tool = Tool(name="order", args={"item": "tea"}) if declares else None
    task = CheckTask(name=check, runtime="mine", backend=real_backend(None), check=check, tool=tool)

    found = examine(task)

    assert (found.outcome.value, says in found.says) == (outcome, True), found
    assert found.cost


def test_the_table_names_what_is_lacking_and_its_cost(folder: Path) -> None:
    write(folder, "drops thoughts")

    done = run("doctor", "--json", "doctor.json")

    assert done.exit_code == 0, done.output
    rows = [line.split()[:3] for line in done.stdout.splitlines()]
    assert ["thoughts", "lacks", "thoughts"] in rows
    assert ["parallel", "calls", "works"] in rows
    assert "mine: 12 checks passed, 11 lacking, 0 broken" in done.stdout
    (document,) = json.loads(Path("doctor.json").read_text("utf-8"))["runtimes"]
    assert (document["runtime"], document["tools"]) == ("mine", ["order"])
    (row,) = [each for each in document["checks"] if each["name"] == "thoughts"]
    assert row["cost"] == "differences in the model's thoughts, as the client gets them"


def test_what_cannot_be_opened_is_one_sentence_and_the_others_are_examined(folder: Path) -> None:
    (folder / "clinic.py").write_text("import gone\n")

    done = run("doctor", "mine", "legacy")

    assert done.exit_code == 2
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("mine: "))
    assert "importing clinic failed with ModuleNotFoundError: No module named 'gone'" in line
    assert "(clinic.py, line 1)" in line
    assert "legacy: 15 checks passed, 1 lacking, 0 broken" in done.stdout
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_something_broken_is_exit_1(folder: Path) -> None:
    write(folder, "never ends")

    done = CliRunner().invoke(parity, ["doctor", "mine"], obj=real_backend(None))

    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert " broken" in done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["legacy", "adk"])
def test_our_runtimes_work_throughout(name: str) -> None:
    found = examined(name, real_backend(None), 1)

    assert {each.outcome for each in found.found} == {Outcome.WORKS}, found
    more = found_by_traits(runtime_traits(name), [])
    assert [each.name for each in more if each.outcome is Outcome.LACKS] == ["custom"]


def test_traits_cost_cassettes_and_channels() -> None:
    hooks = find_cassettes([Path(__file__).parents[3] / "cassettes" / "hooks"])[:4]
    traits = RuntimeTraits(
        features=frozenset({"interactive"}),
        channels=frozenset({"events", "custom"}),
        custom=frozenset({"orders"}),
        confinable=False,
    )

    found = {each.name: each for each in found_by_traits(traits, hooks)}

    assert found["channels"].says == "compares custom, events (orders)"
    assert found["features"].says.startswith("it has no hooks and 20 more")
    assert found["features"].cost == "4 of 4 cassettes here cannot be played"
    assert found["requests"].cost == "what is sent to the model"
    assert found["confinement"].outcome is Outcome.LACKS
