"""The commands of the worked migrations print what their READMEs show."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.docs.shell_blocks import Command, blocks
from tests.examples.projects import EXAMPLES, examples, forgotten, run

__all__ = ["examples", "forgotten"]

REPOSITORY = EXAMPLES.parent


def commands() -> list[tuple[str, Command]]:
    return [
        (page.parent.name, command)
        for page in sorted(EXAMPLES.glob("*/README.md"))
        for block in blocks(page.read_text("utf-8"))
        for command in block.commands
    ]


def without_numbers(lines: Sequence[str]) -> str:
    """The lines without the numbers that the shop draws for its orders."""
    return re.sub(r"\b[0-9a-f]{32}\b", "…", "\n".join(lines))


@pytest.mark.parametrize(
    ("folder", "command"),
    [pytest.param(*each, id=f"{each[0]}: {each[1].text}") for each in commands()],
)
def test_a_command_prints_what_the_page_shows(
    folder: str, command: Command, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(REPOSITORY / "cassettes" / "text", examples.parent / "cassettes" / "text")
    (examples.parent / "parity_tests").mkdir()
    shutil.copy(REPOSITORY / "parity_tests" / "waivers.toml", examples.parent / "parity_tests")
    monkeypatch.setenv("COLUMNS", "100")
    program, *words = command.text.split()

    done = run(examples / folder, *words, monkeypatch=monkeypatch)

    assert program == "parity"
    printed = [line for line in done.stdout.splitlines() if line.strip()]
    assert without_numbers(printed) == without_numbers(command.output)
    assert done.exit_code == command.exit_code


@pytest.mark.parametrize("folder", ["gemini_cli", "gemini_to_adk", "gemini_to_openai"])
def test_each_page_says_what_was_found_waived_and_signed(folder: str) -> None:
    page = (EXAMPLES / folder / "README.md").read_text("utf-8")

    assert [line for line in page.splitlines() if line.startswith("## What was ")] != []
    for word in ("found", "waived", "signed"):
        assert f"## What was {word}\n" in page
    assert any(name == folder for name, _ in commands())


def test_nothing_is_waived_between_the_engines_of_gemini_cli() -> None:
    text = (REPOSITORY / "parity_tests" / "waivers.toml").read_text("utf-8")

    assert {entry["between"][0] for entry in tomllib.loads(text)["waiver"]} == {"upstream"}
