"""docs/own-agent.md: its files and commands, in an empty folder, with the installed wheel alone."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.shell_blocks import Command, blocks
from tests.environments import shared_environment
from tests.standin_thread import standin_thread

PAGE = (Path(__file__).parents[2] / "docs" / "own-agent.md").read_text("utf-8")
FILE = re.compile(r"^`([\w.]+)`\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FIRST = PAGE.partition("## What else to run")[0]
MOST_LINES, MOST_COMMANDS = 60, 10
REPEATED = ("From `parity init`", "Cassettes of your own tests", "The gate and the signature")
"""The sections whose commands one session types, one after the other."""
KEY = "AIzaSyD4k3jF8sLq0Zx7Vb2Nm5Tg9Rw1Yh6UcPe"
ANSWER = {"role": "model", "parts": [{"text": "Three."}]}
STEP = {"generate": {"candidates": [{"content": ANSWER, "finishReason": "STOP"}]}}

pytestmark = pytest.mark.timeout(600)


def commands(text: str) -> list[Command]:
    return [command for block in blocks(text) for command in block.commands]


def repeated() -> list[Command]:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    chosen = [each for each in sections if each.startswith(REPEATED)]
    assert len(chosen) == len(REPEATED)
    return [command for section in chosen for command in commands(section)]


def test_it_takes_few_lines_and_commands() -> None:
    assert sum(text.count("\n") for _, text in FILE.findall(FIRST)) <= MOST_LINES
    assert 0 < len(commands(FIRST)) <= MOST_COMMANDS


@pytest.mark.slow
def test_from_an_empty_folder_to_a_signed_verdict(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scripts = shared_environment(tmp_path_factory)
    shop = tmp_path / "shop"
    shop.mkdir()
    for name, text in FILE.findall(PAGE):
        (shop / name).write_text(text)
    with standin_thread([STEP]) as standin:
        variables = {**of_a_user(scripts), "GOOGLE_GEMINI_BASE_URL": standin.base_url}
        for command in repeated():
            check(command, shop, variables)

    assert all(KEY not in file.read_text("utf-8") for file in (shop / "cassettes").rglob("*.yaml"))


def of_a_user(scripts: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    me = {"NAME": "A user", "EMAIL": "user@localhost"}
    git = {f"GIT_{who}_{name}": me[name] for who in ("AUTHOR", "COMMITTER") for name in me}
    path = f"{scripts}{os.pathsep}{kept['PATH']}"
    return {**kept, **git, "PATH": path, "PYTHONPATH": "", "GOOGLE_API_KEY": KEY}


def check(command: Command, folder: Path, variables: Mapping[str, str]) -> None:
    """Run a command: it exits as the page says, and prints every line that the page shows."""
    done = subprocess.run(
        command.text,
        shell=True,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = f"{command.text}\n{done.stdout}{done.stderr}"
    shown = [line for line in command.output if line.strip() != "…"]
    assert [line for line in shown if line not in printed.splitlines()] == [], printed
    assert done.returncode == command.exit_code, printed
    assert "Traceback" not in done.stderr
