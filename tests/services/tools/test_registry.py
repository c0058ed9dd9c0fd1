from __future__ import annotations

import pytest

from services.state import ApprovalMode
from services.tools.registry import names_of

ALL = [
    "update_topic",
    "list_directory",
    "read_file",
    "grep_search",
    "glob",
    "replace",
    "write_file",
    "web_fetch",
    "run_shell_command",
    "list_background_processes",
    "read_background_output",
    "google_web_search",
    "ask_user",
    "write_todos",
    "enter_plan_mode",
    "activate_skill",
]
LISTED = [*ALL[:-1], "invoke_agent", ALL[-1]]
"""With the one that is only announced."""


def test_tools_are_registered_in_upstreams_order(bench):
    assert [tool.name for tool in bench.registry.active()] == ALL
    declared = bench.registry.declarations("gemini-2.5-pro")
    assert [declaration["name"] for declaration in declared] == ALL
    assert list(declared[0]) == ["name", "description", "parametersJsonSchema"]


def test_tools_of_later_phases_are_named_and_nothing_else(bench):
    registry = bench.registry
    assert registry.all_names() == LISTED
    bench.host.state.set_approval_mode(ApprovalMode.PLAN)
    assert registry.all_names()[-3:] == ["exit_plan_mode", "invoke_agent", "activate_skill"]
    assert registry.get("invoke_agent") is None
    registry.set_exclusion(lambda tool: tool.name == "invoke_agent")
    assert "invoke_agent" not in registry.all_names()


def test_each_mode_has_the_tool_that_leads_out_of_it(bench):
    registry = bench.registry
    assert registry.get("enter_plan_mode") is not None
    assert registry.get("exit_plan_mode") is None
    bench.host.state.set_approval_mode(ApprovalMode.PLAN)
    assert registry.get("enter_plan_mode") is None
    assert "exit_plan_mode" in {each["name"] for each in registry.declarations()}
    excluded = bench.with_settings(exclude_tools=["ExitPlanModeTool"]).registry
    assert excluded.get("exit_plan_mode") is None


def test_tools_of_later_phases_are_named_only_where_settings_allow_them(bench):
    registry = bench.with_settings(core_tools=["AgentTool", "glob"]).registry
    assert registry.all_names() == ["glob", "invoke_agent", "activate_skill"]
    registry = bench.with_settings(exclude_tools=["EnterPlanModeTool"]).registry
    assert "enter_plan_mode" not in registry.all_names()


def test_the_topic_tool_needs_topic_narration(bench):
    registry = bench.with_settings(topic_update_narration=False).registry
    assert registry.get("update_topic") is None
    assert "update_topic" not in registry.all_names()


def test_a_tool_is_found_by_its_old_name(bench):
    assert bench.registry.get("search_file_content").name == "grep_search"
    assert names_of("search_file_content") == names_of("grep_search")
    assert bench.registry.get("nope") is None


def test_tools_denied_by_policy_are_neither_listed_nor_found(bench):
    registry = bench.registry
    registry.set_exclusion(lambda tool: tool.name in ("write_file", "replace"))
    assert registry.get("write_file") is None
    assert registry.all_names() == [
        name for name in LISTED if name not in ("write_file", "replace")
    ]
    assert len(registry.declarations()) == len(ALL) - 2


@pytest.mark.parametrize(
    ("excluded", "gone"),
    [
        (("read_file",), {"read_file"}),
        (("LSTool",), {"list_directory"}),
        (("search_file_content",), {"grep_search"}),
    ],
)
def test_excluded_tools_may_be_named_by_tool_class_or_old_name(bench, excluded, gone):
    registry = bench.with_settings(exclude_tools=excluded).registry
    assert set(ALL) - set(registry.all_names()) == gone


@pytest.mark.parametrize(
    ("core", "kept"),
    [
        (("read_file", "LSTool"), ["list_directory", "read_file"]),
        (("run_shell_command(git)",), ["run_shell_command"]),
        (("UpdateTopicTool", "ShellTool(ls)"), ["update_topic", "run_shell_command"]),
        (("update_topic",), []),
        ((), []),
    ],
)
def test_only_core_tools_are_registered_when_they_are_set(bench, core, kept):
    without_skills = bench.with_settings(core_tools=core, skills_support=False)
    assert without_skills.registry.all_names() == kept
    # The tool is declared again when skills are found, whatever `tools.core` lists.
    assert bench.with_settings(core_tools=core).registry.all_names() == [*kept, "activate_skill"]


def test_tools_that_are_not_declared_to_the_main_loop_can_be_called(bench):
    listed = ["read_file", "GlobTool", "ShellTool(echo)", "Write"]
    registry = bench.with_settings(main_agent_tools=listed).registry
    declared = [declaration["name"] for declaration in registry.declarations()]
    assert declared == ["read_file", "glob", "run_shell_command"]
    assert registry.get("write_file") is not None
    assert bench.with_settings(main_agent_tools=[]).registry.declarations() == []


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        ("gemini-2.5-pro", True),
        ("gemini-2.0-flash", True),
        ("gemini-3-pro-preview", False),
        ("auto", False),
        ("gemini-20", False),
    ],
)
def test_the_list_of_steps_is_offered_to_the_second_generation_only(bench, model, offered):
    bench.state.set_model(model)
    assert ("write_todos" in bench.registry.all_names()) is offered
    assert "write_todos" not in bench.with_settings(use_write_todos=False).registry.all_names()


def test_without_skills_the_tool_is_declared_without_names(bench):
    registry = bench.with_settings(skills_support=False).registry
    assert registry.all_names().index("activate_skill") == ALL.index("glob") + 1
    declared = registry.get("activate_skill").declaration()["parametersJsonSchema"]
    assert "enum" not in declared["properties"]["name"]


def test_without_plan_mode_its_tools_are_not_named(bench):
    registry = bench.with_settings(plan_enabled=False).registry
    assert set(bench.registry.all_names()) - set(registry.all_names()) == {"enter_plan_mode"}
    bench.state.set_approval_mode(ApprovalMode.PLAN)
    assert "exit_plan_mode" not in registry.all_names()


def test_in_plan_mode_edit_tools_are_declared_for_plans(bench):
    registry = bench.registry
    ordinary = registry.get("write_file").declaration()["description"]
    bench.state.set_approval_mode(ApprovalMode.PLAN)
    declared = {each["name"]: each["description"] for each in registry.declarations()}
    assert declared["write_file"] == (
        f"ONLY FOR PLANS: {ordinary}. You are currently in Plan Mode and may ONLY use this tool "
        f"to write or update plans (.md files) in the plans directory: {bench.host.plans}/. You "
        "cannot use this tool to modify source code directly."
    )
    assert declared["replace"].startswith("ONLY FOR PLANS: ")
    assert not declared["read_file"].startswith("ONLY")


def test_a_second_tool_of_the_same_name_replaces_the_first_in_place(bench, caplog):
    registry = bench.registry
    second = bench.registry.get("glob")
    registry.register(second)
    assert registry.get("glob") is second
    assert registry.all_names() == LISTED
    assert 'Tool with name "glob" is already registered. Overwriting.' in caplog.text
    registry.unregister("glob")
    assert registry.get("glob") is None
