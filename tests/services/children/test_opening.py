from pathlib import Path

import pytest

from services.children.opening import ChatNotCreated, chat_being_created
from services.recording.session_file import SessionFile


def begun(path: Path) -> str:
    """The error for the model when a recording begins at `path`."""
    with pytest.raises(ChatNotCreated) as raised, chat_being_created():
        SessionFile(path, lambda: None).append({})
    return str(raised.value)


def test_a_file_in_place_of_the_folder_has_the_error_of_node(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.write_text("")
    assert begun(folder / "agent.jsonl") == (
        f"Failed to create chat object: EEXIST: file already exists, mkdir '{folder}'"
    )


def test_a_file_above_the_folder_has_the_error_of_node(tmp_path: Path) -> None:
    (tmp_path / "chats").write_text("")
    folder = tmp_path / "chats" / "session"
    assert begun(folder / "agent.jsonl") == (
        f"Failed to create chat object: ENOTDIR: not a directory, mkdir '{folder}'"
    )


def test_a_folder_in_place_of_the_file_has_the_error_of_node(tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    path.mkdir()
    assert begun(path) == (
        f"Failed to create chat object: EISDIR: illegal operation on a directory, open '{path}'"
    )


def test_an_id_that_names_no_file_has_an_error_of_its_own() -> None:
    message = r"^Failed to create chat object: no id$"
    with pytest.raises(ChatNotCreated, match=message), chat_being_created():
        raise ValueError("no id")
