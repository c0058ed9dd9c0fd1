"""Asking the user for the values of an extension's settings.

Source: `packages/cli` `commands/extensions/utils.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from services.extensions.extension import Extension
from services.extensions.manifest import DeclaredSetting, ExtensionError
from services.extensions.values import ExtensionValues, SettingScope

__all__ = ["Configuring", "configured_extensions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuring:
    """The user, and where the answers go."""

    values: ExtensionValues
    scope: SettingScope
    ask: Callable[[DeclaredSetting], Awaitable[str | None]]
    """Asks for a value; empty: it is removed, `None`: it stays."""
    confirm: Callable[[str], Awaitable[bool]]
    """Asks a question."""
    say: Callable[[str], None]
    """Shows a sentence."""

    async def one(self, extension: Extension, name: str) -> bool:
        """Ask for the setting called `name`, by its name or variable; return whether it changed.

        Raises:
            ExtensionError: there is no such setting, or the value cannot be kept.
        """
        settings = extension.manifest.settings
        if not settings:
            raise ExtensionError("This extension does not have any settings.")
        found = (each for each in settings if name in (each.name, each.variable))
        setting = next(found, None)
        if setting is None:
            raise ExtensionError(f"Setting {name} not found.")
        changed = await self._update(extension, setting)
        self.say(f'Setting "{name}" updated.')
        return changed

    async def every(self, extension: Extension) -> bool:
        """Ask for each setting of an extension; return whether one changed.

        Raises:
            ExtensionError: a value cannot be read or kept.
        """
        manifest = extension.manifest
        if not manifest.settings:
            self.say(f'Extension "{extension.name}" has no settings to configure.')
            return False
        self.say(f'Configuring settings for "{extension.name}"...')
        present = self.values.read(manifest, extension.id, self.scope)
        here: dict[str, str] = {}
        if self.scope is SettingScope.USER:
            here = self.values.read(manifest, extension.id, SettingScope.WORKSPACE)
        changed = False
        for setting in manifest.settings:
            if setting.variable in here:
                self.say(
                    f'Note: Setting "{setting.name}" is already configured in the workspace scope.'
                )
            question = f'Setting "{setting.name}" ({setting.variable}) is already set. Overwrite?'
            if setting.variable in present and not await self.confirm(question):
                continue
            changed = await self._update(extension, setting) or changed
        return changed

    async def missing(self, extension: Extension) -> None:
        """Ask for each setting that has no value.

        Raises:
            ExtensionError: a value cannot be kept.
        """
        for each in extension.values:
            if each.value is None:
                await self._update(extension, each.setting)

    async def _update(self, extension: Extension, setting: DeclaredSetting) -> bool:
        value = await self.ask(setting)
        if value is None:
            return False
        self.values.write(extension.manifest, extension.id, setting, value, self.scope)
        return True


def configured_extensions(extensions: Iterable[Extension]) -> list[Extension]:
    """The extensions that have settings."""
    return [each for each in extensions if each.manifest.settings]
