from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.policy.rule_book import AGENT_RULE_SOURCE, RuleBook
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule
from services.policy.updates import UpdatePolicy
from tests.services.policy.instant import InstantEngine

MakeEngine = Callable[..., InstantEngine]


def rule(name: str, priority: float = 1.0, **more: Any) -> PolicyRule:
    return PolicyRule(tool_name=name, decision=Decision.ALLOW, priority=priority, **more)


def checker(priority: float, source: str) -> CheckerRule:
    spec = CheckerSpec(name="allowed-path")
    return CheckerRule(tool_name="*", checker=spec, priority=priority, source=source)


def names(book: RuleBook) -> list[str]:
    return [entry.tool_name for entry in book.rules]


def test_a_source_goes_with_its_checkers() -> None:
    book = RuleBook([rule("a", source="x"), rule("b", source="y")], [checker(1.0, "x")])

    book.remove_source("x")

    assert names(book) == ["b"]
    assert book.checkers == ()


def test_a_remote_agent_is_asked_about(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.add_remote_agent("far")

    asked = engine.check("invoke_agent", {"agent_name": "far"})
    local = engine.check("invoke_agent", {"agent_name": "near"})

    assert (asked.decision, local.decision) == (Decision.ASK_USER, Decision.ALLOW)
    assert asked.rule is not None
    assert asked.rule.source == AGENT_RULE_SOURCE


def test_a_written_rule_for_a_remote_agent_is_enough(make_engine: MakeEngine) -> None:
    engine = make_engine([rule("far")])

    engine.add_remote_agent("far")

    assert len(engine.rules) == 1


def test_an_answer_to_be_kept_is_saved_once_it_is_a_rule(make_engine: MakeEngine) -> None:
    saved: list[UpdatePolicy] = []
    engine = make_engine([], save=saved.append)
    kept = UpdatePolicy(tool_name="t", persist_scope="user")

    engine.apply_update(kept)
    engine.apply_update(UpdatePolicy(tool_name="t"))
    engine.apply_update(UpdatePolicy(tool_name="read_file", persist_scope="user"))
    engine.apply_update(UpdatePolicy(tool_name="t", args_pattern="(", persist_scope="user"))

    assert saved == [kept]
    assert len(engine.rules) == 2


def test_no_prefixes_at_all_make_no_rule_but_are_saved(make_engine: MakeEngine) -> None:
    saved: list[UpdatePolicy] = []
    engine = make_engine([], save=saved.append)

    engine.apply_update(
        UpdatePolicy(tool_name="run_shell_command", command_prefix=[], persist_scope="user")
    )

    assert engine.rules == ()
    assert len(saved) == 1


@pytest.mark.parametrize(
    ("wanted", "known", "matches"),
    [
        ({}, None, False),
        ({}, {}, True),
        ({"a": True}, {"a": True}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": ["x"]}, {"a": ["x"]}, False),
    ],
)
def test_annotations_are_compared_as_javascript_does(
    make_engine: MakeEngine, wanted: dict[str, Any], known: dict[str, Any] | None, matches: bool
) -> None:
    engine = make_engine([rule("t", annotations=wanted)])

    found = engine.check("t", {}, annotations=known)

    assert (found.decision is Decision.ALLOW) is matches


def test_a_subagents_rule_is_for_its_calls_only(make_engine: MakeEngine) -> None:
    engine = make_engine([rule("t", subagent="helper")])

    assert engine.check("t", {}, subagent="helper").decision is Decision.ALLOW
    assert engine.check("t", {}).decision is Decision.ASK_USER
    assert not engine.statically_excluded("t")
