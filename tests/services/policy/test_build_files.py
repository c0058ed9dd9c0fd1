from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.policy.build_files import is_build_file, is_edit_like, target_path
from services.policy.engine import PolicyEngine
from services.policy.rules import Decision


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
        ("", False),
    ],
)
def test_build_files_are_known_by_name(tmp_path: Path, path: str, build: bool) -> None:
    assert is_build_file(path, tmp_path) is build


def test_a_link_to_a_build_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "harmless.txt").symlink_to(tmp_path / "package.json")

    assert is_build_file("harmless.txt", tmp_path)


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
        ({"filePath": "c"}, "c"),
        ({"file": "d"}, "d"),
        ({"file_path": 3, "path": "b"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_first_path_argument_counts(args: Any, path: str | None) -> None:
    assert target_path(args) == path


@pytest.mark.parametrize(("interactive", "decision"), [(True, "ask_user"), (False, "deny")])
def test_yolo_does_not_edit_build_files_silently(
    make_engine: Callable[..., PolicyEngine], interactive: bool, decision: str
) -> None:
    engine = make_engine(mode="yolo", interactive=interactive)

    found = engine.check("write_file", {"file_path": " package.json "})

    assert found.decision == decision
    assert found.rule is not None
    assert found.rule.source == "Build File Protection"
    assert found.deny_message == (
        "Modifying build configuration files requires explicit user confirmation"
    )
    assert engine.check("read_file", {"file_path": "package.json"}).decision is Decision.ALLOW
    assert engine.targets_build_file({"path": "sub/pom.xml"})
