"""`parity init` writes a project that runs as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.starting.example_tool import example_arguments
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["forgotten"]

LOOP = """
from google import genai
from google.genai import types

def stock(item: str, count: int) -> dict:
    "Say how many are left."
    return {"item": item, "left": count}

class Shop:
    def __init__(self):
        self.client, self.history = genai.Client(), []

    async def answer(self, text):
        self.history.append(types.Content(role="user", parts=[types.Part(text=text)]))
        off = types.AutomaticFunctionCallingConfig(disable=True)
        config = types.GenerateContentConfig(
            system_instruction="Sell.", tools=[stock], automatic_function_calling=off
        )
        while True:
            answer = await self.client.aio.models.generate_content(
                model="gemini-2.5-flash", contents=self.history, config=config
            )
            yield answer
            self.history.append(answer.candidates[0].content)
            if not answer.function_calls:
                return
            parts = []
            for call in answer.function_calls:
                result = stock(**call.args)
                yield {"type": "tool_response", "name": call.name, "result": result}
                parts.append(types.Part.from_function_response(name=call.name, response=result))
            self.history.append(types.Content(role="user", parts=parts))

async def echo(text):
    yield text
"""
AGENT = """
from google.adk.agents import LlmAgent
from shop_loop import stock
root_agent = LlmAgent(name="shop", model="gemini-2.5-flash", instruction="Sell.", tools=[stock])
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"type": "text", "text": "Hi."}), flush=True)
    print(json.dumps({"type": "end"}), flush=True)
