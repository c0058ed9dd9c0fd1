from __future__ import annotations

import pytest

from agent_protocol.events import DiffDisplay, ToolDisplay
from services.state import ApprovalMode
from services.tools.contract import ToolErrorType, ToolFailure

RULE = "=" * 67


async def test_a_new_file_is_made_with_its_folders_and_shown_whole(bench):
    result = await bench.run("write_file", file_path="out/new.txt", content="hello\nworld\n")
    path = f"{bench.root}/out/new.txt"
    assert bench.read("out/new.txt") == "hello\nworld\n"
    assert result.llm_content == (
        f"Successfully created and wrote to new file: {path}. Here is the updated code:\n"
        "hello\nworld\n"
    )
    assert result.display == ToolDisplay(
        name="WriteFile",
        description="Writing to out/new.txt",
        result_summary="2 added, 0 removed",
        result=DiffDisplay(path=path, before_text="", after_text="hello\nworld\n"),
    )
    assert result.return_display == {
        "fileDiff": (
            f"Index: new.txt\n{RULE}\n--- new.txt\tOriginal\n+++ new.txt\tWritten\n"
            "@@ -0,0 +1,2 @@\n+hello\n+world\n"
        ),
        "fileName": "new.txt",
        "filePath": path,
        "originalContent": "",
        "newContent": "hello\nworld\n",
        "diffStat": {
            "model_added_lines": 2,
            "model_removed_lines": 0,
            "model_added_chars": 10,
            "model_removed_chars": 0,
            "user_added_lines": 0,
            "user_removed_lines": 0,
            "user_added_chars": 0,
            "user_removed_chars": 0,
        },
        "isNewFile": True,
        "isBuildFile": False,
    }


async def test_an_overwritten_file_shows_changed_parts_with_five_lines_around(bench):
    lines = [f"{n}\n" for n in range(30)]
    bench.write("a.txt", "".join(lines))
    lines[12] = "twelve\n"
    result = await bench.run("write_file", file_path="a.txt", content="".join(lines))
    assert result.llm_content == (
        f"Successfully overwrote file: {bench.root}/a.txt. Here is the updated code:\n...\n"
        "7\n8\n9\n10\n11\ntwelve\n13\n14\n15\n16\n17\n..."
    )
    assert result.return_display["isNewFile"] is False
    assert result.display.result_summary == "1 added, 1 removed"


async def test_crlf_files_keep_their_line_ends(bench):
    bench.write("a.txt", "one\r\ntwo\r\n")
    result = await bench.run("write_file", file_path="a.txt", content="one\n2\n")
    assert bench.read("a.txt") == "one\r\n2\r\n"
    assert result.return_display["newContent"] == "one\n2\n"


async def test_the_users_change_is_reported_and_counted_separately(bench):
    tool = bench.registry.get("write_file")
    params = tool.modified_params({"file_path": "a.txt", "content": "ai\n"}, "", "user\n")
    result = await bench.run("write_file", **params)
    assert result.llm_content == (
        f"Successfully created and wrote to new file: {bench.root}/a.txt. User modified the "
        "`content` to be: user\n Here is the updated code:\nuser\n"
    )
    assert result.return_display["diffStat"]["user_added_chars"] == 4
    assert result.return_display["diffStat"]["model_added_chars"] == 2
    assert tool.current_content({"file_path": "a.txt"}) == "user\n"


@pytest.mark.parametrize(
    "line",
    [
        "// rest of methods ...",
        "(rest of code ....)",
        "  Rest  of\tmethod...",
        "// (unchanged code ...)",
    ],
)
def test_placeholders_for_left_out_code_are_refused(bench, line):
    assert bench.fault("write_file", file_path="a.py", content=f"x = 1\n{line}\n") == (
        "`content` contains an omission placeholder (for example 'rest of methods ...'). Provide "
        "complete file content."
    )


@pytest.mark.parametrize("line", ["rest of methods", "the rest of code ...", "rest of code ... x"])
async def test_lines_that_only_look_like_placeholders_are_written(bench, line):
    await bench.run("write_file", file_path="a.py", content=line)
    assert bench.read("a.py") == line


def test_an_empty_path_and_a_folder_are_refused(bench):
    (bench.root / "d").mkdir()
    assert bench.fault("write_file", file_path="", content="") == 'Missing or empty "file_path"'
    assert bench.fault("write_file", file_path="d", content="") == (
        f"Path is a directory, not a file: {bench.root}/d"
    )
    assert "Path not in workspace" in bench.fault("write_file", file_path="/etc/x", content="")


async def test_a_file_in_the_way_of_a_folder_fails_the_check_of_what_is_there(bench):
    bench.write("a.txt")
    result = await bench.run("write_file", file_path="a.txt/b", content="x")
    path = f"{bench.root}/a.txt/b"
    assert result.error == ToolFailure(
        message=(
            f"Error checking existing file '{path}': ENOTDIR: not a directory, open '{path}' "
            "(ENOTDIR)"
        ),
        type=ToolErrorType.FILE_WRITE_FAILURE,
    )


