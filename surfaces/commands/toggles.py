"""Switching an agent, a skill or a hook on and off in the settings files.

Source: `packages/cli` `utils/featureToggleUtils.ts`, `agentSettings.ts`, `skillSettings.ts`,
`hookSettings.ts`, and `agentUtils.ts`, `skillUtils.ts`, `hookUtils.ts` for the words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from surfaces.commands.settings_files import Scope, SettingsFiles

__all__ = ["AGENTS", "HOOKS", "SKILLS", "Toggle", "switched_off", "switched_on"]


@dataclass(frozen=True, slots=True)
class Toggle(ABC):
    """Where the settings keep whether things of one kind are on."""

    noun: str
    """What such a thing is called: `Skill`."""
    key: str
    """The setting that keeps it."""
    workspace: str
    """What the workspace's settings are called."""
    by_on: str
    """How one is switched on, before the name of the settings."""
    by_off: str

    @abstractmethod
    def is_off(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        """Whether the file of `scope` switches `name` off."""

    @abstractmethod
    def is_on(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        """Whether the file of `scope` needs no change to have `name` on."""

    @abstractmethod
    async def write(self, files: SettingsFiles, scope: Scope, name: str, *, on: bool) -> None:
        """Switch `name` in the file of `scope`.

        Raises:
            CommandError: the file cannot be written.
        """


class _ListOfOff(Toggle):
    """Names in a list are off."""

    def is_off(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        return name in self._listed(files, scope)

    def is_on(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        return name not in self._listed(files, scope)

    async def write(self, files: SettingsFiles, scope: Scope, name: str, *, on: bool) -> None:
        others = [each for each in self._listed(files, scope) if each != name]
        await files.save(self.key, others if on else [*others, name], scope)

    def _listed(self, files: SettingsFiles, scope: Scope) -> list[Any]:
        listed = files.own(self.key, scope)
        return listed if isinstance(listed, list) else []


class _Overrides(Toggle):
    """Each name has an object with `enabled`."""

    def is_off(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        return self._enabled(files, scope, name) is False

    def is_on(self, files: SettingsFiles, scope: Scope, name: str) -> bool:
        return self._enabled(files, scope, name) is True

    async def write(self, files: SettingsFiles, scope: Scope, name: str, *, on: bool) -> None:
        await files.save(f"{self.key}.{name}.enabled", on, scope)

    def _enabled(self, files: SettingsFiles, scope: Scope, name: str) -> Any:
        return files.own(f"{self.key}.{name}.enabled", scope)


_FROM_LIST: Final = "by removing it from the disabled list in"
_TO_LIST: Final = "by adding it to the disabled list in"
AGENTS: Final[Toggle] = _Overrides(
    "Agent",
    "agents.overrides",
    "project",
    "by setting it to enabled in",
    "by setting it to disabled in",
)
SKILLS: Final[Toggle] = _ListOfOff("Skill", "skills.disabled", "workspace", _FROM_LIST, _TO_LIST)
HOOKS: Final[Toggle] = _ListOfOff("Hook", "hooksConfig.disabled", "workspace", _FROM_LIST, _TO_LIST)


async def switched_on(toggle: Toggle, files: SettingsFiles, name: str) -> tuple[bool, str]:
    """Switch `name` on in every settings file.

    Returns:
        Whether a file has changed, and a sentence for the user.

    Raises:
        CommandError: a file cannot be written.
    """
    off = [scope for scope in files.scopes if not toggle.is_on(files, scope, name)]
    if not off:
        return False, f'{toggle.noun} "{name}" is already enabled.'
    for scope in off:
        await toggle.write(files, scope, name, on=True)
    listed = [*off, *(scope for scope in files.scopes if scope not in off)]
    return True, _sentence(toggle, files, listed, name, on=True)


async def switched_off(toggle: Toggle, files: SettingsFiles, name: str) -> tuple[bool, str]:
    """Switch `name` off in the settings file that counts most.

    Returns:
        Whether the file has changed, and a sentence for the user.

    Raises:
        CommandError: the file cannot be written.
    """
    scope, *others = files.scopes
    if toggle.is_off(files, scope, name):
        return False, f'{toggle.noun} "{name}" is already disabled.'
    too = [each for each in others if toggle.is_off(files, each, name)]
    await toggle.write(files, scope, name, on=False)
    return True, _sentence(toggle, files, [scope, *too], name, on=False)


def _sentence(
    toggle: Toggle, files: SettingsFiles, scopes: Sequence[Scope], name: str, *, on: bool
) -> str:
    places = " and ".join(
        f"{toggle.workspace if scope is Scope.WORKSPACE else scope.lower()} ({files.file(scope)})"
        for scope in scopes
    )
    if not on and len(scopes) > 1:
        return f'{toggle.noun} "{name}" is now disabled in both {places} settings.'
    verb, how = ("enabled", toggle.by_on) if on else ("disabled", toggle.by_off)
    return f'{toggle.noun} "{name}" {verb} {how} {places} settings.'
