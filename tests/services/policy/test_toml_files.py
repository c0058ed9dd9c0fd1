from __future__ import annotations

from pathlib import Path

import pytest

from services.policy.rules import Decision, Tier
from services.policy.toml_files import LoadedPolicies, load_policies
from services.state import ApprovalMode

RULE = '[[rule]]\ntoolName = "t"\ndecision = "allow"\npriority = 50\n'


def load(folder: Path, **files: str) -> LoadedPolicies:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return load_policies([folder], lambda _: Tier.USER)


def test_a_rule_has_every_key_of_its_file(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        mine="""
[[rule]]
name = "ignored"
toolName = ["read", "write"]
mcpName = "srv"
subagent = "helper"
argsPattern = "secret"
decision = "deny"
priority = 100
modes = ["plan", "yolo"]
interactive = false
toolAnnotations = { readOnlyHint = true }
allow_redirection = true
deny_message = "no"
""",
    )

    assert loaded.errors == []
    first, second = loaded.rules
    assert (first.tool_name, second.tool_name) == ("mcp_srv_read", "mcp_srv_write")
    assert first.mcp_name == "srv"
    assert first.subagent == "helper"
    assert first.args_pattern is not None
    assert first.decision is Decision.DENY
    assert first.priority == 4.1
    assert first.modes == (ApprovalMode.PLAN, ApprovalMode.YOLO)
    assert first.interactive is False
    assert first.annotations == {"readOnlyHint": True}
    assert first.allow_redirection
    assert first.deny_message == "no"
    assert first.source == "User: mine.toml"


def test_files_come_by_name_and_only_toml_files_of_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("x")
    (tmp_path / "sub.toml").mkdir()
    (tmp_path / "link.toml").symlink_to(tmp_path / "a.toml")

    loaded = load(tmp_path, b=RULE, a=RULE, C=RULE)

    assert [rule.source for rule in loaded.rules] == [
        "User: C.toml",
        "User: a.toml",
        "User: b.toml",
    ]


def test_what_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert load_policies([tmp_path / "none"], lambda _: Tier.USER) == LoadedPolicies()


def test_each_command_prefix_becomes_a_rule(tmp_path: Path) -> None:
    text = RULE.replace('"t"', '"run_shell_command"') + 'commandPrefix = ["git log", "ls"]\n'

    patterns = [rule.args_pattern for rule in load(tmp_path, a=text).rules]

    assert [
        [pattern is not None and pattern.search(f'"command":"{command}') is not None]
        for pattern, command in zip(patterns, ("git log -1", "ls "), strict=True)
    ] == [[True], [True]]
    assert patterns[0] is not None
    assert patterns[0].search('"command":"git logs"') is None


def test_every_tool_of_every_server_is_one_pattern(tmp_path: Path) -> None:
    text = RULE.replace('"t"', '"*"') + 'mcpName = "*"\n'

    assert [rule.tool_name for rule in load(tmp_path, a=text).rules] == ["mcp_*"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            RULE + "x = \n",
            (
                "[USER] Policy file error in a.toml:\n"
                "  TOML parsing failed\n"
                "Invalid value at row 5, col 5:\n"
                "4: priority = 50\n"
                "5> x = \n"
                "       ^\n"
                "6: \n\n"
                "  Suggestion: Check for syntax errors like missing quotes, brackets, or commas\n"
                "  Line: 5"
            ),
        ),
        (
            RULE + RULE.replace("50", "1000") + 'modes = ["defalt"]\n',
            (
                "[USER] Policy file error in a.toml:\n"
                "  Schema validation failed\n"
                "Invalid policy rule (rule #1):\n"
                '  - Field "rule.1.priority": priority must be <= 999 to prevent tier overflow. '
                "Priorities >= 1000 would jump to the next tier.\n"
                '  - Field "rule.1.modes.0": Invalid enum value. Expected '
                "'default' | 'autoEdit' | 'yolo' | 'plan', received 'defalt'\n"
                "  Suggestion: Ensure all required fields (decision, priority) are present with "
                "correct types\n"
                "  Line: 5"
            ),
        ),
    ],
)
def test_a_fault_in_syntax_or_schema_rejects_the_file(
    tmp_path: Path, text: str, message: str
) -> None:
    loaded = load(tmp_path, a=text, b=RULE)

    assert [rule.source for rule in loaded.rules] == ["User: b.toml"]
    (error,) = loaded.errors
    assert str(error) == message


