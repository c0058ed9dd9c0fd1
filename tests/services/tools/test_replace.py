from __future__ import annotations

import pytest

from agent_protocol.events import DiffDisplay, ToolDisplay
from services.tools.contract import ToolErrorType, ToolFailure

CODE = "def f(x):\n    if x:\n        return 1\n    return  2\n"


async def edit(bench, path, old, new, **more):
    return await bench.run(
        "replace", file_path=path, instruction="i", old_string=old, new_string=new, **more
    )


async def test_one_occurrence_is_replaced_and_reported(bench):
    bench.write("a.txt", "alpha\nbeta\n")
    result = await edit(bench, "a.txt", "beta", "BETA")
    path = f"{bench.root}/a.txt"
    assert bench.read("a.txt") == "alpha\nBETA\n"
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). Here is the updated code:\n"
        "alpha\nBETA\n"
    )
    assert result.display == ToolDisplay(
        name="Edit",
        description="a.txt: beta => BETA",
        result_summary="1 added, 1 removed",
        result=DiffDisplay(path=path, before_text="alpha\nbeta\n", after_text="alpha\nBETA\n"),
    )
    assert result.return_display["fileDiff"].endswith("@@ -1,2 +1,2 @@\n alpha\n-beta\n+BETA\n")
    assert "+++ a.txt\tProposed\n" in result.return_display["fileDiff"]


async def test_an_empty_old_text_makes_a_file_once(bench):
    made = await edit(bench, "new/a.txt", "", "made\n")
    path = f"{bench.root}/new/a.txt"
    assert made.llm_content == (
        f"Created new file: {path} with provided content. Here is the updated code:\nmade\n"
    )
    assert made.return_display == made.display.result_summary == "Created new/a.txt"
    again = await edit(bench, "new/a.txt", "", "x")
    assert again.error == ToolFailure(
        message=f"File already exists, cannot create: {path}",
        type=ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
    )
    assert again.return_display == (
        "Error: Failed to edit. Attempted to create a file that already exists."
    )


async def test_a_missing_file_and_a_folder_cannot_be_edited(bench):
    (bench.root / "d").mkdir()
    missing = await edit(bench, "gone.txt", "a", "b")
    assert missing.error == ToolFailure(
        message=f"File not found: {bench.root}/gone.txt", type=ToolErrorType.FILE_NOT_FOUND
    )
    assert missing.return_display == (
        "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file."
    )
    folder = await edit(bench, "d", "a", "b")
    assert folder.error == ToolFailure(
        message="EISDIR: illegal operation on a directory, read",
        type=ToolErrorType.EDIT_PREPARATION_FAILURE,
    )


@pytest.mark.parametrize(
    ("old", "new", "message", "display", "type"),
    [
        (
            "nothere",
            "x",
            (
                "Could not find an exact match for 'old_string' in 'a.py'. If previous edits "
                "modified the file or you are modifying lines outside your recent read window, "
                "please use ReadFile to inspect the target lines before retrying with an exact "
                "'old_string'."
            ),
            "Could not find an exact match for old_string in 'a.py'.",
            ToolErrorType.EDIT_NO_OCCURRENCE_FOUND,
        ),
        (
            "return",
            "yield",
            (
                "Failed to edit, Expected 1 occurrence but found 2 for old_string in file: a.py. "
                "If you intended to replace multiple occurrences, set 'allow_multiple' to true."
            ),
            "Failed to edit, expected 1 occurrence but found 2.",
            ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
        ),
        (
            "def f",
            "def f",
            "No changes to apply. The old_string and new_string are identical in file: a.py",
            "No changes to apply. The old_string and new_string are identical.",
            ToolErrorType.EDIT_NO_CHANGE,
        ),
    ],
)
async def test_edits_that_cannot_be_made(bench, old, new, message, display, type):
    bench.write("a.py", CODE)
    result = await edit(bench, "a.py", old, new)
    assert result.error == ToolFailure(message=message, type=type)
    assert result.return_display == f"Error: {display}"
    assert bench.read("a.py") == CODE


