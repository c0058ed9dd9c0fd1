import errno
import json
from pathlib import Path

import pytest

from services.private_files import write_private
from services.recording import session_file
from services.recording.session_file import SessionFile, json_line


def test_half_a_surrogate_pair_is_read_back() -> None:
    record = {"text": "a\ud83d b \ud83d\ude00 \u0000"}

    line = json_line(record)

    assert b"\\ud83d b " in line
    assert json.loads(line)["text"] == "a\ud83d b \U0001f600 \x00"


def test_a_folder_that_was_removed_is_made_again(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "chats" / "s.jsonl", lambda: None)

    file.append({"a": 1})

    assert file.path.read_bytes() == b'{"a":1}\n'


def test_a_replaced_file_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("unreadable")

    SessionFile(path, lambda: None).replace([{"a": 1}, {"b": 2}], 7)

    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.unreadable-7"]
    assert (tmp_path / "s.jsonl.unreadable-7").read_text() == "unreadable"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_closes_the_file_and_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    reports: list[str] = []
    file = SessionFile(tmp_path / "s.jsonl", lambda: reports.append("full"))

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr(session_file, "open_private", full)
    file.append({"a": 1})
    file.append({"a": 2})
    file.replace([], 0)

    assert reports == ["full"]
    assert file.closed


def test_any_other_failure_is_raised(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").mkdir()

    with pytest.raises(IsADirectoryError):
        SessionFile(tmp_path / "s.jsonl", lambda: None).append({})


def test_a_replacement_that_fails_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    write = write_private

    def half(file: Path, data: bytes, **how: bool) -> None:
        write(file, data[:3], **how)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(session_file, "write_private", half)

    with pytest.raises(OSError, match="broken"):
        SessionFile(path, lambda: None).replace([{"a": 1}], 0)
    assert list(tmp_path.iterdir()) == []
