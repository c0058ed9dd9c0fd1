from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.policy.patterns import compile_pattern
from services.policy.rules import Decision, PolicyRule
from services.policy.updates import UpdatePolicy
from services.state import CoreEvents, UserFeedback
from tests.services.policy.instant import InstantEngine

MakeEngine = Callable[..., InstantEngine]

MODES = ("default", "autoEdit", "yolo", "plan")
COLUMNS = [(mode, interactive) for interactive in (True, False) for mode in MODES]
DECISIONS = {"A": Decision.ALLOW, "D": Decision.DENY, "?": Decision.ASK_USER}
TABLE: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"file_path": "a"}, "AAAA AAAA"),
    ("search_file_content", {"pattern": "a"}, "AAAA AAAA"),
    ("write_file", {"file_path": "a.py"}, "?AAD DAAD"),
    ("write_file", {"file_path": "plans/p.md"}, "?AAA DAAA"),
    ("replace", {"file_path": "/h/.gemini/tmp/ws/s-1/plans/p.md"}, "?AAA DAAA"),
    ("write_file", {"file_path": "../p.md"}, "?AAD DAAD"),
    ("write_file", {"file_path": "package.json"}, "???D DDDD"),
    ("run_shell_command", {"command": "make"}, "??AD DDAD"),
    ("web_fetch", {"prompt": "x"}, "?AA? DAAD"),
    ("activate_skill", {"name": "x"}, "??A? DDAD"),
    ("invoke_agent", {"agent_name": "x"}, "AAAD AAAD"),
    ("invoke_agent", {"agent_name": "cli_help"}, "AAAA AAAA"),
    ("ask_user", {}, "???? DDDD"),
    ("enter_plan_mode", {}, "??DD AAAD"),
    ("exit_plan_mode", {}, "DDD? DDAA"),
    ("write_todos", {}, "??AD DDAD"),
    ("mcp_srv_tool", {}, "??AD DDAD"),
]


@pytest.mark.parametrize(("tool", "args", "row"), TABLE)
def test_built_in_decisions(
    make_engine: MakeEngine, tool: str, args: dict[str, Any], row: str
) -> None:
    wanted = [DECISIONS[letter] for letter in row.replace(" ", "")]

    found = [
        make_engine(mode=mode, interactive=interactive).check(tool, args).decision
        for mode, interactive in COLUMNS
    ]

    assert found == wanted


def test_plan_mode_says_why(make_engine: MakeEngine) -> None:
    engine = make_engine(mode="plan")

    assert engine.check("write_todos", {}).deny_message == (
        "You are in Plan Mode with access to read-only tools. "
        "Execution of scripts (including those from skills) is blocked."
    )
    written = engine.check("write_file", {"file_path": "a.py"}).deny_message
    assert written is not None
    assert written.startswith("You are in Plan Mode and cannot modify source code.")
    assert engine.check("enter_plan_mode", {}).deny_message == "You are already in Plan Mode."


def test_reading_mcp_tools_may_be_asked_for_in_plan_mode(make_engine: MakeEngine) -> None:
    engine = make_engine(mode="plan")
    reads = {"readOnlyHint": True, "_serverName": "srv"}

    assert engine.check("mcp_srv_t", {}, annotations=reads).decision is Decision.ASK_USER
    assert engine.check("mcp_srv_t", {}).decision is Decision.DENY


def rule(name: str, decision: Decision, priority: float, **more: Any) -> PolicyRule:
    return PolicyRule(tool_name=name, decision=decision, priority=priority, **more)


def test_the_highest_priority_decides_and_ties_keep_their_order(make_engine: MakeEngine) -> None:
    engine = make_engine([rule("t", Decision.DENY, 1), rule("t", Decision.ALLOW, 1)])

    assert engine.check("t", {}).decision is Decision.DENY
    engine.add_rule(rule("t", Decision.ASK_USER, 1))
    assert engine.check("t", {}).decision is Decision.DENY
    engine.add_rule(rule("t", Decision.ASK_USER, 1.5))
    assert engine.check("t", {}).decision is Decision.ASK_USER


def test_always_allow_rules_can_be_switched_off(make_engine: MakeEngine) -> None:
    always = rule("t", Decision.ALLOW, 4.95)

    assert make_engine([always]).check("t", {}).decision is Decision.ALLOW
    off = make_engine([always], disable_always_allow=True)
    assert off.check("t", {}).decision is Decision.ASK_USER


def test_a_rule_about_arguments_decides_only_about_those(make_engine: MakeEngine) -> None:
    private = rule(
        "read_file",
        Decision.DENY,
        4.9,
        args_pattern=compile_pattern(r"b\.txt"),
        deny_message="b.txt is private.",
    )
    engine = make_engine()
    engine.add_rule(private)

    refused = engine.check("read_file", {"file_path": "b.txt"})
    assert (refused.decision, refused.deny_message) == (Decision.DENY, "b.txt is private.")
    assert engine.check("read_file", {"file_path": "a.txt"}).decision is Decision.ALLOW
    assert engine.check("read_file", None).decision is Decision.ALLOW