"""
HAND, STOCK = "hand=agent:shop_loop:Shop.answer", "stock=adk:shop_agent:root_agent"
WRITTEN = [
    ".github/workflows/parity.yml",
    "cassettes/first/answer.yaml",
    "cassettes/first/refused.yaml",
    "cassettes/first/tool_call.yaml",
    "parity.toml",
    "parity_agents/__init__.py",
    "parity_agents/gates.toml",
    "parity_agents/hand.py",
    "parity_agents/stock.py",
    "parity_agents/tools.py",
    "parity_agents/waivers.toml",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "shop_loop.py").write_text(LOOP)
    (tmp_path / "shop_agent.py").write_text(AGENT)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "no-key")
    yield tmp_path
    forget()


def forget() -> None:
    for name in ("parity_agents", "shop_loop", "shop_agent"):
        forgotten_modules(name)


def run(*words: str, typed: str = "") -> Result:
    forget()
    return CliRunner().invoke(parity, list(words), input=typed, prog_name="parity")


def init(*words: str, control: str = HAND, candidate: str = STOCK) -> Result:
    return run("init", "--control", control, "--candidate", candidate, *words)


def files(folder: Path) -> dict[str, str]:
    there = (file for file in folder.rglob("*") if file.is_file() and "pycache" not in str(file))
    found = {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in there}
    return {name: text for name, text in found.items() if not name.startswith((".parity", "shop_"))}


def test_what_it_writes_runs_as_it_is(folder: Path) -> None:
    done = init()

    assert done.exit_code == 0, done.output
    assert sorted(files(folder)) == [*WRITTEN, "program.py"]
    assert "tools that both agents declare: stock" in done.stdout
    assert done.stdout.endswith("next: parity run\n")
    # In workers, which import the agents before they confine them.
    ran = run("run", "--no-keep", "-n", "2")
    assert ran.exit_code == 1, ran.output
    # google-genai's error and ADK's event of it differ; the other two cassettes agree.
    assert "divergent: 2 parity, 1 divergent of 3" in ran.output
    assert "first divergence: first/refused" in ran.output


def test_the_example_calls_a_tool_that_both_declare(folder: Path) -> None:
    init()

    cassette = yaml.safe_load(Path("cassettes/first/tool_call.yaml").read_text("utf-8"))
    (part,) = cassette["model"][0]["stream"][0]["candidates"][0]["content"]["parts"]
    assert part == {"functionCall": {"name": "stock", "args": {"item": "example", "count": 1}}}
    namespace: dict[str, Any] = {}
    exec(Path("parity_agents/tools.py").read_text("utf-8"), namespace)
    schema = namespace["TOOLS"]["stock"]
    assert schema["properties"] == {"item": {"type": "string"}, "count": {"type": "integer"}}


def test_it_checks_with_the_cassettes_and_the_gates(folder: Path) -> None:
    init()

    assert run("check").exit_code == 0
    gate = run("gate", "--phase", "switch")
    assert gate.exit_code == 3, gate.output
    assert "hand ≡ stock: every case is parity" in gate.output


@pytest.mark.parametrize(
    "name", ["parity.toml", "parity_agents/hand.py", "cassettes/first/refused.yaml"]
)
def test_a_file_that_is_there_stays_and_nothing_is_written(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("mine\n")
    before = files(folder)

    done = init()

    assert done.exit_code == 2
    assert f"nothing was written, as these files exist: {name}; " in done.stderr
    assert files(folder) == before


def test_force_replaces(folder: Path) -> None:
    (folder / "parity.toml").write_text("mine\n")

    assert init("--force").exit_code == 0
    assert files(folder)["parity.toml"].startswith("# What `parity` compares in this project.")


def test_an_agent_that_cannot_be_imported_yet(folder: Path) -> None:
    (folder / "shop_agent.py").write_text("import gone\n")

    done = init("--no-workflow")

    assert done.exit_code == 0
    assert "not ready: the runtime 'stock' (parity.toml: " in done.stderr
    assert "ModuleNotFoundError: No module named 'gone' (shop_agent.py, line 1)" in done.stderr
    assert "next: mend that, then `parity doctor hand stock`" in done.stdout
    assert "cassettes/first/pieces.yaml" in files(folder)
    assert ".github/workflows/parity.yml" not in files(folder)


def test_a_function_and_a_program(folder: Path) -> None:
    done = init(
        control="echo=agent:shop_loop:echo", candidate=f"child=process:{sys.executable} program.py"
    )

    assert done.exit_code == 0, done.output
    assert "not ready: echo sent no request to a model that parity could answer" in done.stderr
    ran = run("run", "-k", "pieces", "--no-keep")
    assert ran.exit_code == 1, ran.output
    assert "child emitted" in ran.output


def test_it_asks_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.commands.init.on_terminal", lambda: True)
    typed = "agent\nshop_loop:Shop.answer\nold\nadk\nshop_agent:root_agent\nnew\n"

    done = run("init", typed=typed)

    assert done.exit_code == 0, done.output
    assert "the agent that is taken to be right (--control)" in done.stdout
    assert 'control = "old"' in Path("parity.toml").read_text("utf-8")
    assert Path("parity_agents/new.py").is_file()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "--control is missing, and there is no terminal to ask on"),
        (["--control", "shop"], "'shop' names no agent; write it as [NAME=]KIND:TARGET"),
        (["--control", "x:y"], "unknown kind 'x'; there are agent, adk, process, acp, a2a"),
        (["--control", "agent:shop"], "'shop' names no object"),
        (["--control", "adk=agent:a:b"], "a runtime cannot be called 'adk'"),
        (["--control", "process:'node"], "no closing quotation"),
        (["--control", "a2a:server"], "the command has no {port}"),
        (["--control", "x=agent:a:b", "--candidate", "x=agent:a:c"], "would be called x"),
        (["--package", "a-b"], "'a-b' cannot be the name of the package"),
        (["--package", "services"], "'services' cannot be the name of the package"),
        (["--corpus", "../x"], "../x is not below this folder"),
        (["--model", "a b"], "'a b' is no name of a model"),
    ],
)
def test_what_it_does_not_take(folder: Path, words: list[str], problem: str) -> None:
    before = files(folder)

    done = run("init", *words)

    assert done.exit_code == 2
    assert problem in done.stderr
    assert files(folder) == before


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {}),
        ({"properties": {"a": {"type": "string"}}}, {"a": "example"}),
        ({"properties": {"a": {}, "b": {"type": "boolean"}}, "required": ["b"]}, {"b": True}),
        ({"properties": {"a": {"enum": ["x", "y"]}}}, {"a": "x"}),
        ({"properties": {"a": {"default": 7}}}, {"a": 7}),
        ({"properties": {"a": {"type": ["number", "null"]}}}, {"a": 1.5}),
        ({"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}, {"a": [1]}),
        (
            {"properties": {"a": {"type": "object", "properties": {"b": {}}}}},
            {"a": {"b": "example"}},
        ),
    ],
)
def test_arguments_for_an_example(schema: dict[str, Any], value: Any) -> None:
    assert example_arguments(schema) == value
