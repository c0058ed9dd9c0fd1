import json
import logging
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.command_line.agents import run_options
from harness.commands.agent import headless_options
from surfaces.headless.options import HeadlessOptions

CONTENT = {"role": "model", "parts": [{"text": "ok"}]}
CHUNK = {"candidates": [{"content": CONTENT, "finishReason": "STOP"}]}


@pytest.fixture(autouse=True)
def fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_API_KEY", "no-such-key")
    line = json.dumps({"method": "generateContentStream", "response": [CHUNK]})
    Path("answers.jsonl").write_text(f"{line}\n")


def agent(*words: str, piped: str = "") -> Result:
    fixed = ("agent", "-m", "gemini-2.5-flash", "--fake-responses", "answers.jsonl")
    return CliRunner().invoke(parity, [*fixed, *words], input=piped)


def test_what_is_piped_comes_before_the_prompt() -> None:
    result = agent("-p", "why?", "-o", "stream-json", "--runtime", "legacy", piped="this")

    _, user, answer, _ = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, user["content"]) == (0, "this\n\nwhy?")
    assert answer["content"] == "ok"


def test_the_surfaces_exit_code_is_the_commands() -> None:
    result = agent("-p", "")

    assert result.exit_code == 42
    assert result.stderr.startswith("No input provided")


@pytest.mark.parametrize(
    "words", [("-o", "xml"), ("--approval-mode", "none"), ("-y", "--approval-mode", "plan")]
)
def test_wrong_usage_ends_with_2(words: tuple[str, ...]) -> None:
    assert agent("-p", "x", *words).exit_code == 2


def test_a_prompt_needs_no_option() -> None:
    result = agent("why", "is", "that?", "-o", "stream-json", "--runtime", "legacy")

    _, user, *_ = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, user["content"]) == (0, "why is that?")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("-p", "x", "y"), "a prompt and --prompt exclude each other"),
        (("-p", "x", "-i", "y"), "--prompt and --prompt-interactive exclude each other"),
        (("-r", "1", "--session-id", "a"), "--resume, --session-id and --session-file exclude"),
        (("--session-id", "a b"), "is no id"),
        (("--fake-responses-non-strict", "f"), "--fake-responses and --fake-responses-non-strict"),
    ],
)
def test_options_that_contradict_each_other_are_named(words: tuple[str, ...], named: str) -> None:
    result = agent(*words)
    assert result.exit_code == 2
    assert named in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), None),
        (("--policy", "a.toml"), ("a.toml",)),
        (("--policy", "a.toml, b.toml", "--policy", "c"), ("a.toml", "b.toml", "c")),
    ],
)
def test_lists_come_with_commas_or_options_that_are_repeated(
    words: tuple[str, ...], named: tuple[str, ...] | None
) -> None:
    @click.command()
    @run_options
    def command(**given: Any) -> HeadlessOptions:
        return headless_options(given)

    assert command.main([*words], standalone_mode=False).policies == named


def test_resume_without_a_name_is_the_latest() -> None:
    @click.command()
    @run_options
    def command(**given: Any) -> HeadlessOptions:
        return headless_options(given)

    assert command.main(["--resume"], standalone_mode=False).resume == "latest"


def test_debug_logs_to_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    # Those of the tests would be taken for somebody's own.
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    try:
        plain = agent("-p", "x", "--runtime", "legacy")
        debug = agent("-p", "x", "--runtime", "legacy", "-d")
    finally:
        root.setLevel(level)

    assert (debug.exit_code, debug.stdout) == (0, plain.stdout)
    assert "DEBUG:" in debug.stderr
    assert "DEBUG:" not in plain.stderr
