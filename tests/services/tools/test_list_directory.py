from __future__ import annotations

import pytest

from agent_protocol.events import ToolDisplay
from services.tools.contract import ConfirmationOutcome, ToolErrorType, ToolFailure


async def test_folders_come_first_and_names_sort_as_in_javascript(bench):
    for name in ("b.txt", "A.txt", "_u", "é.txt", "2.txt", ".hidden"):
        bench.write(name, "xyz")
    (bench.root / "src").mkdir()
    result = await bench.run("list_directory", dir_path=".")
    assert result.llm_content == (
        f"Directory listing for {bench.root}:\n[DIR] src\n_u (3 bytes)\n.hidden (3 bytes)\n"
        "2.txt (3 bytes)\nA.txt (3 bytes)\nb.txt (3 bytes)\né.txt (3 bytes)"
    )
    assert result.return_display == {
        "summary": "Found 7 item(s).",
        "files": ["[DIR] src", "_u", ".hidden", "2.txt", "A.txt", "b.txt", "é.txt"],
    }
    assert result.display == ToolDisplay(
        name="ReadFolder", description=".", result_summary="Found 7 item(s)."
    )


async def test_ignored_files_are_counted_and_patterns_are_not(bench):
    bench.git()
    bench.write(".gitignore", "*.log\n")
    bench.write(".geminiignore", "secret\n")
    for name in ("a.log", "secret", "a.txt", "b.md"):
        bench.write(name)
    result = await bench.run("list_directory", dir_path=".", ignore=["*.md", ".g*", "?.zip"])
    assert result.llm_content == (
        f"Directory listing for {bench.root}:\na.txt (0 bytes)\n\n(3 ignored)"
    )
    assert result.return_display["summary"] == "Found 1 item(s). (3 ignored)"
    every = await bench.run(
        "list_directory",
        dir_path=".",
        file_filtering_options={"respect_git_ignore": False, "respect_gemini_ignore": False},
    )
    assert "a.log" in every.llm_content
    assert "secret" in every.llm_content
    assert ".git\n" not in every.llm_content  # blocked, not ignored


async def test_links_that_leave_the_workspace_are_left_out(bench):
    (bench.root / "out").symlink_to("/etc")
    bench.write("a.txt")
    (bench.root / "in").symlink_to("a.txt")
    result = await bench.run("list_directory", dir_path=".")
    assert result.return_display["files"] == ["a.txt", "in"]


async def test_an_empty_folder_has_a_message_and_no_display(bench):
    result = await bench.run("list_directory", dir_path="")
    assert result.llm_content == f"Directory {bench.root} is empty."
    assert result.return_display == "Directory is empty."
    assert result.display is None


async def test_missing_folders_and_files_are_errors(bench):
    bench.write("a.txt")
    missing = await bench.run("list_directory", dir_path="nope")
    path = f"{bench.root}/nope"
    assert missing.error == ToolFailure(
        message=f"Error listing directory: ENOENT: no such file or directory, stat '{path}'",
        type=ToolErrorType.LS_EXECUTION_ERROR,
    )
    assert missing.return_display == "Error: Failed to list directory."
    file = await bench.run("list_directory", dir_path="a.txt")
    assert file.error == ToolFailure(
        message=f"Error: Path is not a directory: {bench.root}/a.txt",
        type=ToolErrorType.PATH_IS_NOT_A_DIRECTORY,
    )


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({}, "params must have required property 'dir_path'"),
        ({"dir_path": ".", "ignore": "x"}, "params/ignore must be array"),
        ({"dir_path": ".", "ignore": [1]}, "params/ignore/0 must be string"),
        (
            {"dir_path": ".", "file_filtering_options": {"respect_git_ignore": "y"}},
            "params/file_filtering_options/respect_git_ignore must be boolean",
        ),
    ],
)
def test_wrong_arguments(bench, params, fault):
    assert bench.fault("list_directory", **params) == fault


def test_access_is_checked_and_the_policy_update_names_the_folder(bench):
    assert bench.fault("list_directory", dir_path="/etc").startswith("Path not in workspace: ")
    call = bench.build("list_directory", dir_path="src")
    assert call.policy_update(ConfirmationOutcome.PROCEED_ALWAYS) == {
        "argsPattern": r"\\0\"dir_path\":\"src\"\\0"
    }


@pytest.mark.timeout(60)
async def test_an_ignore_pattern_of_many_stars_ends(bench):
    name = "a" * 250
    bench.write(name)
    result = await bench.run("list_directory", dir_path=".", ignore=["*a" * 30 + "*b"])
    assert name in result.llm_content
    result = await bench.run("list_directory", dir_path=".", ignore=["*" * 5000 + "a"])
    assert name not in result.llm_content
