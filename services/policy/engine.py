"""The policy engine, which decides whether a call runs, needs a confirmation, or is refused.

Source: core `policy/policy-engine.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from services import build_files
from services.policy.canonical import canonical_arguments
from services.policy.command_safety import Place
from services.policy.guards import asks_for_more_folders, build_file_rule, edits_build_file
from services.policy.patterns import compile_pattern
from services.policy.rule_book import AGENT_RULE_SOURCE, RuleBook, first_unconditional
from services.policy.rules import (
    CheckerRule,
    CheckerSpec,
    Decision,
    PolicyCall,
    PolicyRule,
    mcp_server_of,
    rule_matches,
    tool_aliases,
)
from services.policy.shell_policy import ShellPolicy, ShellRequest
from services.policy.updates import UnsafePattern, UpdatePolicy, rules_of_update
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.wire import JsonObject

__all__ = ["CheckerRunner", "PolicyCheck", "PolicyEngine"]

_SHELL_TOOLS: Final = frozenset({"run_shell_command", "ShellTool"})
_REMOTE_AGENT_PRIORITY: Final = 1.03 + 0.1


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """A decision, and the rule that made it, if there is one."""

    decision: Decision
    rule: PolicyRule | None = None

    @property
    def deny_message(self) -> str | None:
        """The rule's message for a refusal."""
        return self.rule.deny_message if self.rule is not None else None


class CheckerRunner(Protocol):
    """Runs safety checkers; see `services.policy.safety`."""

    async def run(self, tool_name: str, args: JsonObject | None, checker: CheckerSpec) -> Decision:
        """The checker's decision; any error is a refusal."""
        ...


class PolicyEngine:
    """Rules by priority, highest first; equal priorities keep their order; the first match decides.

    Every check reads the approval mode from `state`. Without a matching rule, a call needs a
    confirmation in an interactive run and is refused in any other. Safety checkers judge the calls
    that are not refused; without a `runner` there are none. `save` stores the answers that apply to
    later sessions.
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
        checkers: Iterable[CheckerRule] = (),
        runner: CheckerRunner | None = None,
        save: Callable[[UpdatePolicy], None] | None = None,
    ) -> None:
        self.book = RuleBook(rules, checkers)
        self._state = state
        self._interactive = interactive
        self.workspace_root = workspace_root
        self._disable_always_allow = disable_always_allow
        self._events = events
        self._runner = runner
        self._save = save
        self._default = Decision.ASK_USER if interactive else Decision.DENY
        self._excluded_by: tuple[PolicyRule, ...] | None = None
        self._excluded: dict[tuple[str, ApprovalMode], bool] = {}
        """Which tools without annotations the rules in `_excluded_by` refuse."""
        self._shell = ShellPolicy(
            state=state,
            default=self._default,
            place=Place(workspace=workspace_root, cwd=workspace_root, home=home or workspace_root),
            folder_trusted=folder_trusted,
        )

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in the order in which they are tried."""
        return self.book.rules

    def add_rule(self, rule: PolicyRule) -> None:
        """Add a rule; it comes after the ones with the same priority."""
        self.book.add([rule])

    def add_remote_agent(self, name: str) -> None:
        """Require confirmation for calls of a remote agent, unless it has a rule.

        Raises:
            ValueError: its name is not a regular expression.

        Source: core `agents/registry.ts` (`addAgentPolicy`).
        """
        if self.book.has_rule_for(name, ignore_agents=True):
            return
        self.add_rule(
            PolicyRule(
                tool_name="invoke_agent",
                args_pattern=compile_pattern(rf'"agent_name":\s*"{name}"'),
                decision=Decision.ASK_USER,
                priority=_REMOTE_AGENT_PRIORITY,
                source=AGENT_RULE_SOURCE,
            )
        )

    def apply_update(self, update: UpdatePolicy) -> None:
        """Add the rules of an "always allow" answer, and save it if it asks for that.

        An unsafe pattern emits an error; an answer that needs narrowing changes nothing.
        """
        try:
            rules = rules_of_update(update)
        except UnsafePattern as problem:
            if self._events is not None:
                self._events.emit(UserFeedback(severity="error", message=str(problem)))
            return
        if rules is None:
            return
        self.book.add(rules)
        if update.persist_scope is not None and self._save is not None:
            self._save(update)

    async def decide(
        self,
        name: str,
        args: JsonObject | None,
        *,
        server_name: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        subagent: str | None = None,
    ) -> PolicyCheck:
        """Decide about one call, safety checkers included.

        Args:
            name: the tool's name as called.
            args: the call's arguments.
            server_name: the MCP server, where the tool is one of its own.
            annotations: the tool's own, not the call's.
            subagent: the caller, if not the main agent.
        """
        call = self._call(name, args, server_name, annotations, subagent)
        return await self._decide(name, call, heuristics=True)

    def statically_excluded(
        self, name: str, *, annotations: Mapping[str, Any] | None = None
    ) -> bool:
        """Whether the tool is refused for all arguments, and so not declared."""
        if annotations:
            return self._refuses(name, annotations)
        if self._excluded_by is not self.book.rules:
            self._excluded_by, self._excluded = self.book.rules, {}
        key = name, self._state.approval_mode
        if key not in self._excluded:
            self._excluded[key] = self._refuses(name, annotations)
        return self._excluded[key]

    def _refuses(self, name: str, annotations: Mapping[str, Any] | None) -> bool:
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
        decided = first_unconditional(self._usable_rules(), call) or self._default
        return decided is Decision.DENY

    def targets_build_file(self, args: JsonObject | None) -> bool:
        """Whether `args` name a build file."""
        return build_files.targets_build_file(args, self.workspace_root)

    def _usable_rules(self) -> Iterable[PolicyRule]:
        if not self._disable_always_allow:
            return self.book.rules
        return [rule for rule in self.book.rules if not rule.from_always_allow]

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

    async def _decide(self, name: str, call: PolicyCall, *, heuristics: bool) -> PolicyCheck:
        found = await self._rule_decision(name, call, heuristics=heuristics)
        if found.decision is Decision.ALLOW:
            if asks_for_more_folders(call.args, self.workspace_root):
                found = PolicyCheck(Decision.ASK_USER, found.rule)
            if edits_build_file(call, self.workspace_root):
                guard = build_file_rule(name, self._interactive)
                found = PolicyCheck(guard.decision, guard)
        if found.decision is Decision.DENY or self._runner is None:
            return found
        for checker in self.book.checkers:
            if not rule_matches(checker, call):
                continue
            says = await self._runner.run(name, call.args, checker.checker)
            if says is not Decision.ALLOW:
                found = PolicyCheck(says, found.rule)
            if says is Decision.DENY:
                break
        return found

    async def _rule_decision(self, name: str, call: PolicyCall, *, heuristics: bool) -> PolicyCheck:
        """The first matching rule's decision, and its change by a shell command."""
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

        async def recurse(part: str) -> tuple[Decision, PolicyRule | None]:
            args = {"command": part, **({} if folder is None else {"dir_path": folder})}
            inner = self._call(name, args, call.server_name, call.annotations, call.subagent)
            found = await self._decide(name, inner, heuristics=False)
            return found.decision, found.rule

        request = ShellRequest(command=command, decision=decision, rule=rule, check=recurse)
        return PolicyCheck(*await self._shell.judge(request))