async def test_all_occurrences_on_demand_and_never_expanded(bench):
    bench.write("a.txt", "x y x\n")
    result = await edit(bench, "a.txt", "x", "$& \\1", allow_multiple=True)
    assert bench.read("a.txt") == "$& \\1 y $& \\1\n"
    assert "(2 replacements)" in result.llm_content


async def test_crlf_files_are_matched_and_written_back_as_crlf(bench):
    bench.write("a.txt", "one\r\ntwo\r\nthree\r\n")
    await edit(bench, "a.txt", "two\nthree", "2\n3")
    assert bench.read("a.txt") == "one\r\n2\r\n3\r\n"


async def test_a_similar_place_is_edited_with_a_note_where(bench):
    bench.write("a.py", CODE)
    result = await edit(bench, "a.py", "        retrun 1\n    return  2", "        return 3")
    assert bench.read("a.py") == "def f(x):\n    if x:\n        return 3\n"
    assert result.llm_content.endswith(" Applied fuzzy match at line 3-4.")


async def test_the_users_change_is_reported(bench):
    bench.write("a.txt", "one\n")
    tool = bench.registry.get("replace")
    params = {"file_path": "a.txt", "instruction": "i", "old_string": "one", "new_string": "two"}
    current = tool.current_content(params)
    result = await bench.run("replace", **tool.modified_params(params, current, "three\n"))
    assert bench.read("a.txt") == "three\n"
    assert result.llm_content.endswith(
        " The confirmation step modified the `new_string` content to be: three\n."
    )
    assert result.return_display["diffStat"]["user_added_lines"] == 1


def test_only_new_placeholders_are_refused(bench):
    call = {"file_path": "a.txt", "instruction": "i"}
    assert bench.fault("replace", **call, old_string="x", new_string="// rest of code ...") == (
        "`new_string` contains an omission placeholder (for example 'rest of methods ...'). "
        "Provide exact literal replacement text."
    )
    kept = bench.build(
        "replace", **call, old_string="rest of code ...", new_string="rest of code..."
    )
    assert kept.description() == "a.txt: rest of code ... => rest of code..."


@pytest.mark.parametrize(
    ("old", "new", "description"),
    [
        ("", "x", "Create a.txt"),
        ("x", "x", "No file changes to a.txt"),
        ("x" * 31, "a\nb", f"a.txt: {'x' * 30}... => a"),
    ],
)
def test_descriptions(bench, old, new, description):
    call = bench.build(
        "replace", file_path="a.txt", instruction="i", old_string=old, new_string=new
    )
    assert call.description() == description


async def test_a_file_is_found_by_the_end_of_its_path_when_only_one_fits(bench):
    bench.write("src/deep/one.py", "a\n")
    bench.write("src/two.py", "a\n")
    bench.write("lib/two.py", "a\n")
    assert (await edit(bench, "deep/one.py", "a", "b")).error is None
    assert bench.read("src/deep/one.py") == "b\n"
    ambiguous = await edit(bench, "two.py", "a", "b")
    assert ambiguous.error.message == f"File not found: {bench.root}/two.py"


def test_confirmation_shows_the_change_or_nothing(bench):
    bench.write("a.txt", "one\n")
    call = {"file_path": "a.txt", "instruction": "i", "new_string": "two"}
    details = bench.build("replace", **call, old_string="one").confirmation_details()
    assert details.title == "Confirm Edit: a.txt"
    assert details.fields["newContent"] == "two\n"
    assert bench.build("replace", **call, old_string="zzz").confirmation_details() is None


async def test_build_files_are_remembered(bench):
    result = await edit(bench, "Makefile", "", "all:\n")
    assert result.error is None
    assert bench.host.modified_build_files == [bench.root / "Makefile"]