def test_more_folders_than_the_workspace_are_asked_about(make_engine: MakeEngine) -> None:
    engine = make_engine()

    def ask(**files: Any) -> Decision:
        return engine.check("glob", {"additional_permissions": {"fileSystem": files}}).decision

    assert ask(read=["/etc"]) is Decision.ASK_USER
    assert ask(read=["sub"], write=["../x"]) is Decision.ASK_USER
    assert ask(read=["sub", str(engine.workspace_root)]) is Decision.ALLOW
    assert ask(read="/etc") is Decision.ALLOW


EXCLUDED = [
    ("default", True, {"exit_plan_mode"}),
    ("default", False, {"ask_user", "exit_plan_mode", "run_shell_command", "write_file", "x"}),
    ("autoEdit", False, {"ask_user", "exit_plan_mode", "run_shell_command", "x"}),
    ("yolo", False, {"ask_user"}),
    ("yolo", True, {"enter_plan_mode", "exit_plan_mode"}),
    ("plan", True, {"enter_plan_mode", "run_shell_command", "x"}),
    ("plan", False, {"ask_user", "enter_plan_mode", "run_shell_command", "x"}),
]


@pytest.mark.parametrize(("mode", "interactive", "excluded"), EXCLUDED)
def test_tools_refused_whatever_the_arguments_are_excluded(
    make_engine: MakeEngine, mode: str, interactive: bool, excluded: set[str]
) -> None:
    names = [
        "read_file", "write_file", "run_shell_command", "ask_user", "enter_plan_mode",
        "exit_plan_mode", "invoke_agent", "x",
    ]  # fmt: skip

    engine = make_engine(mode=mode, interactive=interactive)

    assert {name for name in names if engine.statically_excluded(name)} == excluded


def test_a_denial_for_some_arguments_excludes_nothing(make_engine: MakeEngine) -> None:
    some = compile_pattern("a")
    denied = make_engine([rule("t", Decision.DENY, 2, args_pattern=some)])
    asked = make_engine(
        [rule("t", Decision.ASK_USER, 2, args_pattern=some), rule("t", Decision.DENY, 1)]
    )

    assert not denied.statically_excluded("t")
    assert not asked.statically_excluded("t")


def test_annotations_count_for_exclusion(make_engine: MakeEngine) -> None:
    engine = make_engine(mode="plan")
    known = {"readOnlyHint": True, "_serverName": "s"}

    assert not engine.statically_excluded("mcp_s_t", annotations=known)
    assert engine.statically_excluded("mcp_s_u")


@pytest.mark.parametrize(
    ("update", "args", "decision"),
    [
        (UpdatePolicy(tool_name="web_fetch"), {"prompt": "x"}, Decision.ALLOW),
        (UpdatePolicy(tool_name="run_shell_command"), {"command": "make"}, Decision.ASK_USER),
        (
            UpdatePolicy(tool_name="run_shell_command", command_prefix=["make", "npm"]),
            {"command": "npm test"},
            Decision.ALLOW,
        ),
        (
            UpdatePolicy(tool_name="run_shell_command", command_prefix="make"),
            {"command": "make > log"},
            Decision.ASK_USER,
        ),
        (
            UpdatePolicy(
                tool_name="run_shell_command", command_prefix="make", allow_redirection=True
            ),
            {"command": "make > log"},
            Decision.ALLOW,
        ),
        (UpdatePolicy(tool_name="web_fetch", args_pattern="y"), {"prompt": "x"}, Decision.ASK_USER),
    ],
)
def test_an_update_allows_what_it_is_narrowed_to(
    make_engine: MakeEngine, update: UpdatePolicy, args: dict[str, Any], decision: Decision
) -> None:
    engine = make_engine()

    engine.apply_update(update)

    assert engine.check(update.tool_name, args).decision is decision


def test_an_update_has_the_priority_of_its_scope(make_engine: MakeEngine) -> None:
    engine = make_engine([])
    engine.apply_update(UpdatePolicy(tool_name="t"))
    engine.apply_update(UpdatePolicy(tool_name="t", persist_scope="user"))

    assert [found.priority for found in engine.rules] == [4.95, 3.95]
    assert {found.source for found in engine.rules} == {"Dynamic (Confirmed)"}


def test_an_unsafe_pattern_becomes_a_notice_and_no_rule(make_engine: MakeEngine) -> None:
    events = CoreEvents()
    notices: list[Any] = []
    events.subscribe(notices.append)
    engine = make_engine([], events=events)

    engine.apply_update(UpdatePolicy(tool_name="t", args_pattern="(a+)+"))

    assert engine.rules == ()
    assert notices == [
        UserFeedback(
            severity="error",
            message="Invalid or unsafe regular expression for tool t: (a+)+",
        )
    ]
