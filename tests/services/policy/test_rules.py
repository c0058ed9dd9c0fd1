from __future__ import annotations

from typing import Any

import pytest

from services.argument_patterns import parameter_pattern
from services.policy.canonical import canonical_arguments
from services.policy.patterns import (
    command_prefix_patterns,
    compile_pattern,
    is_safe_pattern,
)
from services.policy.rules import (
    Decision,
    PolicyCall,
    PolicyRule,
    Tier,
    mcp_server_of,
    rule_matches,
    tool_aliases,
)
from services.state import ApprovalMode


def rule(**fields: Any) -> PolicyRule:
    return PolicyRule(**{"tool_name": "*", "decision": Decision.ALLOW, **fields})


def call(name: str = "read_file", **fields: Any) -> PolicyCall:
    args = fields.pop("args", {})
    known = {"mode": ApprovalMode.DEFAULT, "interactive": True, **fields}
    text = "" if args is None else canonical_arguments(args)
    return PolicyCall(names=[name], args=args, canonical=text, **known)


@pytest.mark.parametrize(
    ("pattern", "name", "server", "matches"),
    [
        ("*", "anything", None, True),
        ("read_file", "read_file", None, True),
        ("read_file", "read_files", None, False),
        ("mcp_*", "mcp_s_t", "s", True),
        ("mcp_*", "mcp_s_t", None, False),
        ("mcp_s_*", "mcp_s_t", "s", True),
        ("mcp_s_*", "mcp_other_t", "s", False),
        ("mcp_s_*", "mcp_s_t", "other", False),
        ("mcp_s_t", "t", "s", True),
        ("mcp_s_t", "t", None, False),
        ("discovered_tool_*", "discovered_tool_x", None, False),
        ("discovered_tool_*", "discovered_tool_*", None, True),
    ],
)
def test_tool_names_match(pattern: str, name: str, server: str | None, matches: bool) -> None:
    assert rule_matches(rule(tool_name=pattern), call(name, server_name=server)) is matches


def test_a_short_name_with_a_server_matches_the_full_name() -> None:
    short = rule(tool_name="t", mcp_name="s")

    assert rule_matches(short, call("mcp_s_t", server_name="s"))
    assert not rule_matches(short, call("mcp_s_u", server_name="s"))
    assert not rule_matches(short, call("mcp_s_t", server_name="r"))


@pytest.mark.parametrize(
    ("conditions", "facts", "matches"),
    [
        ({"mcp_name": "*"}, {"server_name": "s"}, True),
        ({"mcp_name": "*"}, {}, False),
        ({"mcp_name": "s"}, {"server_name": "r"}, False),
        ({"modes": (ApprovalMode.YOLO,)}, {}, False),
        ({"modes": (ApprovalMode.YOLO, ApprovalMode.DEFAULT)}, {}, True),
        ({"subagent": "a"}, {}, False),
        ({"subagent": "a"}, {"subagent": "a"}, True),
        ({"interactive": True}, {"interactive": False}, False),
        ({"interactive": False}, {"interactive": True}, False),
        ({"interactive": False}, {"interactive": False}, True),
        ({"annotations": {"readOnlyHint": True}}, {}, False),
        ({"annotations": {"readOnlyHint": True}}, {"annotations": {"readOnlyHint": True}}, True),
        ({"annotations": {"readOnlyHint": True}}, {"annotations": {"readOnlyHint": False}}, False),
    ],
)
def test_every_condition_must_hold(
    conditions: dict[str, Any], facts: dict[str, Any], matches: bool
) -> None:
    assert rule_matches(rule(**conditions), call(**facts)) is matches


