"""`SessionExtensions`: the extensions of an open session. A change of one counts at once.

Source: core `utils/extensionLoader.ts` (`startExtension`, `stopExtension`, `maybeRefreshMemories`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.extensions.extension import Extension
from services.extensions.origins import Origin
from services.extensions.store import Consent, EnabledIn, ExtensionStore, Updated, UpdateState
from services.hooks.system import HookSystem
from services.mcp.wiring import SessionServers
from services.policy.rule_book import RuleBook
from services.settings.hooks import HookDefinition
from services.skills.loader import Skill
from services.subagents.loader import LoadedAgents
from services.subagents.registry import AgentRegistry
from services.tools.project_memory import ProjectMemory

__all__ = ["Contributions", "SessionExtensions", "SessionParts"]


class Contributions:
    """What the active extensions bring, for the parts of a session that read it when they load."""

    def __init__(self, active: Callable[[], Sequence[Extension]]) -> None:
        self._active = active

    def context_files(self) -> list[Path]:
        """The files with context for the model."""
        return [file for each in self._active() for file in each.context_files]

    def skills(self) -> list[Skill]:
        """The skills."""
        return [skill for each in self._active() for skill in each.skills]

    def hooks(self) -> list[HookDefinition]:
        """The hooks."""
        return [definition for each in self._active() for definition in each.hooks]

    def agents(self) -> list[LoadedAgents]:
        """The agents, for each extension."""
        return [each.agents for each in self._active()]

    def excluded_tools(self) -> tuple[str, ...]:
        """The names of tools that the model is not to have."""
        return tuple(name for each in self._active() for name in each.manifest.exclude_tools)

    def plan_directory(self) -> str | None:
        """The folder for plans of the first extension that names one."""
        found = (each.manifest.plan_directory for each in self._active())
        return next((folder for folder in found if folder is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """The parts of an open session that extensions change."""

    memory: ProjectMemory
    hooks: HookSystem | None
    agents: AgentRegistry
    servers: SessionServers
    rules: RuleBook
    reload_skills: Callable[[], None]


class SessionExtensions:
    """The extensions of one session.

    Methods that change an extension return when the session uses it as it is now.

    Args:
        store: the installed extensions.
        parts: what they change.
    """

    def __init__(self, store: ExtensionStore, parts: SessionParts) -> None:
        self.store = store
        self._parts = parts
        self.states: dict[str, UpdateState] = {}
        """What is known about new versions."""

    async def open(self) -> None:
        """Use the rules and start the servers of the active extensions."""
        for extension in self.store.active:
            await self._start(extension)

    async def set_enabled(self, name: str, scope: EnabledIn, *, on: bool) -> list[str]:
        """Enable or disable an extension; return its servers that this switched on again.

        Raises:
            ExtensionError, OSError, ValueError: it cannot be done; the message says why.
        """
        before = self.store.get(name)
        extension = self.store.set_enabled(name, scope, on=on)
        manager = self._parts.servers.manager
        again: list[str] = []
        if on and manager is not None:
            again = manager.enablement.switch_on(extension.mcp_servers)
        if before is not None and before.active != on:
            await self._changed((before,), (extension,))
        elif manager is not None:
            for server in again:
                await manager.restart_server(server)
        return again

    async def install(self, origin: Origin, consent: Consent) -> Extension:
        """Install an extension, and use it.

        Raises:
            ExtensionError, OSError: it cannot be installed; the message says why.
        """
        extension = await self.store.install(origin, consent)
        await self._changed((), (extension,))
        return extension

    async def update(self, name: str, consent: Consent) -> Updated:
        """Replace an extension by its newest version.

        Raises:
            ExtensionError, OSError: it cannot be updated; the message says why.
        """
        before = self.store.get(name)
        known = {each.name for each in self.store.extensions}
        self.states[name] = UpdateState.UPDATING
        try:
            updated = await self.store.update(name, consent)
        except BaseException:
            self.states[name] = UpdateState.ERROR
            raise
        self.states[name] = UpdateState.UPDATED
        now = [
            each for each in self.store.extensions if each.name == name or each.name not in known
        ]
        await self._changed((before,) if before else (), now)
        return updated

    async def uninstall(self, name: str) -> None:
        """Remove an extension.

        Raises:
            ExtensionError, OSError: it cannot be removed; the message says why.
        """
        extension = await self.store.uninstall(name)
        self.states.pop(extension.name, None)
        await self._changed((extension,), ())

    async def restart(self, name: str) -> None:
        """Read an extension again, and use it as it is now.

        Raises:
            ExtensionError: it cannot be read any more.
        """
        before = self.store.get(name)
        extension = self.store.reload(name)
        await self._changed((before,) if before else (), (extension,))

    async def look_for_updates(self) -> list[str]:
        """Ask for each extension whether there is a newer version; return those with one."""
        for extension in self.store.extensions:
            if self.states.get(extension.name) in (None, UpdateState.UNKNOWN):
                self.states[extension.name] = UpdateState.CHECKING
                self.states[extension.name] = await self.store.update_state(extension.name)
        return [
            each.name
            for each in self.store.extensions
            if self.states.get(each.name) is UpdateState.AVAILABLE
        ]

    async def _changed(self, before: Iterable[Extension], now: Iterable[Extension]) -> None:
        for extension in before:
            if extension.active:
                await self._stop(extension)
        for extension in now:
            if extension.active:
                await self._start(extension)
        self._parts.memory.reload()
        if self._parts.hooks is not None:
            self._parts.hooks.reload()
        await self._parts.agents.reload()
        self._parts.reload_skills()

    async def _start(self, extension: Extension) -> None:
        self._parts.rules.add(extension.rules, extension.checkers)
        if extension.mcp_servers:
            await self._parts.servers.start_extension(
                extension.name, extension.mcp_servers, extension.environment
            )

    async def _stop(self, extension: Extension) -> None:
        sources = {rule.source for rule in extension.rules}
        sources |= {checker.source for checker in extension.checkers}
        for source in sources - {None}:
            self._parts.rules.remove_source(str(source))
        await self._parts.servers.stop_extension(extension.name)
