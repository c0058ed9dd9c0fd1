"""Reads folders of TOML policy files: rules, safety checkers, and the errors in the files.

A file with an error in its syntax or schema is skipped whole, as upstream does; so is a rule whose
pattern cannot be used. A rule with an empty name, which upstream loads and then refuses to start
with, is skipped too. Errors are not raised: the result has them, with file and line.

Source: core `policy/toml-loader.ts`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from services.json_values import refuse_depth
from services.node_errors import node_error_message
from services.outside_patterns import OutsidePattern
from services.policy.file_errors import FileErrors, PolicyFileError, TomlProblem, syntax_problem
from services.policy.patterns import command_prefix_patterns, compile_pattern, is_safe_pattern
from services.policy.rules import (
    MCP_PREFIX,
    CheckerRule,
    CheckerSpec,
    Decision,
    PolicyRule,
    Tier,
    mcp_full_name,
)
from services.policy.toml_schema import schema_issues
from services.policy.tool_names import tool_name_warning
from services.regular_files import MOST_TEXT, read_regular
from services.state import ApprovalMode
from services.wire import js_json

__all__ = ["LoadedPolicies", "load_policies", "mixed_array", "read_policy_files"]

_SHELL: Final = "run_shell_command"
_SHELL_KEYS: Final = "commandPrefix and commandRegex"
_KINDS: Final = {
    "str": "string",
    "int": "integer",
    "bool": "boolean",
    "dict": "inline-table",
    "list": "inline-list",
}


@dataclass(slots=True)
class LoadedPolicies:
    """The contents of some folders or files. Rules are in the order of files and of lines."""

    rules: list[PolicyRule] = field(default_factory=list)
    checkers: list[CheckerRule] = field(default_factory=list)
    errors: list[PolicyFileError] = field(default_factory=list)


def load_policies(paths: Iterable[Path], tier_of: Callable[[Path], Tier]) -> LoadedPolicies:
    """Load every policy file of `paths`: folders, or single `.toml` files.

    Args:
        paths: in the order in which equal priorities are tried; they need not exist.
        tier_of: the tier of one of them, which decides about priorities and sources.
    """
    loaded = LoadedPolicies()
    for path in paths:
        tier = tier_of(path)
        try:
            files = read_policy_files(path)
        except OSError as problem:
            details = node_error_message(problem, *_failed_call(problem, path))
            error = PolicyFileError(path, tier, "Failed to read policy path", details)
            loaded.errors.append(error)
            continue
        for file, text in files:
            _load(file, text, tier, loaded)
    return loaded


def read_policy_files(path: Path) -> list[tuple[Path, str]]:
    """The policy file `path`, or those in the folder `path`, by name; links in it are ignored.

    Raises:
        OSError: something that is there cannot be read.
    """
    try:
        if path.is_file():
            files = [path] if path.name.endswith(".toml") else []
        elif path.stat():
            with os.scandir(path) as entries:
                found = [entry for entry in entries if entry.name.endswith(".toml")]
            files = sorted(path / one.name for one in found if one.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return []
    return [(file, read_regular(file, MOST_TEXT).decode(errors="replace")) for file in files]


def _failed_call(problem: OSError, path: Path) -> tuple[str, str]:
    where = str(problem.filename or path)
    if where != str(path):
        return "open", where
    return ("scandir" if path.is_dir() else "stat"), where


def _load(file: Path, text: str, tier: Tier, loaded: LoadedPolicies) -> None:
    errors = FileErrors(file, tier, text, loaded.errors)
    try:
        document = tomllib.loads(text)
        refuse_depth(document)
    except tomllib.TOMLDecodeError as problem:
        errors.syntax(syntax_problem(str(problem), text))
        return
    except ValueError as problem:  # a number of some thousand digits is no error of TOML's
        errors.syntax(TomlProblem(str(problem), None))
        return
    except RecursionError:
        errors.syntax(TomlProblem("Values are nested too deeply", None))
        return
    mixed = mixed_array(document)
    if mixed is not None:
        errors.syntax(TomlProblem(mixed, None))
        return
    issues = schema_issues(document)
    if issues:
        errors.schema(issues)
        return
    source = f"{tier.name.capitalize()}: {file.name}"
    rules, checkers = document.get("rule", []), document.get("safety_checker", [])
    for index, raw in enumerate(rules):
        _check_shell_keys(index, raw, errors)
    for index, raw in enumerate(rules):
        _check_names(index, raw, errors, checker=False)
    for index, raw in enumerate(rules):
        loaded.rules += _rules(index, raw, tier, source, errors)
    for index, raw in enumerate(checkers):
        _check_names(index, raw, errors, checker=True)
    for index, raw in enumerate(checkers):
        loaded.checkers += _checkers(index, raw, tier, source, errors)


def mixed_array(value: Any) -> str | None:
    """The error of the first array of several types, which upstream's TOML does not allow."""
    if isinstance(value, dict):
        return next((found for found in map(mixed_array, value.values()) if found), None)
    if not isinstance(value, list):
        return None
    names = [_KINDS.get(type(item).__name__, type(item).__name__) for item in value]
    for name in names:
        if name != names[0]:
            return f"Inline lists must be a single type, not a mix of {names[0]} and {name}"
    return next((found for found in map(mixed_array, value) if found), None)