@pytest.mark.parametrize(
    ("code", "message", "type"),
    [
        (13, "Permission denied writing to file: {} (EACCES)", ToolErrorType.PERMISSION_DENIED),
        (28, "No space left on device: {} (ENOSPC)", ToolErrorType.NO_SPACE_LEFT),
        (21, "Target is a directory, not a file: {} (EISDIR)", ToolErrorType.TARGET_IS_DIRECTORY),
        (
            5,
            "Error writing to file '{}': EIO: i/o error, open '{}' (EIO)",
            ToolErrorType.FILE_WRITE_FAILURE,
        ),
    ],
)
async def test_an_error_of_the_file_system_has_its_own_type(
    bench, monkeypatch, code, message, type
):
    def refuse(path, data):
        raise OSError(code, "no")

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    result = await bench.run("write_file", file_path="a.txt", content="x")
    expected = message.replace("{}", f"{bench.root}/a.txt")
    assert result.error == ToolFailure(message=expected, type=type)
    assert type.is_fatal is (code == 28)


async def test_build_files_are_marked_remembered_and_never_edited_unasked(bench):
    ordinary = bench.build("write_file", file_path="a.txt", content="")
    build = bench.build("write_file", file_path="package.json", content="{}")
    assert ordinary.respects_auto_edit
    assert not build.respects_auto_edit
    result = await bench.execute(build)
    assert result.return_display["isBuildFile"] is True
    assert bench.host.modified_build_files == [bench.root / "package.json"]


def test_confirmation_shows_the_change(bench):
    bench.write("a.txt", "one\n")
    details = bench.build("write_file", file_path="a.txt", content="two\n").confirmation_details()
    assert (details.type, details.title) == ("edit", "Confirm Write: a.txt")
    assert details.fields == {
        "fileName": "a.txt",
        "filePath": f"{bench.root}/a.txt",
        "fileDiff": (
            f"Index: a.txt\n{RULE}\n--- a.txt\tCurrent\n+++ a.txt\tProposed\n"
            "@@ -1,1 +1,1 @@\n-one\n+two\n"
        ),
        "originalContent": "one\n",
        "newContent": "two\n",
        "isBuildFile": False,
    }


def test_without_a_readable_file_there_is_no_confirmation(bench):
    bench.write("a.txt")
    invocation = bench.build("write_file", file_path="a.txt/b", content="x")
    assert invocation.confirmation_details() is None


async def test_only_old_models_get_their_backslashes_corrected(bench):
    await bench.run("write_file", file_path="a.txt", content="a\\nb")
    assert bench.read("a.txt") == "a\\nb"
    bench.state.set_active_model("gemini-1.5-pro")
    await bench.run("write_file", file_path="b.txt", content="a\\nb")
    await bench.run("write_file", file_path="b.json", content="a\\nb")
    assert bench.read("b.txt") == "a\nb"
    assert bench.read("b.json") == "a\\nb"


async def test_in_plan_mode_only_plans_can_be_written(bench):
    bench.state.set_approval_mode(ApprovalMode.PLAN)
    plans = bench.host.plans
    result = await bench.run("write_file", file_path="sub/plan.md", content="# P\n")
    assert (plans / "sub" / "plan.md").read_text() == "# P\n"
    assert result.llm_content.startswith(
        f"Successfully created and wrote to new file: {plans}/sub/plan.md."
    )
    for path in ("../x", "/etc/x", "../../../../home/x"):
        assert bench.fault("write_file", file_path=path, content="") == (
            f"Access denied: plan path ({path}) must be within the designated plans directory "
            f"({plans})."
        )
    assert bench.fault("write_file", file_path=" ", content="") == (
        "Plan file path must be non-empty."
    )
    plan = bench.build("write_file", file_path=str(plans / "p.md"), content="")
    assert plan.description() == "Writing to ../.../plans/p.md"


@pytest.mark.contract("P-266")
async def test_a_call_from_before_plan_mode_writes_nothing_but_plans(bench):
    ordinary = bench.build("write_file", file_path="p.md", content="x")
    plan = bench.build("write_file", file_path=str(bench.host.plans / "p.md"), content="x")
    bench.state.set_approval_mode(ApprovalMode.PLAN)

    refused = await bench.execute(ordinary)
    written = await bench.execute(plan)

    assert refused.error.message == (
        f"Error checking existing file '{bench.root}/p.md': Failed to resolve plan path: Access "
        f"denied: plan path ({bench.root}/p.md) must be within the designated plans directory "
        f"({bench.host.plans}). (EINVAL)"
    )
    assert ordinary.confirmation_details() is None
    assert not (bench.root / "p.md").exists()
    assert written.error is None
    assert (bench.host.plans / "p.md").read_text() == "x"
