from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.build_files import is_build_file, is_edit_like, target_path


@pytest.mark.parametrize(
    ("path", "build"),
    [
        ("package.json", True),
        ("deep/Makefile", True),
        ("Dockerfile.dev", True),
        ("x.MK", True),
        ("a\\b\\go.mod", True),
        ("pack\0age.json", True),
        ("pack%61ge.json", True),
        ("Package.json", False),
        ("package.json.txt", False),
        ("main.py", False),
        ("package.json/", True),
        ("a/Makefile", True),
        ("x.BZL", True),
        ("sub\\go.mod", True),
        ("pyproject.toml", True),
        ("makefile.txt", False),
        ("Dockerfiles", False),
        ("a.py", False),
        ("", False),
    ],
)
def test_build_files_are_known_by_name(tmp_path: Path, path: str, build: bool) -> None:
    assert is_build_file(path, tmp_path) is build
    assert is_build_file(path) is build


def test_a_percent_sign_in_the_workspaces_name_hides_nothing(tmp_path: Path) -> None:
    assert is_build_file("pack%61ge.json", tmp_path / "100%")


def test_links_that_go_in_a_circle_keep_their_name(tmp_path: Path) -> None:
    (tmp_path / "Makefile").symlink_to("Makefile")

    assert is_build_file(tmp_path / "Makefile")


def test_a_link_to_a_build_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "harmless.txt").symlink_to(tmp_path / "package.json")

    assert is_build_file("harmless.txt", tmp_path)
    (tmp_path / "package.json").touch()
    assert is_build_file(tmp_path / "harmless.txt")


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        ("write_file", True),
        ("mcp_s_apply-patch", True),
        ("read_file", False),
        ("updater", False),
        ("run_shell_command", False),
    ],
)
def test_an_editing_tool_is_known_by_a_word_of_its_name(name: str, edits: bool) -> None:
    assert is_edit_like([name]) is edits


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"file_path": "a", "path": "b"}, "a"),
        ({"path": "b"}, "b"),
        ({"path": "b", "file_path": "a"}, "a"),
        ({"file": "c"}, "c"),
        ({"filePath": "c"}, "c"),
        ({"file": "d"}, "d"),
        ({"file_path": 3, "path": "b"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_first_path_argument_counts(args: Any, path: str | None) -> None:
    assert target_path(args) == path