def _check_shell_keys(index: int, raw: Mapping[str, Any], errors: FileErrors) -> None:
    """Report a wrong use of `commandPrefix` and `commandRegex`; the rule is still loaded."""
    prefix, regex = "commandPrefix" in raw, "commandRegex" in raw
    if not prefix and not regex:
        return
    rule, problem = f"Rule #{index + 1}", None
    exclusive = "  These fields are mutually exclusive\n  Fix: Use either"
    if raw["toolName"] != _SHELL:
        problem = (
            f'{rule}: {_SHELL_KEYS} can only be used with toolName = "{_SHELL}"\n'
            f"  Found: toolName = {js_json(raw['toolName'])}\n"
            f'  Fix: Set toolName = "{_SHELL}" (not an array)'
        )
    elif "argsPattern" in raw:
        problem = (
            f"{rule}: cannot use both commandPrefix/commandRegex and argsPattern\n"
            f"{exclusive} commandPrefix/commandRegex OR argsPattern, not both"
        )
    elif prefix and regex:
        problem = (
            f"{rule}: cannot use both commandPrefix and commandRegex\n"
            f"{exclusive} commandPrefix OR commandRegex, not both"
        )
    if problem is not None:
        errors.rule("rule", index, "Invalid shell command syntax", problem)


def _check_names(index: int, raw: Mapping[str, Any], errors: FileErrors, *, checker: bool) -> None:
    table = "safety_checker" if checker else "rule"
    names = _names(raw)
    if "" in names:
        what, shown = ("safety checker", "Checker") if checker else ("policy", "Rule")
        errors.rule(
            table,
            index,
            f"Invalid {what} rule: toolName cannot be empty string",
            f'{shown} #{index + 1} contains an empty toolName string. Use "*" to match all tools.',
        )
        return
    if checker and raw.get("mcpName"):
        return
    for name in names:
        warning = tool_name_warning(name, index)
        if warning is not None:
            suffix = " in safety checker" if checker else ""
            errors.warning(table, index, f"Unrecognized tool name{suffix}", warning)


def _names(raw: Mapping[str, Any]) -> list[str]:
    names = raw["toolName"]
    return [names] if isinstance(names, str) else names


def _patterns(raw: Mapping[str, Any]) -> list[str | None]:
    prefix = raw.get("commandPrefix")
    if prefix is not None and prefix != "":
        return list(command_prefix_patterns(prefix))
    if raw.get("commandRegex"):
        return [f'"command":"{raw["commandRegex"]}']
    return [raw.get("argsPattern") or None]


def _compiled(
    raw: Mapping[str, Any], table: str, index: int, errors: FileErrors
) -> Iterator[tuple[str, OutsidePattern | None]]:
    """Every tool name with every usable pattern; what cannot be used is reported."""
    for pattern in _patterns(raw):
        for name in _names(raw):
            compiled = None
            if pattern is not None:
                try:
                    compiled = compile_pattern(pattern)
                except ValueError as problem:
                    errors.pattern(table, index, pattern, str(problem))
                    continue
                if not is_safe_pattern(pattern):
                    errors.pattern(table, index, pattern, None)
                    continue
            if name:
                yield name, compiled


def _rules(
    index: int, raw: Mapping[str, Any], tier: Tier, source: str, errors: FileErrors
) -> Iterator[PolicyRule]:
    for key in ("mcpName", "subagent"):
        if raw.get(key) == "":
            message = f"Invalid policy rule: {key} is required if specified (cannot be empty)"
            errors.rule("rule", index, message, f"Rule #{index + 1} has an empty {key}.")
            return
    server = raw.get("mcpName")
    for name, pattern in _compiled(raw, "rule", index, errors):
        yield PolicyRule(
            tool_name=name if server is None else mcp_full_name(server, name),
            decision=Decision(raw["decision"]),
            priority=tier.priority(raw["priority"]),
            args_pattern=pattern,
            modes=tuple(map(ApprovalMode, raw.get("modes", ()))),
            subagent=raw.get("subagent"),
            mcp_name=server,
            annotations=raw.get("toolAnnotations"),
            interactive=raw.get("interactive"),
            allow_redirection=raw.get("allowRedirection", raw.get("allow_redirection", False)),
            deny_message=raw.get("denyMessage", raw.get("deny_message")),
            source=source,
        )


def _checkers(
    index: int, raw: Mapping[str, Any], tier: Tier, source: str, errors: FileErrors
) -> Iterator[CheckerRule]:
    server, spec = raw.get("mcpName"), raw["checker"]
    if server == "":
        message = "Invalid safety checker rule: mcpName is required if specified (cannot be empty)"
        errors.rule("safety_checker", index, message, f"Checker #{index + 1} has an empty mcpName.")
        return
    context = spec.get("required_context")
    for name, pattern in _compiled(raw, "safety_checker", index, errors):
        yield CheckerRule(
            tool_name=name if server is None else f"{MCP_PREFIX}{server}_{name}",
            checker=CheckerSpec(
                name=spec["name"],
                external=spec["type"] == "external",
                required_context=None if context is None else tuple(context),
                config=spec.get("config"),
            ),
            priority=tier.priority(raw.get("priority", 0)),
            args_pattern=pattern,
            modes=tuple(map(ApprovalMode, raw.get("modes", ()))),
            mcp_name=server,
            annotations=raw.get("toolAnnotations"),
            source=source,
        )