@pytest.mark.parametrize(
    ("pattern", "message", "details"),
    [
        (
            "(",
            "Invalid regex pattern",
            "Pattern: (\nError: Invalid regular expression: /(/: Unterminated group",
        ),
        ("(a+)+", "Unsafe regex pattern (potential ReDoS)", "Pattern: (a+)+"),
    ],
)
def test_a_rule_with_an_unusable_pattern_is_skipped(
    tmp_path: Path, pattern: str, message: str, details: str
) -> None:
    loaded = load(tmp_path, a=RULE + RULE + f'argsPattern = "{pattern}"\n')

    assert len(loaded.rules) == 1
    (error,) = loaded.errors
    assert (error.message, error.details) == (message, details)
    assert error.line == 5


def test_shell_keys_on_another_tool_are_reported_and_loaded(tmp_path: Path) -> None:
    loaded = load(tmp_path, a=RULE + 'commandPrefix = "git"\n')

    assert len(loaded.rules) == 1
    assert [error.details for error in loaded.errors] == [
        (
            "Rule #1: commandPrefix and commandRegex can only be used with "
            'toolName = "run_shell_command"\n'
            '  Found: toolName = "t"\n'
            '  Fix: Set toolName = "run_shell_command" (not an array)'
        )
    ]


@pytest.mark.parametrize("key", ["toolName", "mcpName", "subagent"])
def test_a_rule_with_an_empty_name_is_reported_and_skipped(tmp_path: Path, key: str) -> None:
    text = RULE.replace('"t"', '""') if key == "toolName" else RULE + f'{key} = ""\n'

    loaded = load(tmp_path, a=text + RULE)

    assert len(loaded.rules) == 1
    (error,) = loaded.errors
    assert key in error.message


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        (
            "read_fil",
            (
                'Rule #1: Unrecognized tool name "read_fil". Did you mean one of: '
                '"read_file", "write_file", "replace"?'
            ),
        ),
        (
            "srv__tool",
            (
                'Rule #1: The "__" syntax for MCP tools is strictly deprecated. Please use the '
                "'mcpName = \"...\"' property or the 'mcp_server_tool' format instead."
            ),
        ),
        ("search_file_content", None),
        ("mcp_srv_*", None),
        ("something_else_entirely", None),
    ],
)
def test_a_slip_in_a_tool_name_is_a_warning(tmp_path: Path, name: str, warning: str | None) -> None:
    loaded = load(tmp_path, a=RULE.replace('"t"', f'"{name}"'))

    assert len(loaded.rules) == 1
    found = [(error.severity, error.details) for error in loaded.errors]
    assert found == ([] if warning is None else [("warning", warning)])


def test_a_header_in_a_text_gives_no_line(tmp_path: Path) -> None:
    text = RULE + 'denyMessage = """\n[[rule]]\n"""\n' + RULE + "modes = 1\n"

    (error,) = load(tmp_path, a=text).errors

    assert error.line is None


def test_checkers_have_their_own_way_with_servers(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        a="""
[[safety_checker]]
toolName = ["*", "t"]
mcpName = "srv"
[safety_checker.checker]
type = "external"
name = "guard"
required_context = ["environment"]
config = { depth = 2 }
""",
    )

    assert [checker.tool_name for checker in loaded.checkers] == ["mcp_srv_*", "mcp_srv_t"]
    spec = loaded.checkers[0].checker
    assert (spec.name, spec.external, spec.required_context) == ("guard", True, ("environment",))
    assert spec.config == {"depth": 2}
    assert loaded.checkers[0].priority == 4.0


def test_an_array_of_several_types_is_no_toml_here(tmp_path: Path) -> None:
    loaded = load(tmp_path, a=RULE + 'toolAnnotations = { x = ["a", 1] }\n')

    assert loaded.rules == []
    (error,) = loaded.errors
    assert error.message == "TOML parsing failed"
    assert error.details == "Inline lists must be a single type, not a mix of string and integer"


def test_values_that_are_nested_too_deeply_are_reported(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        deep="x = " + "[" * 50_000,
        sound='[[rule]]\ntoolName = "t"\ndecision = "allow"\npriority = 1',
    )
    [error] = loaded.errors
    assert "Values are nested too deeply" in str(error)
    assert [rule.tool_name for rule in loaded.rules] == ["t"]
