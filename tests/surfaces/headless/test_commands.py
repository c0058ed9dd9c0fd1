"""Prompts that are slash commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.state import ApprovalMode
from tests.surfaces.headless.conftest import Run, says

ANSWER = says("from the model")


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_command_is_answered_and_not_sent(run: Run, runtime: str) -> None:
    ran = run(ANSWER, prompt=" /about ", runtime=runtime)

    assert ran.code == 0
    assert ran.out.startswith("About parity\n")
    assert f"Runtime                                  {runtime}\n" in ran.out
    assert "from the model" not in ran.out


def test_json_has_the_answer_as_its_response(run: Run) -> None:
    ran = run(ANSWER, prompt="/memory show", output="json")

    assert ran.code == 0
    assert ran.document["response"] == "Memory is currently empty."
    assert ran.document["stats"]["models"] == {}


def test_stream_json_has_the_command_and_its_answer(run: Run) -> None:
    ran = run(ANSWER, prompt="/memory show", output="stream-json")

    assert [line["type"] for line in ran.lines] == ["init", "message", "message", "result"]
    assert [line["content"] for line in ran.lines[1:3]] == [
        "/memory show",
        "Memory is currently empty.",
    ]


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("/nope", "Unknown command: /nope. /help lists the commands."),
        ("/theme", "/theme opens a dialog: it needs an interactive terminal."),
        ("/voice", "/voice is not built: dictation is not supported."),
    ],
)
def test_a_command_that_cannot_be_done_ends_with_42(run: Run, prompt: str, words: str) -> None:
    ran = run(ANSWER, prompt=prompt)

    assert (ran.code, ran.out) == (42, "")
    assert words in ran.err


def test_an_error_in_json_goes_to_standard_error(run: Run) -> None:
    ran = run(ANSWER, prompt="/nope", output="json")

    assert ran.code == 42
    assert json.loads(ran.err)["error"] == {
        "type": "FatalInputError",
        "message": "Unknown command: /nope. /help lists the commands.",
        "code": 42,
    }


@pytest.mark.parametrize("prompt", ["/usr/bin says no", "// a comment", "/* another */"])
def test_paths_and_comments_are_sent(run: Run, prompt: str) -> None:
    assert run(ANSWER, prompt=prompt).out == "from the model\n"


def _command_file(folders: Path, prompt: str) -> None:
    folder = folders / "home" / ".gemini" / "commands"
    folder.mkdir(parents=True)
    (folder / "go.toml").write_text(f"prompt = '''{prompt}'''")


def test_a_command_file_is_expanded_and_sent(run: Run, folders: Path) -> None:
    _command_file(folders, "Look at {{args}}.")

    ran = run(ANSWER, prompt="/go this", output="stream-json")

    recorded = next((folders / "home").rglob("chats/*.jsonl")).read_text()
    assert ran.lines[1]["content"] == "/go this"
    assert ran.lines[2]["content"] == "from the model"
    assert '"text":"Look at this."' in recorded
    assert '"displayContent":[{"text":"/go this"}]' in recorded


def test_a_file_that_cannot_be_inserted_is_a_warning(run: Run, folders: Path) -> None:
    _command_file(folders, "Look at @{../x}.")

    ran = run(ANSWER, prompt="/go")

    assert (ran.code, ran.out) == (0, "from the model\n")
    assert "Failed to inject content for '@{../x}': Path not in workspace" in ran.err


def test_shell_commands_are_decided_by_the_policy(run: Run, folders: Path) -> None:
    _command_file(folders, "!{touch made}")

    denied = run(ANSWER, prompt="/go")
    allowed = run(ANSWER, prompt="/go", approval_mode=ApprovalMode.YOLO)

    assert denied.code == 42
    assert 'go cannot be run. Blocked command: "touch made".' in denied.err
    assert (allowed.code, (folders / "ws" / "made").exists()) == (0, True)


def test_a_bad_command_file_is_reported(run: Run, folders: Path) -> None:
    _command_file(folders, "'''")

    ran = run(ANSWER, prompt="/about")

    assert ran.code == 0
    assert "go.toml: it is not TOML" in ran.err
