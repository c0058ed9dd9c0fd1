from __future__ import annotations

from typing import Any

import pytest

from services.policy.from_settings import policy_rules_from_settings
from services.policy.rules import Decision
from services.state import ApprovalMode


def test_a_rule_has_all_that_was_written() -> None:
    [rule] = policy_rules_from_settings(
        [
            {
                "toolName": "read_file",
                "decision": "deny",
                "priority": 4.9,
                "argsPattern": r"b\.txt",
                "denyMessage": "private",
                "modes": ["autoEdit"],
                "interactive": True,
                "mcpName": "s",
                "toolAnnotations": {"a": 1},
                "allowRedirection": True,
                "subagent": "x",
            }
        ]
    )

    assert (rule.tool_name, rule.decision, rule.priority) == ("read_file", Decision.DENY, 4.9)
    assert rule.args_pattern is not None
    assert rule.args_pattern.pattern == r"b\.txt"
    assert (rule.deny_message, rule.modes) == ("private", (ApprovalMode.AUTO_EDIT,))
    assert (rule.interactive, rule.mcp_name, rule.annotations) == (True, "s", {"a": 1})
    assert (rule.allow_redirection, rule.subagent) == (True, "x")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"toolName": None}, "policyRules[1].toolName: a text expected, not None"),
        ({"toolName": ""}, "policyRules[1].toolName: is required"),
        (
            {"decision": "maybe"},
            "policyRules[1].decision: one of allow, deny, ask_user expected, not 'maybe'",
        ),
        ({"priority": "high"}, "policyRules[1].priority: a number expected, not 'high'"),
        ({"priority": True}, "policyRules[1].priority: a number expected, not True"),
        ({"argsPattern": "("}, "policyRules[1].argsPattern: not a regular expression"),
        ({"modes": ["fast"]}, "policyRules[1].modes: one of default, autoEdit, "),
        ({"colour": 1}, "policyRules[1].colour: unknown key"),
        ({"mcpName": ""}, "policyRules[1]: Invalid policy rule: mcpName"),
    ],
)
def test_a_malformed_rule_is_named_with_its_key(change: dict[str, Any], problem: str) -> None:
    good = {"toolName": "t", "decision": "allow"}

    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is checked below
        policy_rules_from_settings([good, {**good, **change}])

    assert str(caught.value).startswith(problem)


def test_name_and_decision_are_required() -> None:
    with pytest.raises(ValueError, match=r"policyRules\[0\]\.decision: is required"):
        policy_rules_from_settings([{"toolName": "t"}])
    with pytest.raises(ValueError, match=r"policyRules\[0\]\.toolName: is required"):
        policy_rules_from_settings([{"decision": "allow"}])
