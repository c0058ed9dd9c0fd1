"""Policy: what the engine decides of calls, from files and settings."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.clock import SystemClock
from services.policy.allowed_paths import AllowedPaths
from services.policy.engine import PolicyEngine
from services.policy.rules import Decision
from services.policy.safety import (
    ConversationContext,
    SafetyCheckers,
    SafetyRequest,
    SafetyVerdict,
)
from services.policy.sources import load_policy_rules
from services.settings import settings_from_parameters
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


class _Silent:
    """A checker that has nothing against anything."""

    waits = False

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        return SafetyVerdict(Decision.ALLOW)


def decisions(asked: dict[str, Any]) -> dict[str, Any]:
    """The decisions of an engine of these files and settings, a row for each call."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        feedback: list[str] = []
        policy = _engine(asked, Path(folder).resolve(), feedback)
        found = asyncio.run(_decided(policy, asked["calls"]))
        known = asked.get("annotations") or {}
        excluded = {
            name
            for name in asked["names"]
            if policy.statically_excluded(name, annotations=known.get(name))
        }
        return {"found": found, "excluded": sorted(excluded), "feedback": feedback}


def _engine(asked: dict[str, Any], folder: Path, feedback: list[str]) -> PolicyEngine:
    workspace = Workspace.at(folder / "ws", folder / "home")
    policies = workspace.home / ".gemini/policies"
    for place in (workspace.root / "sub", policies):
        place.mkdir(parents=True)
    (workspace.root / "link").symlink_to("/etc")
    for name, text in asked["files"].items():
        (policies if name == "user.toml" else workspace.root).joinpath(name).write_text(text)
    settings = settings_from_parameters(asked["settings"], interactive=asked["interactive"])
    events = CoreEvents()
    events.subscribe(
        lambda event: feedback.append(event.severity) if isinstance(event, UserFeedback) else None
    )
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode(asked["mode"]),
        interactive=settings.interactive,
        events=events,
    )
    loaded = load_policy_rules(settings, workspace=workspace, events=events)
    return PolicyEngine(
        loaded.rules,
        checkers=loaded.checkers,
        runner=SafetyCheckers(
            context=ConversationContext(workspace),
            clock=SystemClock(),
            in_process={"allowed-path": AllowedPaths(), "conseca": _Silent()},
        ),
        state=state,
        interactive=settings.interactive,
        workspace_root=workspace.root,
        home=workspace.home,
        folder_trusted=settings.folder_trusted,
        disable_always_allow=settings.disable_always_allow,
    )


async def _decided(policy: PolicyEngine, calls: list[dict[str, Any]]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for call in calls:
        check = await policy.decide(
            call["name"],
            call.get("args"),
            server_name=call.get("server"),
            annotations=call.get("annotations"),
            subagent=call.get("subagent"),
        )
        rule = check.rule
        source, priority = (rule.source, rule.priority) if rule is not None else (None, None)
        found.append([check.decision, source, priority, check.deny_message])
    return found


SUBJECTS: Final = (
    Subject("policy.decisions", decisions),
    Subject("policy.built_in", decisions),
)
