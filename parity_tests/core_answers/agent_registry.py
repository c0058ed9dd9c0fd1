"""Subagents: which agents a session has, from files, settings and the cards of remote ones."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.model.aliases import ModelAlias, ModelOverride
from services.model.configs import ModelConfigs
from services.policy.engine import PolicyEngine
from services.session import Session
from services.settings import settings_from_parameters
from services.state import (
    AgentsDiscovered,
    AgentsRefreshed,
    CoreEvent,
    CoreEvents,
    ModelChanged,
    UserFeedback,
)
from services.subagents.definition import (
    AgentDefinition,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.subagents.loader import load_agents
from services.subagents.registry import AgentRegistry
from services.subagents.reload_result import ReloadResult
from services.subagents.remote.security import required_auth
from services.subagents.remote_loading import RemoteCard, RemoteLoadError
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


_OWN: Final = "Agents cannot call agents."
"""The published core has no such warning."""


def required(asked: dict[str, Any]) -> Any:
    """The sign-in that a card requires and an `auth` block lacks."""
    try:
        return required_auth({"securitySchemes": asked["schemes"]}, asked.get("auth"))
    except TypeError as error:
        return {"error": str(error)}


def play(asked: dict[str, Any]) -> Any:
    """Some calls of a registry over the given files, and what is seen after each."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        return asyncio.run(_Scene(asked, Path(folder).resolve()).play())


class _Scene:
    def __init__(self, asked: dict[str, Any], base: Path) -> None:
        self.asked = asked
        self.base = base
        self.seen: list[Any] = []
        self.policy: list[Any] = []
        self.events = CoreEvents()
        self.events.subscribe(self._event)
        self.state = SimpleNamespace(model=asked["model"])

    async def play(self) -> list[Any]:
        """What is seen after each call."""
        _write(self.base, self.asked["files"])
        session = SimpleNamespace(
            workspace=Workspace.at(self.base / "ws", self.base / "home"),
            settings=self._settings(self.asked),
            state=self.state,
            events=self.events,
        )
        registry = AgentRegistry(
            cast("Session", session),
            models=cast("ModelConfigs", self),
            policy=cast("PolicyEngine", self),
            extensions=lambda: [load_agents(self.base / "ext")],
            remote=self if self.asked.get("loader", True) else None,
        )
        shown = []
        before = None
        for call, *given in self.asked["calls"]:
            self.seen = []
            self.policy = []
            answer = await self._call(registry, call, given)
            agents = [_about(each) for each in registry.definitions()]
            known, before = agents == before, agents
            shown.append(
                {
                    "answer": answer,
                    "seen": self.seen,
                    "rules": self.policy,
                    "agents": "as before" if known else agents,
                    "names": registry.names(),
                    "texts": [] if known else list(registry.descriptions().items()),
                    "discovered": registry.discovered_names(),
                }
            )
        return shown

    async def _call(self, registry: AgentRegistry, call: str, given: list[Any]) -> Any:
        if call == "load":
            return await registry.load()
        if call == "reload":
            changed = self._settings(given[1]) if len(given) > 1 else None
            _write(self.base, given[0])
            return _changes(await registry.reload(changed))
        if call == "acknowledge":
            return await registry.acknowledge(given[0])
        if call == "definition":
            found = registry.definition(given[0])
            plain = registry.discovered(given[0])
            return [found and _about(found), plain and _about(plain)]
        if call == "model":
            self.state.model = given[0]
            self.events.emit(ModelChanged(model=given[0]))
            return None
        assert call == "close"
        return registry.close()

    def _settings(self, asked: dict[str, Any]) -> Any:
        return settings_from_parameters(
            {
                "trustedFolder": asked.get("trusted", True),
                "folderTrust": asked.get("folderTrust", True),
                "enableAgents": asked.get("enabled", True),
                "agents": {"overrides": asked.get("overrides", {})},
            }
        )

    def _event(self, event: CoreEvent) -> None:
        match event:
            case UserFeedback(message=message) if _OWN in message:
                pass
            case UserFeedback(severity=severity, message=message):
                self.seen.append([severity, message.replace(str(self.base), "BASE")])
            case AgentsDiscovered(names=names):
                self.seen.append(["discovered", *names])
            case AgentsRefreshed():
                self.seen.append(["refreshed"])
            case _:
                pass

    def register_runtime_alias(self, name: str, alias: ModelAlias) -> None:
        """As the model's configs do."""
        self.seen.append([name, alias.model, alias.config or None])

    def register_runtime_override(self, override: ModelOverride) -> None:
        """As the model's configs do."""
        self.seen.append([override.match, override.config or None])

    @property
    def book(self) -> Any:
        """As the policy has one."""
        return SimpleNamespace(remove_source=lambda source: self.policy.append("removed"))

    def add_remote_agent(self, name: str) -> None:
        """As the policy does."""
        self.policy.append(name)

    def clear(self) -> None:
        """As a loader of cards does."""
        self.policy.append("cleared")

    async def load(self, definition: RemoteAgentDefinition) -> RemoteCard:
        """The card that the input has for the agent."""
        card = self.asked["cards"][definition.name]
        if isinstance(card, str):
            raise ValueError(card)
        if "problem" in card:
            raise RemoteLoadError(card["problem"])
        return RemoteCard(
            description=card.get("description"),
            skills=tuple(
                (each["name"], each.get("description")) for each in card.get("skills", ())
            ),
            required_auth=required_auth(card, definition.auth),
        )


def _write(base: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        file = base / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_text(text)


def _about(agent: AgentDefinition) -> JsonObject:
    common: JsonObject = {
        "name": agent.name,
        "description": agent.description,
        "displayName": agent.display_name,
        "hash": agent.hash and agent.hash[:_HASH],
        "kind": "remote",
    }
    if isinstance(agent, RemoteAgentDefinition):
        return _given(common)
    assert isinstance(agent, LocalAgentDefinition)
    local = {
        **common,
        "kind": "local",
        "model": agent.model.model,
        "generation": agent.model.generation_config or None,
        "minutes": agent.limits.max_time_minutes,
        "turns": agent.limits.max_turns,
        "tools": None if agent.tools is None else list(agent.tools),
        "servers": dict(agent.mcp_servers) or None,
    }
    return _given(local)


_HASH: Final = 24


def _given(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}


def _changes(result: ReloadResult) -> JsonObject:
    return {
        "totalLoaded": result.total_loaded,
        "localCount": result.local_count,
        "remoteCount": result.remote_count,
        "newAgents": result.new_agents,
        "updatedAgents": result.updated_agents,
        "deletedAgents": result.deleted_agents,
        "errors": len(result.errors),
    }


SUBJECTS: Final = (
    Subject("agent_registry.required", required),
    Subject("agent_registry.play", play),
)
