"""The files of checkpoints: their names, and what they may contain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.checkpoints import Checkpoint, CheckpointFiles, CheckpointInvalid
from services.checkpoints.files import checkpoint_name

WHOLE: dict[str, Any] = {
    "history": [],
    "clientHistory": [{"role": "user", "parts": [{"text": "hello"}]}],
    "toolCall": {"name": "replace", "args": {"file_path": "a.txt"}},
    "commitHash": "abc",
    "messageId": "prompt",
}


@pytest.fixture
def files(tmp_path: Path) -> CheckpointFiles:
    return CheckpointFiles(tmp_path / "checkpoints")


def write(files: CheckpointFiles, name: str, document: Any) -> None:
    files.folder.mkdir(exist_ok=True)
    (files.folder / f"{name}.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/a.b.txt", "1970-01-01T00-00-01_234Z-a.b.txt-replace"),
        ("folder/", "1970-01-01T00-00-01_234Z-folder-replace"),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_a_name_has_the_time_the_file_and_the_tool(path: Any, name: str | None) -> None:
    assert checkpoint_name("replace", {"file_path": path}, 1234) == name


def test_what_is_written_is_read_back(files: CheckpointFiles) -> None:
    assert files.names() == []
    checkpoint = Checkpoint(
        name="write_file",
        args={"file_path": "a.txt"},
        commit="abc",
        history=[{"role": "user", "parts": [{"text": "hello"}]}],
        shown=[],
        prompt_id="prompt",
    )
    files.write("b", checkpoint)
    write(files, "a", WHOLE)
    (files.folder / "other.txt").write_text("x")
    assert files.names() == ["a", "b"]
    assert files.read("b") == checkpoint
    assert (files.folder / "b.json").stat().st_mode & 0o777 == 0o600
    assert files.folder.stat().st_mode & 0o077 in (0, 0o055)


def test_what_is_not_known_is_left_out(files: CheckpointFiles) -> None:
    files.folder.mkdir()
    found = Checkpoint(name="t", args={}, commit=None, history=None, shown=None)
    files.write("a", found)
    assert json.loads((files.folder / "a.json").read_text()) == {
        "toolCall": {"name": "t", "args": {}}
    }
    assert files.read("a") == found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"toolCall": None}, "toolCall.name"),
        ({"toolCall": {"name": 5, "args": {}}}, "toolCall.name"),
        ({"toolCall": {"name": "t", "args": []}}, "toolCall.args"),
        ({"commitHash": 5}, "commitHash"),
        ({"messageId": None}, "messageId"),
        ({"history": {}}, "history"),
        ({"clientHistory": None}, "clientHistory"),
        ({"clientHistory": ["x"]}, "clientHistory"),
        ({"clientHistory": [{"role": 5, "parts": []}]}, "clientHistory"),
        ({"clientHistory": [{"role": "user"}]}, "clientHistory"),
        ({"clientHistory": [{"role": "user", "parts": ["x"]}]}, "clientHistory"),
    ],
)
def test_a_file_with_another_value_is_no_checkpoint(
    files: CheckpointFiles, change: dict[str, Any], problem: str
) -> None:
    write(files, "a", {**WHOLE, **change})
    with pytest.raises(CheckpointInvalid, match=problem):
        files.read("a")


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass")]
)
def test_a_file_of_another_form_is_no_checkpoint(files: CheckpointFiles, text: Any) -> None:
    files.folder.mkdir()
    (files.folder / "a.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CheckpointInvalid):
        files.read("a")
