"""The policy engine: its rules while a session runs, and what safety checkers see and say."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.clock import VirtualClock
from services.policy.allowed_paths import AllowedPaths
from services.policy.rule_book import RuleBook
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule
from services.policy.safety import (
    ConversationContext,
    SafetyCheckers,
    SafetyRequest,
    SafetyVerdict,
)
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


class _Broken:
    """A checker that fails."""

    waits = False

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        raise RuntimeError("broken")


def _rule(name: str, priority: float, source: str | None = None) -> PolicyRule:
    return PolicyRule(tool_name=name, decision=Decision.ALLOW, priority=priority, source=source)


def _checker(name: str, priority: float, source: str | None = None) -> CheckerRule:
    spec = CheckerSpec(name="c")
    return CheckerRule(tool_name=name, checker=spec, priority=priority, source=source)


def refused(asked: dict[str, Any]) -> str | None:
    """Why an engine cannot be made of a rule."""
    mcp, source = asked.get("mcpName"), asked.get("source")
    try:
        if asked["checker"]:
            CheckerRule(
                tool_name=asked["toolName"],
                checker=CheckerSpec(name="c"),
                priority=0,
                mcp_name=mcp,
                source=source,
            )
        else:
            PolicyRule(
                tool_name=asked["toolName"],
                decision=Decision.ALLOW,
                mcp_name=mcp,
                subagent=asked.get("subagent"),
                source=source,
            )
    except ValueError as problem:
        return str(problem)
    return None


def book(asked: dict[str, Any]) -> list[Any]:
    """The rules and checkers after each change, or whether a tool has one."""
    held = RuleBook(
        [_rule(*given) for given in asked["rules"]],
        [_checker(*given) for given in asked["checkers"]],
    )
    shown: list[Any] = [_held(held)]
    for what, *given in asked["steps"]:
        if what == "has":
            name, ignore = given
            shown.append(held.has_rule_for(name, ignore_agents=ignore))
            continue
        if what == "remove":
            held.remove_source(given[0])
        elif what == "rule":
            held.add([_rule(*given)])
        else:
            held.add([], [_checker(*given)])
        shown.append(_held(held))
    return shown


def _held(held: RuleBook) -> Any:
    return [[[rule.tool_name, rule.source] for rule in of] for of in (held.rules, held.checkers)]


def context(asked: dict[str, Any]) -> Any:
    """What a checker sees of a session."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        workspace = Workspace.at(Path(folder).resolve(), Path(folder).resolve())
        seen = ConversationContext(
            workspace, history=lambda: asked["history"], question=asked.get("question")
        )
        made = dict(seen.build(asked["wanted"]))
        return json.loads(json.dumps(made).replace(str(workspace.root), "FOLDER"))


def judged(asked: list[Any]) -> list[Any]:
    """The verdicts of checkers by their names."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        workspace = Workspace.at(Path(folder).resolve(), Path(folder).resolve())
        runner = SafetyCheckers(
            context=ConversationContext(workspace),
            clock=VirtualClock(),
            in_process={"allowed-path": AllowedPaths(), "conseca": _Broken()},
        )
        return asyncio.run(_verdicts(runner, asked))


async def _verdicts(runner: SafetyCheckers, asked: list[Any]) -> list[Any]:
    found = []
    for args, spec in asked:
        wanted = spec.get("required_context")
        checker = CheckerSpec(
            name=spec["name"],
            external=spec["type"] == "external",
            required_context=None if wanted is None else tuple(wanted),
            config=spec.get("config"),
        )
        says = await runner.verdict("tool", args, checker)
        found.append([says.decision, _kind(says.reason)])
        assert await runner.run("tool", args, checker) is says.decision
    return found


def _kind(reason: str | None) -> str | None:
    """What broke is worded by the language."""
    if reason is None or not reason.startswith("Failed to run"):
        return reason
    return reason if "nknown" in reason or "broken" in reason else reason.partition(":")[0]


SUBJECTS: Final = tuple(
    Subject(f"policy_engine.{answer.__name__}", answer)
    for answer in (refused, book, context, judged)
)
