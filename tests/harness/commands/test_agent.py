import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity

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
