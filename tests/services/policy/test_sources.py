from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.policy.sources import (
    insecure_folder,
    load_policy_rules,
)
from services.settings import settings_from_parameters
from services.state import CoreEvent, CoreEvents, UserFeedback
from services.workspace import Workspace

RULE = '[[rule]]\ntoolName = "t"\ndecision = "{}"\npriority = {}\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("ws", "home/.gemini/policies"):
        (tmp_path / name).mkdir(parents=True)
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def loaded(
    workspace: Workspace, *, interactive: bool = True, system: Path | None = None, **more: Any
) -> list[tuple[str, str, float, str | None]]:
    settings = settings_from_parameters(more, interactive=interactive)
    found = load_policy_rules(settings, workspace=workspace, system_folder=system)
    return [
        (rule.tool_name, str(rule.decision), round(rule.priority, 3), rule.source)
        for rule in found.rules
        if not (rule.source or "").startswith("Default: ")
    ]


@pytest.mark.contract("P-144")
def test_every_folder_has_its_tier(workspace: Workspace) -> None:
    home, root = workspace.home, workspace.root
    (home / ".gemini/policies/u.toml").write_text(RULE.format("allow", 1))
    (root / "w").mkdir()
    (root / "w/w.toml").write_text(RULE.format("allow", 2))
    (root / "a.toml").write_text(RULE.format("deny", 3))

    assert loaded(workspace, workspacePoliciesDir="w", adminPolicyPaths=["a.toml"]) == [
        ("t", "deny", 5.003, "Admin: a.toml"),
        ("t", "allow", 4.001, "User: u.toml"),
        ("t", "allow", 3.002, "Workspace: w.toml"),
    ]


def test_given_paths_take_the_place_of_the_users_folder(workspace: Workspace) -> None:
    (workspace.home / ".gemini/policies/u.toml").write_text(RULE.format("allow", 1))
    (workspace.root / "p.toml").write_text(RULE.format("deny", 2))

    assert loaded(workspace, policyPaths=["p.toml"]) == [("t", "deny", 4.002, "User: p.toml")]


def test_lists_in_the_settings_become_rules(workspace: Workspace) -> None:
    policy = {
        "tools": {
            "allowed": ["ShellTool(git)", "read_file(x)"],
            "exclude": ["glob"],
            "confirmationRequired": ["web_fetch"],
            "core": ["glob"],
        },
        "mcp": {"allowed": ["a"], "excluded": ["*"], "autoAllowInHeadless": True},
    }
    servers = {"a": {}, "b": {"trust": True}, "c": {}}

    found = loaded(workspace, interactive=False, policySettings=policy, mcpServers=servers)

    assert found == [
        ("mcp_*", "deny", 4.9, "Settings (MCP Excluded)"),
        ("glob", "deny", 4.4, "Settings (Tools Excluded)"),
        ("run_shell_command", "allow", 4.3, "Settings (Tools Allowed)"),
        ("read_file", "allow", 4.3, "Settings (Tools Allowed)"),
        ("run_shell_command", "deny", 4.29, "Settings (Tools Allowed) (Narrowing Enforcement)"),
        ("web_fetch", "ask_user", 4.35, "Settings (Confirmation Required)"),
        ("glob", "allow", 4.25, "Settings (Core Tools)"),
        ("*", "deny", 4.24, "Settings (Core Tools Allowlist Enforcement)"),
        ("mcp_b_*", "allow", 4.2, "Settings (MCP Trusted)"),
        ("mcp_a_*", "allow", 4.1, "Settings (MCP Allowed)"),
        ("mcp_c_*", "allow", 4.1, "Settings (Headless MCP Auto-Allow)"),
    ]


def test_an_empty_prefix_allows_nothing_and_refuses_the_rest(workspace: Workspace) -> None:
    policy = {"tools": {"allowed": ["run_shell_command()"]}}

    assert loaded(workspace, policySettings=policy) == [
        ("run_shell_command", "deny", 4.29, "Settings (Tools Allowed) (Narrowing Enforcement)")
    ]


def test_servers_are_not_allowed_unasked_in_an_interactive_run(workspace: Workspace) -> None:
    policy = {"mcp": {"autoAllowInHeadless": True}}

    assert loaded(workspace, policySettings=policy, mcpServers={"c": {}}) == []


def test_errors_in_files_are_emitted(workspace: Workspace) -> None:
    (workspace.home / ".gemini/policies/u.toml").write_text("x = \n")
    emitted: list[CoreEvent] = []
    events = CoreEvents()
    events.subscribe(emitted.append)

    load_policy_rules(settings_from_parameters({}), workspace=workspace, events=events)

    (feedback,) = emitted
    assert isinstance(feedback, UserFeedback)
    assert feedback.severity == "error"
    assert feedback.message.startswith("[USER] Policy file error in u.toml:\n")
    assert feedback.message.endswith("\n  Line: 1")


def test_admin_paths_do_not_count_beside_a_system_folder(
    workspace: Workspace, tmp_path: Path
) -> None:
    system = tmp_path / "system"
    system.mkdir(mode=0o777)
    system.chmod(0o777)
    (system / "s.toml").write_text(RULE.format("deny", 1))
    (workspace.root / "a.toml").write_text(RULE.format("deny", 3))
    emitted: list[CoreEvent] = []
    events = CoreEvents()
    events.subscribe(emitted.append)
    settings = settings_from_parameters({"adminPolicyPaths": ["a.toml"]})

    found = load_policy_rules(settings, workspace=workspace, events=events, system_folder=system)

    assert all(rule.priority < 2 for rule in found.rules)
    texts = [event.message for event in emitted if isinstance(event, UserFeedback)]
    assert texts[0] == (
        "Security Warning: Ignoring --admin-policy because system policies are already defined "
        f"in {system}"
    )
    assert texts[1].startswith(f"Security Warning: Skipping system policies from {system}: ")


def test_a_folder_that_is_not_there_is_secure_and_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert insecure_folder(tmp_path / "none") is None
    assert insecure_folder(tmp_path / "file") == "Not a directory"
