"""The tools that only keep or say something: todos, questions, skills, documentation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from services.tools.ask_user import AskUserInvocation
from services.tools.contract import ConfirmationOutcome, ToolErrorType, ToolExecution
from services.tools.folder_tree import described_folder
from services.tools.internal_docs import GetInternalDocsTool


class TestTodos:
    async def test_the_list_is_shown_with_numbers_and_states(self, bench):
        todos = [
            {"description": "Look", "status": "completed"},
            {"description": "Mend", "status": "in_progress"},
        ]
        call = bench.build("write_todos", todos=todos)
        assert call.description() == "Set 2 todo(s)"
        result = await bench.execute(call)
        assert result.llm_content == (
            "Successfully updated the todo list. The current list is now:\n"
            "1. [completed] Look\n2. [in_progress] Mend"
        )
        assert result.return_display == {"todos": todos}

    async def test_an_empty_list_clears(self, bench):
        call = bench.build("write_todos", todos=[])
        assert call.description() == "Cleared todo list"
        assert (await bench.execute(call)).llm_content == "Successfully cleared the todo list."

    @pytest.mark.parametrize(
        ("todos", "fault"),
        [
            (
                [{"description": " ", "status": "pending"}],
                "Each todo must have a non-empty description string",
            ),
            (
                [{"description": "a", "status": "in_progress"}] * 2,
                'Invalid parameters: Only one task can be "in_progress" at a time.',
            ),
            (
                [{"description": "a", "status": "done"}],
                "params/todos/0/status must be equal to one of the allowed values",
            ),
        ],
    )
    def test_other_lists_are_refused(self, bench, todos, fault):
        assert bench.fault("write_todos", todos=todos) == fault


QUESTION = {
    "question": "Which?\\nReally?",
    "header": "Db",
    "type": "choice",
    "options": [{"label": "A", "description": " first "}, {"label": "B", "description": ""}],
}


class TestQuestions:
    async def test_the_model_gets_the_answers_and_the_user_sees_them(self, bench):
        call = bench.build("ask_user", questions=[QUESTION])
        assert isinstance(call, AskUserInvocation)
        details = call.confirmation_details()
        assert (details.type, details.title) == ("ask_user", "Ask User")
        assert details.fields["questions"][0]["question"] == "Which?\nReally?"
        assert details.fields["questions"][0]["options"][0]["description"] == "first"
        call.answered(ConfirmationOutcome.PROCEED_ONCE, {"answers": {"0": "A\nB", "5": "x"}})
        result = await bench.execute(call)
        assert result.llm_content == '{"answers":{"0":"A\\nB","5":"x"}}'
        assert result.return_display == ("**User answered:**\n  Db → A\n       B\n  Q5 → x")
        assert result.data["ask_user"]["answer_count"] == 2

    async def test_a_submission_without_answers_is_reported(self, bench):
        result = await bench.run("ask_user", questions=[QUESTION])
        assert result.llm_content == '{"answers":{}}'
        assert result.return_display == "User submitted without answering questions."

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"options": None}, "params/questions/0/options must be array"),
            (
                {"options": [{"label": "A", "description": ""}]},
                "Question 1: type='choice' requires 'options' array with 2-4 items.",
            ),
            (
                {"options": [{"label": "A", "description": ""}] * 5},
                "Question 1: 'options' array must have at most 4 items.",
            ),
            (
                {"options": [{"label": " ", "description": ""}] * 2},
                "Question 1, option 1: 'label' is required and must be a non-empty string.",
            ),
        ],
    )
    def test_choices_need_two_to_four_options(self, bench, change, fault):
        assert bench.fault("ask_user", questions=[{**QUESTION, **change}]) == fault


class TestSkills:
    @pytest.fixture
    def skilled(self, bench):
        home = bench.host.workspace.home / ".gemini/skills/tests"
        home.mkdir(parents=True)
        (home / "SKILL.md").write_text("---\nname: tests\ndescription: How we test\n---\nFirst.\n")
        (home / "notes.md").write_text("notes")
        return bench

    async def test_the_model_gets_a_skill_and_may_read_its_files(self, skilled):
        folder = skilled.host.workspace.home / ".gemini/skills/tests"
        notes = str(folder / "notes.md")
        assert skilled.fault("read_file", file_path=notes).startswith("Path not in workspace")
        call = skilled.build("activate_skill", name="tests")
        assert call.description() == '"tests": How we test'
        result = await skilled.execute(call)
        tree = described_folder(folder)
        assert result.llm_content == (
            '<activated_skill name="tests">\n  <instructions>\n    First.\n  </instructions>\n\n'
            f"  <available_resources>\n    {tree}\n  </available_resources>\n</activated_skill>"
        )
        assert result.return_display == (
            f"Skill **tests** activated. Resources loaded from `{folder}`:\n\n{tree}"
        )
        assert (await skilled.run("read_file", file_path=notes)).llm_content == "notes"

    async def test_a_search_covers_the_added_folder_too(self, skilled):
        skilled.write("a.md", "notes here")
        await skilled.run("activate_skill", name="tests")
        found = (await skilled.run("glob", pattern="**/*.md")).llm_content
        assert found.startswith('Found 3 file(s) matching "**/*.md" across 2 workspace directories')
        found = (await skilled.run("grep_search", pattern="notes")).llm_content
        assert found.startswith(
            'Found 2 matches for pattern "notes" across 2 workspace directories'
        )
        assert "File: ws/a.md" in found
        assert "File: tests/notes.md" in found
        assert (await skilled.run("glob", pattern="*.zzz")).llm_content == (
            'No files found matching pattern "*.zzz" within 2 workspace directories'
        )

    def test_the_confirmation_lists_the_shared_files(self, skilled):
        details = skilled.build("activate_skill", name="tests").confirmation_details()
        assert details.title == "Activate Skill: tests"
        assert "**Description:**\nHow we test\n\n**Resources" in details.fields["prompt"]
        assert "notes.md" in details.fields["prompt"]
        builtin = skilled.build("activate_skill", name="skill-creator")
        assert builtin.confirmation_details() is None

    def test_only_known_names_are_allowed(self, skilled):
        fault = "params/name must be equal to one of the allowed values"
        assert skilled.fault("activate_skill", name="Tests") == fault

    async def test_a_skill_that_has_gone_is_an_error(self, skilled):
        call = skilled.build("activate_skill", name="tests")
        workspace = skilled.host.workspace
        skilled.host.skills.discover(
            home=workspace.root, root=workspace.root, trusted=False, builtin=workspace.root
        )
        result = await skilled.execute(call)
        assert result.error.type is ToolErrorType.INVALID_TOOL_PARAMS
        assert result.error.message == 'Skill "tests" not found. Available skills are: '


class TestFolderTree:
    def test_files_come_before_folders_and_skipped_ones_have_dots(self, tmp_path):
        for path in ("b.txt", "a.txt", "d/x", "d/e/y", "node_modules/z", "c/w"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
        assert described_folder(tmp_path) == (
            "Showing up to 200 items (files + folders). Folders or files indicated with ... "
            "contain more items not shown, were ignored, or the display limit (200 items) was "
            f"reached.\n\n{tmp_path}/\n"
            "├───a.txt\n├───b.txt\n├───c/\n│   └───w\n├───d/\n│   ├───x\n│   └───e/\n"
            "│       └───y\n└───node_modules/..."
        )

    def test_at_most_200_entries_are_drawn(self, tmp_path):
        for number in range(201):
            (tmp_path / f"{number:03}").touch()
        lines = described_folder(tmp_path).split("\n")
        assert lines[-3:] == ["├───198", "└───199", "└───..."]

    def test_a_missing_folder_is_reported(self, tmp_path):
        assert described_folder(tmp_path / "no") == (
            f'Error: Could not read directory "{tmp_path}/no". Check path and permissions.'
        )


class TestDocs:
    async def run(self, bench, docs, **params):
        call = GetInternalDocsTool(bench.host, docs=docs).build(params)
        assert call.confirmation_details() is None
        execution = ToolExecution(call_id="c", signal=bench.controller.signal)
        return await call.execute(execution)

    async def test_files_are_listed_and_read(self, bench, tmp_path):
        docs = tmp_path / "docs"
        (docs / "cli").mkdir(parents=True)
        (docs / "cli/b.mdx").write_text("text")
        (docs / "a.md").touch()
        (docs / "sidebar.json").touch()
        listed = await self.run(bench, docs)
        assert listed.llm_content == (
            "Available Gemini CLI documentation files:\n\n- a.md\n- cli/b.mdx"
        )
        assert listed.return_display == "Found 2 documentation files."
        assert (await self.run(bench, docs, path="cli/b.mdx")).llm_content == "text"

    @pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "../docs2/x.md"])
    async def test_paths_out_of_the_documentation_are_refused(self, bench, tmp_path, path):
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs2").mkdir()
        (tmp_path / "docs2/x.md").write_text("secret")
        result = await self.run(bench, tmp_path / "docs", path=path)
        assert result.error.message == (
            "Access denied: Requested path is outside the documentation directory."
        )

    async def test_missing_documentation_is_reported(self, bench):
        tool = GetInternalDocsTool(replace(bench.host))
        tool.docs = None
        execution = ToolExecution(call_id="c", signal=bench.controller.signal)
        result = await tool.build({}).execute(execution)
        assert result.error.message == "Could not find Gemini CLI documentation directory."


def test_the_documentation_that_comes_with_the_product_is_found_and_listed_whole() -> None:
    docs = Path(__file__).parents[3] / "docs"
    listed = {
        item["slug"]
        for group in json.loads((docs / "sidebar.json").read_text("utf-8"))
        for item in group["items"]
    }
    assert listed == {file.stem for file in docs.glob("*.md")}