@pytest.mark.parametrize(
    ("pattern", "args", "matches"),
    [
        (r"b\.txt", {"file_path": "b.txt"}, True),
        (r"b\.txt", {"file_path": "bxtxt"}, False),
        (r'\x00"file_path":"a"\x00', {"file_path": "a"}, True),
        (r'\x00"file_path":"a"\x00', {"deep": {"file_path": "a"}}, False),
        (r'\x00"file_path":"a"\x00', {"x": '"file_path":"a"'}, False),
        (r'"b":2.*"a"', {"b": 2, "a": 1}, False),
        (r'"a":1.*"b"', {"b": 2, "a": 1}, True),
        ("", None, False),
        (r"(?<word>\w)\d", {"a": "é٣"}, False),
    ],
)
def test_a_pattern_is_searched_in_the_canonical_arguments(
    pattern: str, args: Any, matches: bool
) -> None:
    narrowed = rule(args_pattern=compile_pattern(pattern))

    assert rule_matches(narrowed, call(args=args)) is matches
    assert rule_matches(narrowed, call(args=args), ignore_pattern=True)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"tool_name": ""}, "toolName is required. Use '*' for all tools. Rule source: unknown"),
        ({"mcp_name": "", "source": "f"}, "mcpName is required if specified"),
        ({"subagent": ""}, "subagent is required if specified"),
    ],
)
def test_an_empty_name_is_no_rule(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=r"Invalid policy rule: ") as caught:
        rule(**fields)
    assert problem in str(caught.value)


def test_only_thousandths_of_950_mark_an_always_allow_rule() -> None:
    assert rule(priority=Tier.USER.priority(950)).from_always_allow
    assert not rule(priority=Tier.USER.priority(95)).from_always_allow


def test_a_renamed_tool_goes_by_both_names() -> None:
    assert tool_aliases("grep_search") == ["grep_search", "search_file_content"]
    assert tool_aliases("search_file_content") == ["search_file_content", "grep_search"]
    assert tool_aliases("glob") == ["glob"]


@pytest.mark.parametrize(
    ("name", "server"),
    [("mcp_s_t_u", "s"), ("mcp_s", None), ("mcp__t", None), ("mcp_s_", None), ("read_file", None)],
)
def test_the_server_ends_at_the_first_underscore(name: str, server: str | None) -> None:
    assert mcp_server_of(name) == server


@pytest.mark.parametrize(
    ("command", "matches"),
    [
        ("git status", True),
        ("git", True),
        ("gitx", False),
        ("git\\status", False),
        ('git"x"', True),
    ],
)
def test_a_command_prefix_ends_at_a_blank_or_a_quote(command: str, matches: bool) -> None:
    [pattern] = command_prefix_patterns("git")

    found = compile_pattern(pattern).search(canonical_arguments({"command": command}))

    assert (found is not None) is matches


def test_a_narrowing_pattern_never_matches_as_upstream_builds_it() -> None:
    pattern = compile_pattern(parameter_pattern("file_path", "a.txt"))

    assert pattern.search(canonical_arguments({"file_path": "a.txt"})) is None


@pytest.mark.parametrize(
    ("pattern", "safe"),
    [("a+b", True), ("(a+)+", False), ("(", False), ("a" * 2048, True), ("a" * 2049, False)],
)
def test_slow_and_broken_patterns_are_not_safe(pattern: str, safe: bool) -> None:
    assert is_safe_pattern(pattern) is safe


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"a\sb", "a\u00a0b", True),
        (r"a[\s]b", "a\u2003b", True),
        (r"a\Sb", "a\u00a0b", False),
        (r"a.b", "a\u2028b", False),
        (r"a[.]b", "axb", False),
        (r"^\w$", "\u00e9", False),
        (r"a$", "a\n", False),
        (r"(?<name>a)b", "ab", True),
    ],
)
def test_patterns_mean_what_they_mean_in_javascript(pattern: str, text: str, found: bool) -> None:
    assert (compile_pattern(pattern).search(text) is not None) is found


def test_a_pattern_that_is_none_says_why_in_javascripts_words() -> None:
    with pytest.raises(ValueError, match=r"^Invalid regular expression: /\(/: Unterminated group$"):
        compile_pattern("(")
