"""A registry in its own folders, with its feedback for the user."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.policy.defaults import default_rules
from services.policy.engine import PolicyEngine
from services.settings import settings_from_parameters
from services.state import (
    AgentsDiscovered,
    AgentsRefreshed,
    ApprovalMode,
    CoreEvent,
    CoreEvents,
    SessionState,
    UserFeedback,
)
from services.subagents.builtin.cli_help import cli_help
from services.subagents.builtin.codebase_investigator import codebase_investigator
from services.subagents.builtin.generalist import generalist
from services.subagents.registry import AgentRegistry
from services.tools.contract import Tool
from services.workspace import Workspace
from tests.services.sessions import session_at

TOOLS = ["read_file", "invoke_agent"]


class Documentation:
    """As much of a tool as a definition needs."""

    name = "get_internal_docs"


class Place:
    """A home and a project."""

    def __init__(self, base: Path, model: str = "gemini-2.5-flash") -> None:
        self.workspace = Workspace.at(base / "ws", base / "home")
        self.project = self.workspace.root / ".gemini" / "agents"
        self.user = self.workspace.home / ".gemini" / "agents"
        self.events = CoreEvents()
        self.events.subscribe(self._take)
        self.feedback: list[tuple[str, str]] = []
        self.unknown: list[str] = []
        self.refreshed = 0
        self.models = ModelConfigs(AccessFlags())
        self.state = SessionState(
            session_id="s",
            model=model,
            approval_mode=ApprovalMode.DEFAULT,
            interactive=False,
            events=self.events,
        )
        self.policy = PolicyEngine(
            default_rules(), state=self.state, interactive=True, workspace_root=self.workspace.root
        )

    def _take(self, event: CoreEvent) -> None:
        match event:
            case UserFeedback(severity=severity, message=message):
                self.feedback.append((severity, message))
            case AgentsDiscovered(names=names):
                self.unknown += names
            case AgentsRefreshed():
                self.refreshed += 1

    def write(self, folder: Path, name: str, more: str = "", body: str = "Do it.") -> Path:
        """A definition called `name`, in a file of the same name."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.md"
        kept = "" if "description:" in more or "agent_card" in more else "description: d\n"
        file.write_text(f"---\nname: {name}\n{kept}{more}\n---\n{body}\n")
        return file

    def registry(self, *, builtin: bool = False, **more: Any) -> AgentRegistry:
        """A registry that has found nothing yet. `parameters` are the core's."""
        parameters = more.pop("parameters", {})
        return AgentRegistry(
            session_at(
                self.workspace,
                settings_from_parameters(parameters),
                state=self.state,
                events=self.events,
            ),
            models=self.models,
            policy=self.policy,
            builtin=self._builtin() if builtin else (),
            **more,
        )

    def loaded(self, **more: Any) -> AgentRegistry:
        """A registry that has found what there is."""
        registry = self.registry(**more)
        asyncio.run(registry.load())
        return registry

    def _builtin(self) -> Any:
        def documentation() -> Tool:
            return Documentation()  # type: ignore[return-value] # never called

        return (
            codebase_investigator(self.state, self.models),
            cli_help(documentation),
            generalist(self.state, lambda: TOOLS, lambda: "core"),
        )
