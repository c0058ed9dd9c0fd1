"""`--adk-plugin` of `parity run` and `parity agent`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import parity
from harness.report.journal import read_journal
from harness.sides import with_adk_plugins

REPOSITORY = Path(__file__).parents[3]
CASES = [
    str(REPOSITORY / "cassettes" / name)
    for name in ("text/blank_answer.yaml", "tools/parallel_reads.yaml")
]
WATCHING = """
import os
from pathlib import Path

from google.adk.plugins.base_plugin import BasePlugin

class Watching(BasePlugin):
    def __init__(self):
        super().__init__("watching")

    async def before_model_callback(self, *, callback_context, llm_request):
        with Path(os.environ["SEEN"]).open("a") as file:
            file.write("asked\\n")

class Meddling(Watching):
    async def on_user_message_callback(self, *, invocation_context, user_message):
        user_message = user_message.model_copy(deep=True)
        user_message.parts[0].text = "something else"
        return user_message
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "strangers.py").write_text(WATCHING)
    paths = os.pathsep.join([str(folder), str(REPOSITORY)])
    return subprocess.run(
        [sys.executable, "-m", "parity_entry", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "SEEN": str(folder / "seen")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_workers_have_the_plugin_and_the_journal_names_it(tmp_path: Path) -> None:
    words = ["-n", "2", "--no-keep", "--journal", "j.jsonl"]
    done = run(tmp_path, "run", *CASES, *words, "--adk-plugin", "strangers:Watching")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "no gate counts this run" in done.stdout
    assert (tmp_path / "seen").read_text().count("asked") >= len(CASES)
    header = read_journal(tmp_path / "j.jsonl").header
    assert (header.control, header.candidate) == ("legacy", "adk@strangers:Watching")


def test_a_plugin_that_changes_something_is_seen(tmp_path: Path) -> None:
    done = run(tmp_path, "run", CASES[1], "--no-keep", "--adk-plugin", "strangers:Meddling")

    assert done.returncode == 1
    assert "--candidate adk@strangers:Meddling" in done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--adk-plugin", "strangers"], "write it as package.module:attribute"),
        (["--adk-plugin", "a:b,c:d"], "write it as package.module:attribute"),
        (["--adk-plugin", "a:b", "--candidate", "legacy"], "make adk a side with --control"),
        (["--adk-plugin", "no_such_package:b"], "No module named 'no_such_package'"),
    ],
)
def test_run_refuses_what_cannot_be(words: list[str], problem: str) -> None:
    result = CliRunner().invoke(parity, ["run", CASES[0], "--no-keep", *words])

    assert result.exit_code == 2
    assert problem in result.output


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--adk-plugin", "a:b"], 2, "add --runtime adk"),
        (["--adk-plugin", "a:b", "--runtime", "legacy"], 2, "add --runtime adk"),
        (["--adk-plugin", "no_such_package:b", "--runtime", "adk"], 42, "No module named"),
    ],
)
def test_agent_refuses_what_cannot_be(
    words: list[str], code: int, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))

    result = CliRunner().invoke(parity, ["agent", "-p", "x", *words])

    assert result.exit_code == code
    assert problem in result.output


def test_only_adk_gets_the_plugins() -> None:
    sides = ["adk", "legacy", "legacy+adk", "baseline:adk"]

    assert [with_adk_plugins(side, ["a:b", "c:d"]) for side in sides] == [
        "adk@a:b,c:d",
        "legacy",
        "legacy+adk@a:b,c:d",
        "baseline:adk",
    ]
    assert with_adk_plugins("adk", []) == "adk"
