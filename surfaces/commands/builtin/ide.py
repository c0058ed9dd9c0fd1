"""`/ide`: the companion of the user's IDE. Source: `packages/cli` `ui/commands/ideCommand.ts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from services.ide.companion import CompanionStatus, IdeCompanion
from services.ide.context import OpenFile
from services.ide.installing import InstallError, install_companion
from surfaces.commands.builtin.words import needs_subcommand
from surfaces.commands.contract import CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["IDE", "open_file_lines"]

_SETTING: Final = "ide.enabled"
_UNSUPPORTED: Final = (
    "IDE integration is not supported in your current environment. To use this feature, run Gemini "
    "CLI in one of these supported IDEs: Antigravity, VS Code, or VS Code forks."
)
_NOT_ENABLED: Final = (
    "Failed to automatically enable IDE integration. To fix this, run the CLI in a new terminal "
    "window."
)
_ATTEMPTS: Final = 10
_PAUSE_MS: Final = 500
_LIMITED: Final = (
    "(Note: The file list is limited to a number of recently accessed files within your workspace "
    "and only includes local files on disk)"
)


async def _companion(context: CommandContext) -> IdeCompanion:
    """The session's companion.

    Raises:
        CommandError: no supported IDE runs this terminal.
    """
    companion = context.services.ide
    if companion.ide is None and await companion.find_ide() is None:
        raise CommandError(_UNSUPPORTED)
    return companion


async def _needs_word(context: CommandContext) -> Result:
    await _companion(context)
    return needs_subcommand("ide", _SUBCOMMANDS)


async def _install(context: CommandContext) -> Result:
    companion = await _companion(context)
    ide, services = companion.ide, context.services
    assert ide is not None
    context.info("Installing IDE companion...")
    home, clock = services.workspace.home, services.clock
    try:
        context.info(await install_companion(ide, services.environment, home, clock))
    except InstallError as error:
        raise CommandError(str(error)) from error
    await _keep(context, True)
    companion.enabled = True
    for _ in range(_ATTEMPTS):
        await companion.connect()
        if companion.status is CompanionStatus.CONNECTED:
            return _state(companion)
        await clock.sleep(_PAUSE_MS)
    raise CommandError(_NOT_ENABLED)


async def _status(context: CommandContext) -> Result:
    return _state(await _companion(context), with_files=True)


async def _enable(context: CommandContext) -> Result:
    companion = await _companion(context)
    await _keep(context, True)
    companion.enabled = True
    await companion.connect()
    return _state(companion)


async def _disable(context: CommandContext) -> Result:
    companion = await _companion(context)
    await _keep(context, False)
    companion.enabled = False
    await companion.disconnect()
    return _state(companion)


async def _keep(context: CommandContext, enabled: bool) -> None:
    if context.session.preferences is not None:
        await context.session.preferences.save(_SETTING, enabled)


def _state(companion: IdeCompanion, *, with_files: bool = False) -> Item:
    if companion.status is CompanionStatus.CONNECTING:
        return Item(kind=ItemKind.INFO, text="🟡 Connecting...")
    if companion.status is CompanionStatus.DISCONNECTED:
        why = f": {companion.details}" if companion.details else ""
        return Item(kind=ItemKind.ERROR, text=f"🔴 Disconnected{why}")
    name = companion.ide.display_name if companion.ide else "IDE"
    files = companion.context.present.files if companion.context.present else ()
    listed = _listed(files) if with_files and files else ""
    return Item(kind=ItemKind.INFO, text=f"🟢 Connected to {name}{listed}")


def _listed(files: Sequence[OpenFile]) -> str:
    lines = [f"  - {line}" for line in open_file_lines(files)]
    return "\n".join(["\n\nOpen files:", *lines, "", _LIMITED])


def open_file_lines(files: Sequence[OpenFile]) -> list[str]:
    """A line for each open file: its name, with its folder where two have the same name."""
    names = [PurePath(file.path).name for file in files]
    count = Counter(names)
    lines = []
    for file, name in zip(files, names, strict=True):
        shown = f"{name} (/{PurePath(file.path).parent.name})" if count[name] > 1 else name
        lines.append(f"{shown}{' (active)' if file.active else ''}")
    return lines


_SUBCOMMANDS: Final = (
    SlashCommand(
        name="enable",
        description="Enable IDE integration",
        runs_at_once=True,
        action=_enable,
    ),
    SlashCommand(
        name="disable",
        description="Disable IDE integration",
        runs_at_once=True,
        action=_disable,
    ),
    SlashCommand(
        name="status",
        description="Check status of IDE integration",
        runs_at_once=True,
        action=_status,
    ),
    SlashCommand(
        name="install",
        description="Install the companion into the IDE",
        runs_at_once=True,
        action=_install,
    ),
)
IDE: Final = SlashCommand(
    name="ide",
    description="Manage IDE integration",
    action=_needs_word,
    subcommands=_SUBCOMMANDS,
)
