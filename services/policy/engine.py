"""The policy engine: may this call run, must somebody be asked, or is it refused?

Source: core `policy/policy-engine.ts`. Safety checkers are not part of it yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services import build_files
from services.policy.canonical import canonical_arguments
from services.policy.command_safety import Place
from services.policy.rules import (
    Decision,
    PolicyCall,
    PolicyRule,
    mcp_server_of,
    rule_matches,
    tool_aliases,
)
from services.policy.shell_policy import ShellPolicy, ShellRequest
from services.policy.updates import UnsafePattern, UpdatePolicy, rules_of_update
from services.state import CoreEvents, SessionState, UserFeedback
from services.wire import JsonObject

__all__ = ["PolicyCheck", "PolicyEngine"]

_SHELL_TOOLS: Final = frozenset({"run_shell_command", "ShellTool"})
_MAX_SAFE_INTEGER: Final = 2**53 - 1


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """A decision, and the rule that is responsible for it, if one is."""

    decision: Decision
    rule: PolicyRule | None = None

    @property
    def deny_message(self) -> str | None:
        """What the responsible rule says about a refusal."""
        return self.rule.deny_message if self.rule is not None else None


class PolicyEngine:
    """Rules by priority, highest first; equal priorities keep their order; the first match decides.

    The approval mode is read from `state` at every check. Without a matching rule a call is asked
    about in an interactive run, refused in any other.
    """

    def __init__(
        self,
        rules: Iterable[PolicyRule],
        *,
        state: SessionState,
        interactive: bool,
        workspace_root: Path,
        home: Path | None = None,
        folder_trusted: bool = True,
        disable_always_allow: bool = False,
        events: CoreEvents | None = None,
    ) -> None:
        self._rules: list[PolicyRule] = []
        self._state = state
        self._interactive = interactive
        self.workspace_root = workspace_root
        self._disable_always_allow = disable_always_allow
        self._events = events
        self._default = Decision.ASK_USER if interactive else Decision.DENY
        self._shell = ShellPolicy(
            state=state,
            default=self._default,
            place=Place(workspace=workspace_root, cwd=workspace_root, home=home or workspace_root),
            folder_trusted=folder_trusted,
        )
        self._sort_in(rules)

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in the order in which they are tried."""
        return tuple(self._rules)

    def add_rule(self, rule: PolicyRule) -> None:
        """Add a rule; it comes after the ones with the same priority."""
        self._sort_in([rule])

    def _sort_in(self, rules: Iterable[PolicyRule]) -> None:
        self._rules += rules
        self._rules.sort(key=lambda rule: -rule.priority)

    def apply_update(self, update: UpdatePolicy) -> None:
        """Add the rules of an "always allow" answer; an unsafe pattern becomes a notice."""
        try:
            for rule in rules_of_update(update):
                self.add_rule(rule)
        except UnsafePattern as problem:
            if self._events is not None:
                self._events.emit(UserFeedback(severity="error", message=str(problem)))

    def check(
        self,
        name: str,
        args: JsonObject | None,
        *,
        server_name: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        subagent: str | None = None,
    ) -> PolicyCheck:
        """Decide about one call. `annotations` are the tool's own, not the call's."""
        call = self._call(name, args, server_name, annotations, subagent)
        found = self._rule_decision(name, call, heuristics=True)
        if found.decision is not Decision.ALLOW:
            return found
        if self._asks_for_more_folders(args):
            found = PolicyCheck(Decision.ASK_USER, found.rule)
        return self._guard_build_files(name, call, found)

    def statically_excluded(
        self, name: str, *, annotations: Mapping[str, Any] | None = None
    ) -> bool:
        """Whether the tool is refused whatever its arguments; it is then not even declared."""
        server = (annotations or {}).get("_serverName")
        call = PolicyCall(
            names=[name],
            args={},
            canonical="",
            mode=self._state.approval_mode,
            interactive=self._interactive,
            server_name=server if isinstance(server, str) else None,
            annotations=annotations,
        )
        for rule in self._usable_rules():
            if not rule_matches(rule, call, ignore_pattern=True):
                continue
            if rule.args_pattern is None:
                return rule.decision is Decision.DENY
            if rule.decision is not Decision.DENY:
                return False
        return self._default is Decision.DENY

    def excluded_tools(
        self,
        names: Iterable[str],
        annotations: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> frozenset[str]:
        """Those of `names` that are statically excluded; `annotations` by tool name."""
        known = annotations or {}
        return frozenset(
            name for name in names if self.statically_excluded(name, annotations=known.get(name))
        )

    def targets_build_file(self, args: JsonObject | None) -> bool:
        """Whether the file that `args` name steers a build."""
        return build_files.targets_build_file(args, self.workspace_root)

    def _usable_rules(self) -> Iterable[PolicyRule]:
        if not self._disable_always_allow:
            return self._rules
        return [rule for rule in self._rules if not rule.from_always_allow]

    def _call(
        self,
        name: str,
        args: JsonObject | None,
        server_name: str | None,
        annotations: Mapping[str, Any] | None,
        subagent: str | None,
    ) -> PolicyCall:
        names = tool_aliases(name)
        agent = (args or {}).get("agent_name")
        if name == "invoke_agent" and isinstance(agent, str):
            names.append(agent)
        annotated = (annotations or {}).get("_serverName")
        if not server_name and isinstance(annotated, str):
            server_name = annotated
        return PolicyCall(
            names=names,
            args=args,
            canonical="" if args is None else canonical_arguments(args),
            mode=self._state.approval_mode,
            interactive=self._interactive,
            server_name=server_name or mcp_server_of(name),
            annotations=annotations,
            subagent=subagent,
        )

    def _rule_decision(self, name: str, call: PolicyCall, *, heuristics: bool) -> PolicyCheck:
        """Steps 1 to 3: the first matching rule, and what a shell command makes of it."""
        rule = next((rule for rule in self._usable_rules() if rule_matches(rule, call)), None)
        if rule is None and call.mode == "yolo":
            return PolicyCheck(Decision.ALLOW)
        decision = rule.decision if rule is not None else self._default
        if name not in _SHELL_TOOLS:
            return PolicyCheck(decision, rule)
        command = (call.args or {}).get("command")
        if not isinstance(command, str) or not command:
            return PolicyCheck(decision, rule)
        folder = (call.args or {}).get("dir_path")
        folder = folder if isinstance(folder, str) else None
        if heuristics and (rule is None or rule.args_pattern is None):
            decision = self._shell.heuristic(command, decision, folder)

        def recurse(part: str) -> tuple[Decision, PolicyRule | None]:
            args = {"command": part, **({} if folder is None else {"dir_path": folder})}
            inner = self._call(name, args, call.server_name, call.annotations, call.subagent)
            found = self._rule_decision(name, inner, heuristics=False)
            return found.decision, found.rule

        request = ShellRequest(command=command, decision=decision, rule=rule, check=recurse)
        return PolicyCheck(*self._shell.judge(request))

    def _asks_for_more_folders(self, args: JsonObject | None) -> bool:
        permissions = (args or {}).get("additional_permissions")
        files = permissions.get("fileSystem") if isinstance(permissions, dict) else None
        if not isinstance(files, dict):
            return False
        wanted: list[Any] = []
        for key in ("read", "write"):
            paths = files.get(key)
            wanted += paths if isinstance(paths, list) else []
        root = self.workspace_root
        targets = [Path(os.path.normpath(root / path)) for path in wanted if isinstance(path, str)]
        return any(target != root and root not in target.parents for target in targets)

    def _guard_build_files(self, name: str, call: PolicyCall, found: PolicyCheck) -> PolicyCheck:
        """Step 5: edits of build files are never silent, whatever the mode."""
        if not build_files.is_edit_like(call.names) or not self.targets_build_file(call.args):
            return found
        decision = Decision.ASK_USER if self._interactive else Decision.DENY
        guard = PolicyRule(
            tool_name=name,
            decision=decision,
            priority=_MAX_SAFE_INTEGER,
            source="Build File Protection",
            deny_message="Modifying build configuration files requires explicit user confirmation",
        )
        return PolicyCheck(decision, guard)
