"""Adjusts a decision by a shell command's text: heuristics, then each sub-command.

Source: core `policy/policy-engine.ts` (`applyShellHeuristics`, `checkShellCommand`).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from services.policy.command_safety import Place, is_dangerous, is_known_safe, runs_git
from services.policy.rules import Decision, PolicyRule
from services.shell.syntax import (
    ShellSyntaxError,
    has_redirection,
    parse_shell,
    strip_shell_wrapper,
)
from services.shell.words import BadSubstitution, shell_words
from services.state import ApprovalMode, SessionState

__all__ = ["ShellPolicy", "ShellRequest", "Verdict"]

Verdict = tuple[Decision, PolicyRule | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    """A command, the decision so far, and the check for a part of the command."""

    command: str
    decision: Decision
    rule: PolicyRule | None
    check: Callable[[str], Awaitable[Verdict]]


class ShellPolicy:
    """Judges shell commands for one engine."""

    def __init__(
        self, *, state: SessionState, default: Decision, place: Place, folder_trusted: bool
    ) -> None:
        self._state = state
        self._default = default
        self._place = place
        self._folder_trusted = folder_trusted

    def heuristic(self, command: str, decision: Decision, folder: str | None) -> Decision:
        """The decision after a look at the first command; `folder` is where it would run."""
        if decision is Decision.DENY:
            return decision
        try:
            words = [word.text for word in shell_words(command)]
        except BadSubstitution:
            return decision
        yolo = self._state.approval_mode is ApprovalMode.YOLO
        workspace = self._place.workspace
        cwd = Path(os.path.normpath(workspace / folder)) if folder else workspace
        if cwd != workspace and workspace not in cwd.parents and not yolo:
            return Decision.ASK_USER
        if not self._folder_trusted and runs_git(words):
            return Decision.ASK_USER
        if is_dangerous(words):
            return decision if yolo else Decision.ASK_USER
        if decision is Decision.ASK_USER and is_known_safe(words, replace(self._place, cwd=cwd)):
            return Decision.ALLOW
        return decision

    async def judge(self, request: ShellRequest) -> Verdict:
        """The decision after a look at every sub-command, and the rule responsible for it."""
        rule, decision = request.rule, request.decision
        try:
            parts = parse_shell(request.command)
        except ShellSyntaxError:
            return self._unreadable(request), rule
        if decision is Decision.DENY:
            return decision, rule
        blamed = rule if rule is not None and rule.decision is decision else None
        allow_redirection = rule is not None and rule.allow_redirection
        if decision is Decision.ALLOW and self._redirects(request.command, allow_redirection):
            decision, blamed = Decision.ASK_USER, None
        for part in parts:
            text = part.text
            pieces = []
            inside = strip_shell_wrapper(text)
            if inside != text:
                pieces.append(inside)
            whole = part.start == 0 and len(text) == len(request.command)
            if text != request.command and not whole:
                pieces.append(text)
            for piece in pieces:
                found, culprit = await request.check(piece)
                if found is Decision.DENY:
                    return found, culprit
                if found is Decision.ASK_USER:
                    blamed = culprit if decision is Decision.ALLOW else blamed or culprit
                    decision = found
        return decision, rule if decision is request.decision else blamed

    def _unreadable(self, request: ShellRequest) -> Decision:
        if request.decision is Decision.DENY:
            return Decision.DENY
        if self._state.approval_mode is not ApprovalMode.YOLO:
            return self._default
        restricted = request.rule is not None and request.rule.args_pattern is not None
        return Decision.DENY if restricted else Decision.ALLOW

    def _redirects(self, command: str, allowed: bool) -> bool:
        """Whether a redirection makes this a question; the editing modes trust it."""
        lenient = self._state.approval_mode in {ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO}
        return not allowed and not lenient and has_redirection(command)
