"""`/extensions config`: the values that extensions want from the user.

Source: `packages/cli` `ui/commands/extensionsCommand.ts` (`configAction`),
`ui/components/ConfigExtensionDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.extensions.configuring import Configuring, configured_extensions
from services.extensions.extension import Extension
from services.extensions.manifest import DeclaredSetting, ExtensionError
from services.extensions.values import SettingScope
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Dialog, OpenDialog, Result

__all__ = ["CONFIG", "ExtensionForm"]

_OFF: Final = (
    "Extension configuration is currently disabled. Enable it by setting "
    '"experimental.extensionConfig" to true.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionForm:
    """The questions of one `/extensions config`, for the surface that asks them."""

    context: CommandContext
    extensions: Sequence[Extension]
    setting: str | None
    """The name of the only setting."""
    scope: SettingScope

    async def fill(
        self,
        ask: Callable[[DeclaredSetting], Awaitable[str | None]],
        confirm: Callable[[str], Awaitable[bool]],
    ) -> None:
        """Ask for each value, and let the session use it.

        Args:
            ask: asks for a value; `None`: the user does not want to give it.
            confirm: asks whether to go on.

        Raises:
            CommandError: a value cannot be kept.
        """
        live = self.context.services.extensions
        asking = Configuring(
            values=live.store.values,
            scope=self.scope,
            ask=ask,
            confirm=confirm,
            say=self.context.info,
        )
        try:
            for extension in self.extensions:
                if self.setting is not None:
                    changed = await asking.one(extension, self.setting)
                else:
                    changed = await asking.every(extension)
                if changed:
                    await live.restart(extension.name)
        except ExtensionError as error:
            raise CommandError(str(error)) from error


async def _config(context: CommandContext) -> Result:
    """The dialog's details: `form`, an `ExtensionForm`."""
    if not context.services.settings.extension_config:
        raise CommandError(_OFF)
    words, scope = _scoped(context.args.split())
    store = context.services.extensions.store
    name, setting = (*words, None, None)[:2]
    if name is not None and ("/" in name or "\\" in name or ".." in name):
        raise CommandError('Invalid extension name. Names cannot contain path separators or "..".')
    if name is None:
        if not store.extensions:
            raise CommandError("No extensions installed.")
        extensions: Sequence[Extension] = configured_extensions(store.extensions)
    else:
        extension = store.get(name)
        if extension is None:
            raise CommandError(f'Extension "{name}" is not installed.')
        extensions = [extension]
    form = ExtensionForm(context=context, extensions=extensions, setting=setting, scope=scope)
    return OpenDialog(dialog=Dialog.EXTENSION_CONFIG, details={"form": form})


def _scoped(words: Sequence[str]) -> tuple[list[str], SettingScope]:
    """The words without the scope, and the scope."""
    text = " ".join(words).replace("--scope=", "--scope ")
    rest, scope = text.split(), SettingScope.USER
    if "--scope" in rest:
        place = rest.index("--scope")
        named = rest[place + 1 : place + 2]
        if named in ([SettingScope.USER], [SettingScope.WORKSPACE]):
            scope = SettingScope(named[0])
            del rest[place : place + 2]
    return rest, scope


async def _complete(context: CommandContext, typed: str) -> Sequence[str]:
    extensions = configured_extensions(context.services.extensions.store.extensions)
    return [each.name for each in extensions if each.name.startswith(typed)]


CONFIG: Final = SlashCommand(
    name="config",
    description="Configure extension settings",
    arguments=(
        Argument(name="extension", description="An extension's name"),
        Argument(name="setting", description="The name of one of its settings"),
        Argument(name="scope", description="--scope user or workspace"),
    ),
    action=_config,
    complete=_complete,
    needs=Dialog.EXTENSION_CONFIG,
)
