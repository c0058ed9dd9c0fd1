"""Policy files: what is read of them, the rules of settings, and what is saved."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.outside_patterns import OutsidePattern
from services.policy.file_errors import PolicyFileError
from services.policy.rule_book import RuleBook
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule, Tier
from services.policy.saved import SavedAnswers
from services.policy.sources import load_policy_rules
from services.policy.toml_files import load_policies, mixed_array
from services.policy.toml_text import toml_text
from services.policy.tool_names import mcp_tool_warnings
from services.policy.updates import UnsafePattern, UpdatePolicy, rules_of_update
from services.settings import settings_from_parameters
from services.state import ApprovalMode, CoreEvents, UserFeedback
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_MIXED: Final = "Inline lists must"


def _put(folder: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.mkdir()
        elif text.startswith("->"):
            file.symlink_to(text[2:])
        else:
            file.write_text(text)


def _searched(pattern: OutsidePattern | None, probes: Sequence[str]) -> str | None:
    if pattern is None:
        return None
    return "".join("0" if pattern.search(probe) is None else "1" for probe in probes)


def _row(rule: PolicyRule, probes: Sequence[str]) -> list[Any]:
    return [
        rule.tool_name,
        rule.decision,
        rule.priority,
        _searched(rule.args_pattern, probes),
        rule.modes,
        rule.subagent,
        rule.mcp_name,
        rule.annotations,
        rule.interactive,
        rule.allow_redirection,
        rule.deny_message,
        rule.source,
    ]


def _checker_row(rule: CheckerRule, probes: Sequence[str]) -> list[Any]:
    return [
        rule.tool_name,
        rule.checker.name,
        rule.checker.external,
        rule.checker.required_context,
        rule.checker.config,
        rule.priority,
        _searched(rule.args_pattern, probes),
        rule.modes,
        rule.mcp_name,
        rule.annotations,
        rule.source,
    ]


def _shown(error: PolicyFileError) -> str:
    """The text without the line, which the core does not give, and without the parser's words."""
    details = error.details or ""
    text = str(error).removesuffix(f"\n  Line: {error.line}")
    syntax = error.message == "TOML parsing failed" and not details.startswith(_MIXED)
    return text.replace(f"\n{details}", "", 1) if syntax else text


def loaded(asked: dict[str, Any]) -> list[Any]:
    """The rules, checkers and errors of policy files."""
    with tempfile.TemporaryDirectory(prefix="answers-") as name:
        folder = Path(name).resolve()
        _put(folder, asked["files"])
        tiers = {folder / path: Tier(tier) for path, tier in asked["paths"]}
        found = load_policies(tiers, tiers.__getitem__)
        return [
            [_row(rule, asked["probes"]) for rule in found.rules],
            [_checker_row(rule, asked["probes"]) for rule in found.checkers],
            [[one.severity, _shown(one).replace(str(folder), "")] for one in found.errors],
        ]


def rules(asked: dict[str, Any]) -> list[Any]:
    """The rules and checkers of settings, and the built-in ones, in the engine's order."""
    with tempfile.TemporaryDirectory(prefix="answers-") as name:
        folder = Path(name).resolve()
        settings = settings_from_parameters(asked["settings"], interactive=asked["interactive"])
        made = load_policy_rules(settings, workspace=Workspace.at(folder, folder))
        book = RuleBook(made.rules, made.checkers)
        probes, begin = asked["probes"], asked["from"]
        return [
            [_row(one, probes) for one in book.rules if (one.source or "").startswith(begin)],
            [
                _checker_row(one, probes)
                for one in book.checkers
                if (one.source or "").startswith(begin)
            ],
        ]


def updated(asked: dict[str, Any]) -> list[Any]:
    """The rules that "always allow" answers add, and the files after each of them."""
    with tempfile.TemporaryDirectory(prefix="answers-") as name:
        folder = Path(name).resolve()
        _put(folder, asked["files"])
        said: list[list[str]] = []
        events = CoreEvents()
        events.subscribe(
            lambda event: (
                said.append([event.severity, event.message.replace(str(folder), "")])
                if isinstance(event, UserFeedback)
                else None
            )
        )
        saved = SavedAnswers(workspace=Workspace.at(folder / "ws", folder / "home"), events=events)
        added: list[list[Any]] = []
        texts = []
        for message in asked["updates"]:
            update = _update(message)
            try:
                made = rules_of_update(update)
            except UnsafePattern as problem:
                made = None
                said.append(["error", str(problem)])
            if made is not None:
                added += [_row(rule, asked["probes"]) for rule in made]
                if update.persist_scope is not None:
                    saved.save(update)
            texts.append([_saved_texts(folder / where) for where in ("ws", "home")])
        return [added, texts, said]


def _update(message: dict[str, Any]) -> UpdatePolicy:
    return UpdatePolicy(
        tool_name=message["toolName"],
        mcp_name=message.get("mcpName"),
        args_pattern=message.get("argsPattern"),
        command_prefix=message.get("commandPrefix"),
        allow_redirection=message.get("allowRedirection", False),
        modes=tuple(map(ApprovalMode, message.get("modes", ()))),
        persist_scope=message.get("persistScope"),
    )


def _saved_texts(place: Path) -> list[str | None]:
    file = place / ".gemini/policies/auto-saved.toml"
    found = (file, Path(f"{file}.bak"))
    return [one.read_text() if one.is_file() else None for one in found]


def written(asked: str) -> list[str | None]:
    """A document of TOML as it is written again, or what is wrong with it."""
    try:
        document = tomllib.loads(asked)
    except tomllib.TOMLDecodeError:
        return ["syntax", None]
    mixed = mixed_array(document)
    return [mixed, None] if mixed is not None else [None, toml_text(document)]


def server_warnings(asked: dict[str, Any]) -> list[str]:
    """The warnings about rules for the tools of a server."""
    made = [
        PolicyRule(tool_name=tool, decision=Decision.ALLOW, source=source)
        for tool, source in asked["rules"]
    ]
    return mcp_tool_warnings(asked["server"], asked["discovered"], made)


def book(asked: dict[str, Any]) -> Any:
    """What a rule book holds after each step, or why a rule is refused."""
    try:
        held = RuleBook(*_made(asked))
    except ValueError as problem:
        return str(problem)
    states = []
    for step in ({"rules": [], "checkers": []}, *asked["steps"]):
        if "without" in step:
            held.remove_source(step["without"])
        else:
            held.add(*_made(step))
        known = [
            [held.has_rule_for(name), held.has_rule_for(name, ignore_agents=True)]
            for name in asked["names"]
        ]
        rows = [
            [[one.tool_name, one.priority, one.source] for one in each]
            for each in (held.rules, held.checkers)
        ]
        states.append([*rows, known])
    return states


_FIELDS: Final = {"toolName": "tool_name", "mcpName": "mcp_name"}


def _made(asked: dict[str, Any]) -> tuple[list[PolicyRule], list[CheckerRule]]:
    rules, checkers = (
        [{_FIELDS.get(key, key): value for key, value in one.items()} for one in asked[table]]
        for table in ("rules", "checkers")
    )
    spec = CheckerSpec(name="c", external=True)
    return (
        [PolicyRule(decision=Decision.ALLOW, **one) for one in rules],
        [CheckerRule(checker=spec, **one) for one in checkers],
    )


SUBJECTS: Final = (
    Subject("policy_files.book", book),
    Subject("policy_files.loaded", loaded),
    Subject("policy_files.rules", rules),
    Subject("policy_files.updated", updated),
    Subject("policy_files.written", written),
    Subject("policy_files.server_warnings", server_warnings),
)
