from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from services.policy.allowed_paths import AllowedPaths
from services.policy.safety import SafetyRequest, SafetyVerdict


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to("sub")
    (root / "loop").symlink_to("loop")
    (root / "git").symlink_to(".git")
    return root


def judge(root: Path, args: dict[str, Any], config: dict[str, Any] | None = None) -> SafetyVerdict:
    folders = [str(root), str(root.parent / "other")]
    request = SafetyRequest(
        tool_name="t",
        args=args,
        context={"environment": {"cwd": str(root), "workspaces": folders}},
        config=config,
    )
    return asyncio.run(AllowedPaths().check(request))


# Verdicts of the published checker.
@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("a.txt", "allow"),
        ("", "allow"),
        ("in/new/file", "allow"),
        ("../other/x", "allow"),
        (".gitignore", "allow"),
        ("..", "deny"),
        ("..foo", "deny"),
        ("/etc/passwd", "deny"),
        ("out/x", "deny"),
        ("%2e%2e/x", "deny"),
        ("loop/x", "allow"),
        (".git/config", "deny"),
        (".GIT./config", "deny"),
        ("git/config", "deny"),
        ("sub/.env:stream", "deny"),
        ("a\\node_modules\\b", "deny"),
        ("git~1", "deny"),
        ("gha-creds-1.json", "deny"),
        (".vscode/settings.json", "ask_user"),
        ("vscode~1/x", "ask_user"),
    ],
)
def test_a_path_must_lie_in_the_folders_and_be_no_secret(
    root: Path, path: str, decision: str
) -> None:
    assert judge(root, {"file_path": path}).decision == decision


def test_only_arguments_that_look_like_paths_are_judged(root: Path) -> None:
    outside = "/etc/passwd"

    assert judge(root, {"content": outside, "list": [outside]}).decision == "allow"
    assert judge(root, {"edits": [{"old_file": outside}]}).reason == (
        'Path "/etc/passwd" in argument "edits.0.old_file" is outside of the allowed workspace '
        "directories."
    )
    assert judge(root, {"source": outside}).decision == "deny"


def test_arguments_can_be_added_and_left_out(root: Path) -> None:
    args = {"content": "/etc/passwd", "path": "/etc/passwd"}

    assert judge(root, args, {"excluded_args": ["path"]}).decision == "allow"
    both = judge(root, args, {"excluded_args": ["path"], "included_args": ["content"]})
    assert both.decision == "deny"
    with pytest.raises(TypeError):
        judge(root, args, {"excluded_args": 5})
