"""The built-in rules, tier 1.

Listed file by file in the order in which upstream loads them, because equal priorities keep their
order. Its rules for `discovered_tool_*` never match a tool, since such a pattern is compared
literally; they exist because rules can be listed. Source: core `policy/policies/*.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from services.policy.patterns import compile_pattern
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule, Tier
from services.state import ApprovalMode

__all__ = ["default_checkers", "default_rules"]

_ALLOW, _ASK, _DENY = Decision.ALLOW, Decision.ASK_USER, Decision.DENY
_AUTO_EDIT, _YOLO, _PLAN = ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO, ApprovalMode.PLAN

_READ_ONLY: Final = (
    "glob",
    "grep_search",
    "list_directory",
    "read_file",
    "google_web_search",
    "codebase_investigator",
    "cli_help",
    "get_internal_docs",
    "tracker_create_task",
    "tracker_update_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_add_dependency",
    "tracker_visualize",
    "update_topic",
    "complete_task",
    "read_mcp_resource",
    "list_mcp_resources",
)
_ASKED: Final = ("replace", "run_shell_command", "write_file", "activate_skill", "web_fetch")
_EDITORS: Final = ("write_file", "replace")

_NOT_PLANNING = "You are not currently in Plan Mode. Use enter_plan_mode first to design a plan."
_PLANNING = "You are already in Plan Mode."
_PLAN_READ_ONLY = (
    "You are in Plan Mode with access to read-only tools. "
    "Execution of scripts (including those from skills) is blocked."
)
_PLAN_WRITES = (
    "You are in Plan Mode and cannot modify source code. You may ONLY use write_file or replace "
    "to save plans to the designated plans directory as .md files."
)

_SEPARATOR = r"[\\/]+"
_NAME = r"[\w-]+"


def default_rules() -> list[PolicyRule]:
    """Every built-in rule, with priorities in tier 1."""
    return [
        *_from("agents.toml", _agents()),
        *_from("discovered.toml", _discovered()),
        *_from("non-interactive.toml", _non_interactive()),
        *_from("plan.toml", _plan()),
        *_from("read-only.toml", _rules(_READ_ONLY, _ALLOW, 50)),
        *_from("write.toml", _write()),
        *_from("yolo.toml", _yolo()),
    ]


def default_checkers() -> list[CheckerRule]:
    """Every built-in safety checker: `conseca`, where it is enabled, and allowed paths."""
    paths = CheckerSpec(name="allowed-path", required_context=("environment",))
    return [
        CheckerRule(
            tool_name="*",
            checker=CheckerSpec(name="conseca"),
            priority=Tier.DEFAULT.priority(100),
            source="Default: conseca.toml",
        ),
        *(
            CheckerRule(
                tool_name=name,
                checker=paths,
                priority=Tier.DEFAULT.priority(15),
                modes=(_AUTO_EDIT,),
                source="Default: write.toml",
            )
            for name in ("replace", "write_file")
        ),
    ]


def _rules(
    names: Iterable[str],
    decision: Decision,
    priority: int,
    *modes: ApprovalMode,
    interactive: bool | None = None,
    pattern: str | None = None,
    deny_message: str | None = None,
) -> Iterator[PolicyRule]:
    for name in names:
        yield PolicyRule(
            tool_name=name,
            decision=decision,
            priority=Tier.DEFAULT.priority(priority),
            modes=modes,
            interactive=interactive,
            args_pattern=None if pattern is None else compile_pattern(pattern),
            deny_message=deny_message,
        )


def _from(file: str, rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    return [replace(rule, source=f"Default: {file}") for rule in rules]


def _agents() -> Iterator[PolicyRule]:
    yield from _rules(["invoke_agent"], _ALLOW, 50, ApprovalMode.DEFAULT, _AUTO_EDIT, _YOLO)


def _discovered() -> Iterator[PolicyRule]:
    yield from _rules(["discovered_tool_*"], _ASK, 10, interactive=True)
    yield from _rules(["discovered_tool_*"], _DENY, 10, interactive=False)


def _non_interactive() -> Iterator[PolicyRule]:
    yield from _rules(["ask_user"], _DENY, 999, interactive=False)


def _plan() -> Iterator[PolicyRule]:
    enter, leave = ["enter_plan_mode"], ["exit_plan_mode"]
    yield from _rules(enter, _ASK, 50, interactive=True)
    yield from _rules(enter, _ALLOW, 50, interactive=False)
    yield from _rules(enter, _DENY, 70, _PLAN, deny_message=_PLANNING)
    yield from _rules(leave, _ASK, 70, _PLAN, interactive=True)
    yield from _rules(leave, _ALLOW, 70, _PLAN, interactive=False)
    yield from _rules(leave, _DENY, 50, deny_message=_NOT_PLANNING)
    yield from _rules(["*"], _DENY, 40, _PLAN, deny_message=_PLAN_READ_ONLY)
    for rule in _rules(["mcp_*"], _ASK, 50, _PLAN, interactive=True):
        yield replace(rule, mcp_name="*", annotations={"readOnlyHint": True})
    yield from _rules(
        ["invoke_agent"],
        _ALLOW,
        50,
        _PLAN,
        pattern=r'"agent_name":\s*"(codebase_investigator|cli_help)"',
    )
    yield from _rules(
        ["ask_user", "web_fetch", "activate_skill"], _ASK, 50, _PLAN, interactive=True
    )
    for path in _plan_paths():
        pattern = rf'\x00"file_path":"{path}\.md"\x00'
        yield from _rules(_EDITORS, _ALLOW, 70, _PLAN, pattern=pattern)
    yield from _rules(_EDITORS, _DENY, 65, _PLAN, deny_message=_PLAN_WRITES)


def _plan_paths() -> Iterator[str]:
    """Patterns of the paths of plans, without the `.md` and without `..`."""
    deep = rf"\.gemini{_SEPARATOR}tmp{_SEPARATOR}{_NAME}{_SEPARATOR}"
    for start in (rf"[^\"]+{_SEPARATOR}", "", rf"\.{_SEPARATOR}"):
        for session in (rf"{_NAME}{_SEPARATOR}", ""):
            yield rf"{start}{deep}{session}plans{_SEPARATOR}{_NAME}"
    for start in (
        "",
        rf"\.{_SEPARATOR}",
        rf"plans{_SEPARATOR}",
        rf"\.{_SEPARATOR}plans{_SEPARATOR}",
    ):
        yield rf"{start}{_NAME}"


def _write() -> Iterator[PolicyRule]:
    for name in ("replace", "run_shell_command", "write_file", "activate_skill"):
        yield from _rules([name], _ASK, 10, interactive=True)
        if name in _EDITORS:
            yield from _rules([name], _ALLOW, 15, _AUTO_EDIT)
    yield from _rules(["web_fetch"], _ALLOW, 15, _AUTO_EDIT)
    yield from _rules(["web_fetch"], _ASK, 10, interactive=True)
    yield from _rules(_ASKED, _DENY, 10, interactive=False)


def _yolo() -> Iterator[PolicyRule]:
    yield from _rules(["ask_user"], _ASK, 999, _YOLO, interactive=True)
    yield from _rules(["enter_plan_mode", "exit_plan_mode"], _DENY, 999, _YOLO, interactive=True)
    # Upstream's rule allows redirections as well; in this mode the shell policy trusts them anyway.
    yield from _rules(["*"], _ALLOW, 998, _YOLO)
