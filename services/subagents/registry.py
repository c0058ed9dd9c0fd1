"""`AgentRegistry`: the agents of a session.

Built-in agents come first, then the project's, the user's and those of extensions. Of two with one
name the first counts, with a warning. A project's agents count only in a trusted folder, and only
if the user has acknowledged them.

Source: core `agents/registry.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from services.model.configs import ModelConfigs
from services.policy.engine import PolicyEngine
from services.policy.rule_book import AGENT_RULE_SOURCE
from services.session import Session
from services.settings import Settings
from services.settings.agents import AgentOverride
from services.state import (
    AgentsDiscovered,
    AgentsRefreshed,
    CoreEvent,
    ModelChanged,
    UserFeedback,
)
from services.subagents.acknowledged import AcknowledgedAgents
from services.subagents.among_agents import warnings_about_calls
from services.subagents.definition import (
    AgentDefinition,
    BuiltInAgent,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.subagents.loader import AgentLoadError, LoadedAgents, load_agents
from services.subagents.overriding import AgentModels, overridden
from services.subagents.reload_result import ReloadResult
from services.subagents.remote_loading import RemoteCards, RemoteLoader, with_card_hash

__all__ = ["AgentRegistry"]

logger = logging.getLogger(__name__)

_UNTRUSTED = (
    "Skipping project agents due to untrusted folder. "
    "To enable, ensure that the project root is trusted."
)
_NO_OTHER_TOOLS = "Cannot set property toolConfig of #<Object> which has only a getter"


@dataclass(slots=True)
class _Found:
    """The results of one search."""

    registered: dict[str, BuiltInAgent | AgentDefinition] = field(default_factory=dict)
    discovered: dict[str, BuiltInAgent | AgentDefinition] = field(default_factory=dict)
    unknown: dict[str, AgentDefinition] = field(default_factory=dict)
    """The project's agents without an acknowledgment."""
    failed: list[AgentLoadError] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class AgentRegistry:
    """The agents of one session, by name."""

    def __init__(
        self,
        session: Session,
        *,
        models: ModelConfigs,
        policy: PolicyEngine,
        builtin: Sequence[BuiltInAgent] = (),
        extensions: Callable[[], Iterable[LoadedAgents]] = tuple,
        remote: RemoteLoader | None = None,
    ) -> None:
        """Make an empty registry, which follows changes of the session's model.

        Args:
            session: has the folders of agents, and the settings about them.
            models: receives the agents' model configs.
            policy: receives the rules for remote agents.
            builtin: the built-in agents.
            extensions: the agents of each active extension.
            remote: reads remote agents' cards; without it remote agents are skipped.
        """
        self.acknowledged = AcknowledgedAgents(session.workspace)
        self._workspace = session.workspace
        self._settings = session.settings
        self._state = session.state
        self._models = AgentModels(models)
        self._policy = policy
        self._events = session.events
        self._builtin = tuple(builtin)
        self._extensions = extensions
        self._remote = remote
        self._found = _Found()
        self._unsubscribe = session.events.subscribe(self._follow)

    async def load(self) -> None:
        """Search all agents. Only remote agents' cards are awaited."""
        found = self._found = _Found()
        self._policy.book.remove_source(AGENT_RULE_SOURCE)
        if not self._settings.enable_agents:
            return
        for agent in self._builtin:
            self._register_local(agent, "built-in")
        if not self._settings.folder_trust or self._settings.folder_trusted:
            project = self._loaded(self._workspace.root / ".gemini" / "agents")
            await self._register_all(self._acknowledged(project.agents), "project")
        else:
            self._report("info", _UNTRUSTED)
        user = self._loaded(self._workspace.home / ".gemini" / "agents")
        await self._register_all([with_card_hash(agent) for agent in user.agents], "user")
        for loaded in self._extensions():
            await self._register_all(loaded.agents, "extension")
        for warning in warnings_about_calls(_written(found.discovered.values()), found.failed):
            self._report("warning", warning)

    async def reload(self, settings: Settings | None = None) -> ReloadResult:
        """Search all agents again, with new settings if given, and return the changes."""
        before = self._hashes()
        if settings is not None:
            self._settings = settings
        if self._remote is not None:
            self._remote.clear()
        await self.load()
        registered = self._found.registered.values()
        self._events.emit(AgentsRefreshed())
        return ReloadResult.between(
            before,
            self._hashes(),
            remote=sum(isinstance(agent, RemoteAgentDefinition) for agent in registered),
            errors=self._found.errors,
        )

    def _hashes(self) -> dict[str, str | None]:
        registered = self._found.registered.items()
        return {
            name: None if isinstance(agent, BuiltInAgent) else agent.hash
            for name, agent in registered
        }

    def waiting(self) -> list[AgentDefinition]:
        """The project's agents that wait for an acknowledgment."""
        return list(self._found.unknown.values())

    async def acknowledge(self, name: str) -> None:
        """Acknowledge a waiting agent of the project."""
        agent = self._found.unknown.pop(name, None)
        if agent is None or agent.hash is None:
            return
        self.acknowledged.add(agent.name, agent.hash)
        await self._register_all([agent], "project")
        self._events.emit(AgentsRefreshed())

    def definition(self, name: str) -> AgentDefinition | None:
        """Return the current definition of an enabled agent."""
        agent = self._found.registered.get(name)
        return None if agent is None else self._made(agent)

    def definitions(self) -> list[AgentDefinition]:
        """The current definitions of all enabled agents, in order."""
        return [self._made(agent) for agent in self._found.registered.values()]

    def names(self) -> list[str]:
        """The names of all enabled agents, in order."""
        return list(self._found.registered)

    def descriptions(self) -> dict[str, str]:
        """The description of each agent by its name."""
        return {
            name: agent.describe() if isinstance(agent, BuiltInAgent) else agent.description
            for name, agent in self._found.registered.items()
        }

    def discovered_names(self) -> list[str]:
        """The names of all agents, disabled ones included."""
        return list(self._found.discovered)

    def discovered(self, name: str) -> AgentDefinition | None:
        """The definition of an agent as its author wrote it, disabled or not."""
        agent = self._found.discovered.get(name)
        return agent.make() if isinstance(agent, BuiltInAgent) else agent

    async def override(self, overrides: Mapping[str, AgentOverride]) -> ReloadResult:
        """Search all agents again, with these overrides in place of those of the settings."""
        return await self.reload(replace(self._settings, agent_overrides=overrides))

    @property
    def folder_trusted(self) -> bool:
        """Whether the folder is trusted, by the latest settings."""
        return self._settings.folder_trusted

    def close(self) -> None:
        """Stop following the session's model."""
        self._unsubscribe()

    def _follow(self, event: CoreEvent) -> None:
        """Register the agents' models again after a change of the session's model."""
        if isinstance(event, ModelChanged):
            for agent in self._found.registered.values():
                if not isinstance(agent, RemoteAgentDefinition):
                    self._register_models(agent)

    def _loaded(self, folder: Path) -> LoadedAgents:
        loaded = load_agents(folder)
        self._found.failed += loaded.errors
        for error in loaded.errors:
            self._failed(f"Agent loading error: {error}")
        return loaded

    def _acknowledged(self, agents: Iterable[AgentDefinition]) -> list[AgentDefinition]:
        """Return the acknowledged agents of the project; an event names the others."""
        known: list[AgentDefinition] = []
        unknown = self._found.unknown
        names: list[str] = []
        for agent in map(with_card_hash, agents):
            if agent.hash is None or self.acknowledged.knows(agent.name, agent.hash):
                known.append(agent)
            else:
                unknown.setdefault(agent.name, agent)
                names.append(agent.name)
        if names:
            self._events.emit(AgentsDiscovered(names=tuple(names)))
        return known

    async def _register_all(self, agents: Iterable[AgentDefinition], place: str) -> None:
        """Register the local agents of one place, then its remote ones with their cards."""
        cards = RemoteCards(self._remote)
        for agent in agents:
            if agent.name in self._found.registered or agent.name in cards.names:
                self._report(
                    "warning",
                    f"Duplicate agent name '{agent.name}' detected. The later definition will be "
                    "ignored. Rename one of the agents to avoid this conflict.",
                )
            elif isinstance(agent, RemoteAgentDefinition):
                self._found.discovered[agent.name] = agent
                if self._enabled(agent.name, agent.experimental):
                    cards.want(agent)
            elif isinstance(agent, LocalAgentDefinition):
                self._register_local(agent, place)
        async for loaded in cards.loaded():
            if loaded.warning is not None:
                self._report("warning", loaded.warning)
            if loaded.error is not None:
                self._failed(loaded.error)
            if loaded.agent is not None:
                self._register_remote(loaded.agent)

    def _register_local(self, agent: BuiltInAgent | LocalAgentDefinition, place: str) -> None:
        self._found.discovered[agent.name] = agent
        experimental = False if isinstance(agent, BuiltInAgent) else agent.experimental
        if not self._enabled(agent.name, experimental):
            return
        override = self._settings.agent_overrides.get(agent.name)
        if override is not None and override.tools is not None:
            # Upstream fails with this message; for a built-in agent its session ends.
            self._failed(f'Error registering {place} agent "{agent.name}": {_NO_OTHER_TOOLS}')
            return
        self._found.registered[agent.name] = agent
        self._register_models(agent)

    def _register_remote(self, agent: RemoteAgentDefinition) -> None:
        try:
            self._policy.add_remote_agent(agent.name)
        except ValueError as problem:
            # Names in files are slugs: this definition is not from a file.
            self._failed(f"[{agent.name}] Failed to load remote agent: {problem}")
            return
        self._found.registered[agent.name] = agent

    def _register_models(self, agent: BuiltInAgent | AgentDefinition) -> None:
        made = self._made(agent)
        if isinstance(made, LocalAgentDefinition):
            self._models.register(made, self._state.model)

    def _made(self, agent: BuiltInAgent | AgentDefinition) -> AgentDefinition:
        definition = agent.make() if isinstance(agent, BuiltInAgent) else agent
        if not isinstance(definition, LocalAgentDefinition):
            return definition
        return overridden(definition, self._settings.agent_overrides.get(definition.name))

    def _enabled(self, name: str, experimental: bool) -> bool:
        override = self._settings.agent_overrides.get(name)
        if override is not None and override.enabled is not None:
            return override.enabled
        return not experimental

    def _failed(self, message: str) -> None:
        self._found.errors.append(message)
        self._report("error", message)

    def _report(self, severity: str, message: str) -> None:
        logger.log(logging.INFO if severity == "info" else logging.WARNING, "%s", message)
        self._events.emit(UserFeedback(severity=severity, message=message))


def _written(agents: Iterable[BuiltInAgent | AgentDefinition]) -> list[AgentDefinition]:
    return [agent for agent in agents if not isinstance(agent, BuiltInAgent)]
