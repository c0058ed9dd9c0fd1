from __future__ import annotations

import pytest

from services.edit_distance import edit_distance
from services.policy.rules import Decision, PolicyRule
from services.policy.tool_names import mcp_tool_warnings, tool_name_warning


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("read_file", False),
        ("glb", True),
        ("mcp_*", False),
        ("mcp_a_b_*", False),
        ("mcp_s_t", False),
        ("discovered_tool_x", False),
        ("something_else", False),
        ("s__t", True),
        ("", False),
    ],
)
def test_names_like_typing_errors_have_a_warning(name: str, odd: bool) -> None:
    assert (tool_name_warning(name, 0) is not None) is odd


def test_rules_for_tools_that_a_server_lacks_have_a_warning() -> None:
    def rule(name: str) -> PolicyRule:
        return PolicyRule(tool_name=name, decision=Decision.ALLOW, source="User: a.toml")

    rules = [rule("mcp_s_serch"), rule("mcp_s_*"), rule("mcp_s_read"), rule("mcp_o_serch")]

    assert mcp_tool_warnings("s", ["search", "read"], rules) == [
        (
            'Unrecognized MCP tool "serch" for server "s" (from User: a.toml).'
            ' Did you mean one of: "search", "read"?'
        )
    ]
    assert mcp_tool_warnings("s", [], rules) == []


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("", "", 0), ("kitten", "sitting", 3), ("abc", "", 3), ("ab", "ba", 2)],
)
def test_distances(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == distance
