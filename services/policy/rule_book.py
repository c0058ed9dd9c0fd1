"""A session's rules and safety checkers, in the order in which they are tried.

Source: core `policy/policy-engine.ts` (`addRule`, `removeRulesBy…`, `hasRuleForTool`).
"""

from __future__ import annotations

from collections.abc import Iterable

from services.policy.rules import CheckerRule, Decision, PolicyCall, PolicyRule, rule_matches

__all__ = ["AGENT_RULE_SOURCE", "RuleBook", "first_unconditional"]

AGENT_RULE_SOURCE = "AgentRegistry (Dynamic)"
"""The source of the rules that come with remote agents."""


class RuleBook:
    """Rules and checkers by priority, highest first; equal priorities keep their order."""

    def __init__(
        self, rules: Iterable[PolicyRule] = (), checkers: Iterable[CheckerRule] = ()
    ) -> None:
        self._rules: tuple[PolicyRule, ...] = ()
        self._checkers: list[CheckerRule] = []
        self.add(rules, checkers)

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in the order in which they are tried; another tuple after each change."""
        return self._rules

    @property
    def checkers(self) -> tuple[CheckerRule, ...]:
        """All checkers, in the order in which they run."""
        return tuple(self._checkers)

    def add(self, rules: Iterable[PolicyRule], checkers: Iterable[CheckerRule] = ()) -> None:
        """Add rules and checkers; each comes after those with the same priority."""
        self._rules = tuple(sorted((*self._rules, *rules), key=lambda rule: -rule.priority))
        self._checkers.extend(checkers)
        self._checkers.sort(key=lambda checker: -checker.priority)

    def remove_source(self, source: str) -> None:
        """Remove all rules and checkers of `source`."""
        self._rules = tuple(rule for rule in self._rules if rule.source != source)
        self._checkers = [checker for checker in self._checkers if checker.source != source]

    def has_rule_for(self, tool_name: str, *, ignore_agents: bool = False) -> bool:
        """Whether a rule names exactly this tool; `ignore_agents`: other than those of agents."""
        return any(
            rule.tool_name == tool_name and not (ignore_agents and rule.source == AGENT_RULE_SOURCE)
            for rule in self._rules
        )


def first_unconditional(rules: Iterable[PolicyRule], call: PolicyCall) -> Decision | None:
    """The decision of `rules` for all arguments of a tool, if there is one.

    A rule that denies some arguments is ignored; any other rule for some arguments counts.
    """
    for rule in rules:
        if rule.args_pattern is not None and rule.decision is Decision.DENY:
            continue
        if rule_matches(rule, call, ignore_pattern=True):
            return rule.decision
    return None
