"""Which IDE runs the terminal, and where its companion listens."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from services.ide.addresses import (
    address_from_files,
    address_from_variables,
    workspace_problem,
)
from services.ide.detection import detected_ide, ide_process

NO_PROCESS = 2**22 + 7
"""Above the largest process id."""


@pytest.mark.parametrize(
    ("variables", "command", "name"),
    [
        ({}, "", None),
        ({"TERM_PROGRAM": "xterm", "CURSOR_TRACE_ID": "1"}, "", None),
        ({"TERM_PROGRAM": "vscode"}, "", "VS Code"),
        ({"TERM_PROGRAM": "vscode"}, "/usr/bin/code --x", "VS Code"),
        ({"TERM_PROGRAM": "vscode"}, "/opt/other", "IDE"),
        ({"TERM_PROGRAM": "vscode", "CURSOR_TRACE_ID": "1"}, "", "Cursor"),
        ({"TERM_PROGRAM": "Zed"}, "", "Zed"),
        ({"TERMINAL_EMULATOR": "JetBrains-JediTerm"}, "/x/pycharm.sh", "PyCharm"),
        ({"TERMINAL_EMULATOR": "JetBrains-JediTerm"}, "", "JetBrains IDE"),
    ],
)
def test_the_variables_show_the_ide(
    variables: dict[str, str], command: str, name: str | None
) -> None:
    found = detected_ide(variables, command)
    assert (found and found.display_name) == name


async def test_a_variable_names_the_process() -> None:
    found = await ide_process({"GEMINI_CLI_IDE_PID": str(os.getpid())})
    assert found.pid == os.getpid()
    assert "python" in found.command or "pytest" in found.command
    gone = await ide_process({"GEMINI_CLI_IDE_PID": str(NO_PROCESS)})
    assert (gone.pid, gone.command) == (NO_PROCESS, "")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / "gemini" / "ide"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, name: str, **facts: Any) -> None:
    (folder / f"gemini-ide-server-{name}.json").write_text(json.dumps(facts))


def test_the_file_of_the_ides_process_wins(files: Path, tmp_path: Path) -> None:
    write(files, "7", port=1111, workspacePath="/elsewhere", authToken="t")
    write(files, f"{os.getpid()}-2222", port=2222, workspacePath=str(tmp_path))
    found = address_from_files(7, tmp_path, port=None)
    assert found is not None
    assert (found.port, found.token) == (1111, "t")


def test_an_ide_that_has_the_folder_open_comes_first(files: Path, tmp_path: Path) -> None:
    write(files, f"{os.getpid()}-1", port=1, workspacePath="/elsewhere")
    write(files, f"{NO_PROCESS}-2", port=2, workspacePath=str(tmp_path))
    write(files, f"{NO_PROCESS}-3", port=3, workspacePath=str(tmp_path))
    first = address_from_files(9, tmp_path, port=None)
    chosen = address_from_files(9, tmp_path, port=3)
    assert first is not None
    assert chosen is not None
    assert (first.port, chosen.port) == (2, 3)


def test_without_a_fitting_ide_the_best_of_the_others_explains_why(
    files: Path, tmp_path: Path
) -> None:
    write(files, f"{NO_PROCESS}-1", port=1, workspacePath="/one")
    write(files, f"{os.getpid()}-2", port=2, workspacePath="/two")
    (files / "gemini-ide-server-5-5.json").write_text("no json")
    found = address_from_files(9, tmp_path, port=None)
    assert found is not None
    assert found.workspace == "/two"


def test_no_files_are_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert address_from_files(9, tmp_path, port=None) is None


def test_variables_may_say_where(caplog: pytest.LogCaptureFixture) -> None:
    found = address_from_variables(
        {
            "GEMINI_CLI_IDE_SERVER_PORT": "70000",
            "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND": "node",
            "GEMINI_CLI_IDE_SERVER_STDIO_ARGS": '["a", "b"]',
        }
    )
    assert (found.port, found.command, found.args) == (None, "node", ("a", "b"))
    assert address_from_variables({"GEMINI_CLI_IDE_SERVER_STDIO_ARGS": "{"}).args == ()
    assert "GEMINI_CLI_IDE_SERVER_STDIO_ARGS" in caplog.text


def test_the_ide_must_have_the_folder_open(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    opened = os.pathsep.join(["/other", str(tmp_path)])
    assert workspace_problem(opened, inside) is None
    assert "Directory mismatch" in str(workspace_problem("/other", inside))
    assert "open a workspace folder" in str(workspace_problem("", inside))
    assert "/ide install" in str(workspace_problem(None, inside))
