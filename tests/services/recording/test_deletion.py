from pathlib import Path

import pytest

from services.recording.deletion import (
    delete_session_artifacts,
    delete_stored_session,
    session_short_id,
)

ID = "11111111-2222"


def made(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{{"sessionId":"{ID}"}}\n')


def left(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_session_goes_with_all_it_left(tmp_path: Path) -> None:
    own = (
        "chats/session-2026-01-01T00-00-11111111.jsonl",
        f"chats/{ID}/child.jsonl",
        f"logs/session-{ID}.jsonl",
        f"tool-outputs/session-{ID}/a.txt",
        "tool-outputs/session-child/b.txt",
        f"{ID}/plans/p.md",
    )
    others = ("chats/session-2026-01-01T00-00-99999999.jsonl", "tool-outputs/session-9/a.txt")
    made(tmp_path, *own, *others)

    delete_stored_session(tmp_path, ID)

    assert left(tmp_path) == sorted(others)


@pytest.mark.parametrize("name", ["chats", "Logs", "tool-outputs", "..", ".", "", "../x"])
def test_a_session_cannot_take_the_projects_folders_with_it(tmp_path: Path, name: str) -> None:
    files = ("chats/a", "logs/b", "Logs/e", "tool-outputs/c", "d")
    made(tmp_path / "temp", *files)
    made(tmp_path, "x/outside")

    delete_session_artifacts(name, tmp_path / "temp")

    assert left(tmp_path) == sorted([*(f"temp/{file}" for file in files), "x/outside"])


@pytest.mark.parametrize(
    ("given", "short"),
    [
        (ID, "11111111"),
        ("session-2026-01-01T00-00-abcdefgh.jsonl", "abcdefgh"),
        ("session-2026-01-01T00-00-abcdefgh.json", "abcdefgh"),
    ],
)
def test_files_end_in_eight_characters_of_the_id(given: str, short: str) -> None:
    assert session_short_id(given) == short


@pytest.mark.parametrize("given", ["short", "session-x.jsonl"])
def test_an_argument_that_names_no_session_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(ValueError, match=r"Invalid sessionId|exactly 8"):
        delete_stored_session(tmp_path, given)
