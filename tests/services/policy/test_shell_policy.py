from __future__ import annotations

from collections.abc import Callable

import pytest

from services.policy.patterns import compile_pattern
from services.policy.rules import Decision, PolicyRule
from tests.services.policy.instant import InstantEngine

MakeEngine = Callable[..., InstantEngine]
SHELL = "run_shell_command"


SAFE = [
    "ls -la", "cat a.txt", "head -n 3 a.txt", "grep x a.txt", "grep -f p a.txt", "cd sub", "pwd",
    "git status", "git -C sub log", "git branch -a", "sed -n 1,5p a.txt", "find . -name x",
    "base64 a.txt", "cat -- -x", "/usr/bin/rg x",
]  # fmt: skip
NOT_SAFE = [
    "make", "ls && pwd", "cat /etc/passwd", "cat ~/x", "cat ~root/x", "cat ../x", "cat out/passwd",
    "cat --x=/etc/passwd", "cd", "cd ..", "grep -f /etc/x y", "grep --file=/etc/x y", "git push",
    "git branch new", "sed -i s/a/b/ a.txt", "sed -n 1p /etc/x", "find / -name x", "rg x",
    "bash -c 'ls > f'", "bash -c 'make'", "bash -c 'ls -la'", "echo hi > f", "rm a",
    "unknown", "cat '$HOME'",
]  # fmt: skip
DANGEROUS = [
    "rm -rf x", "rm -f x", "sudo rm -fr x", "find . -delete", "find . -exec a {} ;", "rg --pre x y",
    "rg -z x", "git -c a=b status", "git log --output=x", "git branch new", "base64 -o x a",
    "ln -s a b", "ln --symbolic a b",
]  # fmt: skip


@pytest.fixture
def workspace(make_engine: MakeEngine) -> InstantEngine:
    engine = make_engine()
    (engine.workspace_root / "sub").mkdir()
    (engine.workspace_root / "a.txt").write_text("x")
    (engine.workspace_root / "out").symlink_to("/etc")
    return engine


@pytest.mark.parametrize("command", SAFE)
def test_reading_inside_the_workspace_needs_no_question(
    workspace: InstantEngine, command: str
) -> None:
    assert workspace.check(SHELL, {"command": command}).decision is Decision.ALLOW


@pytest.mark.parametrize("command", NOT_SAFE)
def test_anything_else_is_asked_about(workspace: InstantEngine, command: str) -> None:
    assert workspace.check(SHELL, {"command": command}).decision is Decision.ASK_USER


@pytest.mark.parametrize("command", DANGEROUS)
def test_dangerous_commands_are_asked_about_even_where_the_tool_is_allowed(
    make_engine: MakeEngine, command: str
) -> None:
    allowed = [PolicyRule(tool_name=SHELL, decision=Decision.ALLOW, priority=1)]

    assert make_engine(allowed).check(SHELL, {"command": command}).decision is Decision.ASK_USER
    yolo = make_engine(allowed, mode="yolo")
    assert yolo.check(SHELL, {"command": command}).decision is Decision.ALLOW


def test_a_folder_outside_the_workspace_is_asked_about(make_engine: MakeEngine) -> None:
    engine = make_engine()

    def ask(folder: str) -> Decision:
        return engine.check(SHELL, {"command": "ls", "dir_path": folder}).decision

    assert ask("sub") is Decision.ALLOW
    assert ask(str(engine.workspace_root)) is Decision.ALLOW
    assert ask("..") is Decision.ASK_USER
    assert ask("/etc") is Decision.ASK_USER


def test_git_in_an_untrusted_folder_is_asked_about(make_engine: MakeEngine) -> None:
    engine = make_engine(folder_trusted=False)

    def ask(command: str) -> Decision:
        return engine.check(SHELL, {"command": command}).decision

    assert ask("git status") is Decision.ASK_USER
    assert ask("echo git") is Decision.ALLOW
    assert ask("echo git; git") is Decision.ASK_USER


def shell_rule(decision: Decision, priority: float, pattern: str | None = None) -> PolicyRule:
    return PolicyRule(
        tool_name=SHELL,
        decision=decision,
        priority=priority,
        args_pattern=None if pattern is None else compile_pattern(pattern),
    )


def test_one_denied_part_denies_the_whole(make_engine: MakeEngine) -> None:
    evil = shell_rule(Decision.DENY, 2, r'"command":"evil')
    engine = make_engine([shell_rule(Decision.ALLOW, 1), evil])

    for command in ("make; evil x", "echo $(evil)", "bash -c 'make; evil'", "a | evil"):
        found = engine.check(SHELL, {"command": command})
        assert (found.decision, found.rule) == (Decision.DENY, evil)
    assert engine.check(SHELL, {"command": "make; good"}).decision is Decision.ALLOW


@pytest.mark.contract("P-145")
def test_a_part_that_must_be_asked_about_makes_the_whole_a_question(
    make_engine: MakeEngine,
) -> None:
    asked = shell_rule(Decision.ASK_USER, 2, r'"command":"deploy')
    engine = make_engine([shell_rule(Decision.ALLOW, 1), asked])

    found = engine.check(SHELL, {"command": "make && deploy"})

    assert (found.decision, found.rule) == (Decision.ASK_USER, asked)


@pytest.mark.parametrize(
    ("mode", "decision"), [("default", "ask_user"), ("autoEdit", "allow"), ("yolo", "allow")]
)
def test_a_redirection_is_a_question_outside_the_editing_modes(
    make_engine: MakeEngine, mode: str, decision: str
) -> None:
    engine = make_engine([shell_rule(Decision.ALLOW, 1)], mode=mode)

    found = engine.check(SHELL, {"command": "make > log"})

    assert found.decision == decision
    assert (found.rule is None) == (decision == "ask_user")


@pytest.mark.parametrize(
    ("mode", "interactive", "pattern", "decision"),
    [
        ("default", True, None, "ask_user"),
        ("default", False, None, "deny"),
        ("yolo", True, None, "allow"),
        ("yolo", True, "command", "deny"),
    ],
)
def test_a_command_that_cannot_be_read_falls_back(
    make_engine: MakeEngine, mode: str, interactive: bool, pattern: str | None, decision: str
) -> None:
    rules = [shell_rule(Decision.ALLOW, 1, pattern)]
    engine = make_engine(rules, mode=mode, interactive=interactive)

    assert engine.check(SHELL, {"command": "make 'open"}).decision == decision


def test_a_denial_stands_whatever_the_command(make_engine: MakeEngine) -> None:
    engine = make_engine([shell_rule(Decision.DENY, 1)], mode="yolo")

    for command in ("ls", "make 'open", ""):
        assert engine.check(SHELL, {"command": command}).decision is Decision.DENY
