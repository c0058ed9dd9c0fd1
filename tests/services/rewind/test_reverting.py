"""Takes recorded edits back, and leaves everything else alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.rewind import Conflict, Delete, RecordedEdit, Write, planned, revert_files
from services.state import UserFeedback
from services.wire import JsonObject
from services.workspace import Workspace


def an_edit(before: str, after: str, *, is_new: bool = False) -> RecordedEdit:
    return RecordedEdit(name="a", path="/ws/a", before=before, after=after, is_new=is_new)


def test_a_file_as_the_edit_left_it_becomes_what_it_was() -> None:
    assert planned(an_edit("old", "new"), "new") == Write("old")
    assert planned(an_edit("", "new", is_new=True), "new") == Delete()


def test_a_file_that_changed_since_keeps_the_rest() -> None:
    assert planned(an_edit("", "new\n", is_new=True), "new\nmine\n") == Write("mine\n")
    assert planned(an_edit("", "new\n", is_new=True), "new\r\n") == Delete()
    assert planned(an_edit("", "new\n"), "new\r\n") == Write("")


def test_a_file_that_is_gone_or_changed_in_the_same_place_is_a_conflict() -> None:
    gone, changed = planned(an_edit("old", "new"), None), planned(an_edit("old", "new"), "mine")
    assert isinstance(gone, Conflict)
    assert "a because it was not found on disk" in gone.message
    assert isinstance(changed, Conflict)
    assert "Smart revert for a failed" in changed.message


def test_bytes_that_are_no_text_are_not_written_anew() -> None:
    assert isinstance(planned(an_edit("", "new\n"), "new\n\ufffd\n"), Conflict)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ws").mkdir()
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def reverted(workspace: Workspace, *displays: Any, message: str = "m") -> list[UserFeedback]:
    reports: list[UserFeedback] = []
    calls = [{"resultDisplay": each} for each in displays]
    messages: list[JsonObject] = [
        {"id": "m", "type": "user"},
        {"id": "g", "type": "gemini", "toolCalls": calls},
    ]
    revert_files(messages, message, workspace, reports.append)
    return reports


def shown(path: object, before: object, after: object, *, is_new: bool = False) -> JsonObject:
    return {
        "fileName": Path(str(path)).name,
        "filePath": str(path),
        "originalContent": before,
        "newContent": after,
        "isNewFile": is_new,
        "diffStat": {},
    }


def test_the_newest_edit_is_taken_back_first(workspace: Workspace) -> None:
    file = workspace.root / "a.txt"
    file.write_text("2")
    assert reverted(workspace, shown(file, "0", "1"), shown(file, "1", "2")) == []
    assert file.read_text() == "0"


def test_a_relative_path_is_in_the_workspace(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("1")
    assert reverted(workspace, shown("a.txt", "0", "1")) == []
    assert (workspace.root / "a.txt").read_text() == "0"


def test_an_unknown_message_changes_nothing(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("1")
    assert reverted(workspace, shown("a.txt", "0", "1"), message="x") == []
    assert (workspace.root / "a.txt").read_text() == "1"


@pytest.mark.parametrize("kind", ["absolute", "dots", "link", "escape", "git", "new"])
def test_no_recorded_path_leads_out_of_the_workspace(workspace: Workspace, kind: str) -> None:
    outside = workspace.root.parent / "outside.txt"
    outside.write_text("1")
    (workspace.root / ".git").mkdir()
    (workspace.root / ".git" / "config").write_text("1")
    (workspace.root / "link").symlink_to(workspace.root.parent)
    path = {
        "absolute": str(outside),
        "dots": f"{workspace.root}/../outside.txt",
        "link": f"{workspace.root}/link/outside.txt",
        "escape": f"{workspace.root}/%2e%2e/outside.txt",
        "git": f"{workspace.root}/.git/config",
        "new": str(outside),
    }[kind]
    (report,) = reverted(workspace, shown(path, "0", "1", is_new=kind == "new"))
    assert report.severity == "warning"
    assert "Cannot revert changes for" in report.message
    assert outside.read_text() == "1"
    assert (workspace.root / ".git" / "config").read_text() == "1"


def test_a_file_that_cannot_be_read_ends_the_revert(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("1")
    (workspace.root / "b.txt").mkdir()
    (report,) = reverted(workspace, shown("a.txt", "0", "1"), shown("b.txt", "0", "1"))
    assert report.message == (
        "Error reading b.txt during revert: EISDIR: illegal operation on a directory, read"
    )
    assert (workspace.root / "a.txt").read_text() == "1"


def test_an_edit_that_cannot_be_understood_is_reported_and_the_others_go_on(
    workspace: Workspace,
) -> None:
    (workspace.root / "a.txt").write_text("1")
    reports = reverted(
        workspace,
        shown("a.txt", "0", "1"),
        {"diffStat": {}},
        {"diffStat": {}, "fileName": "b.txt", "filePath": 5},
    )
    assert [each.message for each in reports] == [
        "An unexpected error occurred while reverting b.txt.",
        "An unexpected error occurred while reverting a file.",
    ]
    assert (workspace.root / "a.txt").read_text() == "0"


def test_a_file_that_cannot_be_written_is_reported(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    (workspace.root / "a.txt").write_text("1")
    monkeypatch.setattr(Path, "write_bytes", refuse)
    (report,) = reverted(workspace, shown("a.txt", "0", "1"))
    assert report.message == "An unexpected error occurred while reverting a.txt."
