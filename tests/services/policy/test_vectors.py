"""Decisions of the published engine, on rules and calls that were made by chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from services.clock import SystemClock
from services.policy.allowed_paths import AllowedPaths
from services.policy.rules import Decision
from services.policy.safety import (
    ConversationContext,
    SafetyCheckers,
    SafetyRequest,
    SafetyVerdict,
)
from services.policy.sources import load_policy_rules
from services.settings import settings_from_parameters
from services.state import ApprovalMode, CoreEvents, SessionState
from services.workspace import Workspace
from tests.services.policy.instant import InstantEngine

VECTORS: Final = json.loads((Path(__file__).parent / "vectors.json").read_text())


class Silent:
    """A checker that has nothing against anything."""

    waits = False

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        return SafetyVerdict(Decision.ALLOW)


def engine(vector: dict[str, Any], folder: Path) -> InstantEngine:
    workspace = Workspace.at(folder / "ws", folder / "home")
    policies = workspace.home / ".gemini/policies"
    for place in (workspace.root / "sub", policies):
        place.mkdir(parents=True)
    (workspace.root / "link").symlink_to("/etc")
    for name, text in vector["files"].items():
        (policies if name == "user.toml" else workspace.root).joinpath(name).write_text(text)
    settings = settings_from_parameters(vector["settings"], interactive=vector["interactive"])
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode(vector["mode"]),
        interactive=settings.interactive,
        events=CoreEvents(),
    )
    loaded = load_policy_rules(settings, workspace=workspace)
    return InstantEngine(
        loaded.rules,
        checkers=loaded.checkers,
        runner=SafetyCheckers(
            context=ConversationContext(workspace),
            clock=SystemClock(),
            in_process={"allowed-path": AllowedPaths(), "conseca": Silent()},
        ),
        state=state,
        interactive=settings.interactive,
        workspace_root=workspace.root,
        home=workspace.home,
        folder_trusted=settings.folder_trusted,
        disable_always_allow=settings.disable_always_allow,
    )


@pytest.mark.parametrize("vector", VECTORS)
def test_decisions_are_those_of_the_published_engine(
    vector: dict[str, Any], tmp_path: Path
) -> None:
    policy = engine(vector, tmp_path)

    for call in vector["calls"]:
        check = policy.check(
            call["name"],
            call.get("args"),
            server_name=call.get("server"),
            annotations=call.get("annotations"),
            subagent=call.get("subagent"),
        )
        rule = check.rule
        source, priority = (rule.source, rule.priority) if rule is not None else (None, None)
        assert [check.decision, source, priority, check.deny_message] == call["found"], call

    known = vector["annotations"] or {}
    excluded = {
        name
        for name in vector["names"]
        if policy.statically_excluded(name, annotations=known.get(name))
    }
    assert sorted(excluded) == vector["excluded"]
