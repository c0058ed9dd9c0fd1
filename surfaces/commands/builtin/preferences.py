"""`/settings`, and the commands that only open a dialog of the surface.

Source: `packages/cli` `ui/commands/settingsCommand.ts`, `themeCommand.ts`, `editorCommand.ts`,
`vimCommand.ts`, `authCommand.ts`, `permissionsCommand.ts`,
`shortcutsCommand.ts`. `/settings list` and `/settings get` are our own, for surfaces without the
dialog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from services.wire import js_json
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import Dialog, Item, ItemKind, OpenDialog, Result

__all__ = ["AUTH", "EDITOR", "PERMISSIONS", "SETTINGS", "SHORTCUTS", "THEME", "VIM"]

_SECRET: Final = frozenset({"env", "headers"})
_SECRET_WORDS: Final = ("secret", "token", "password", "apikey", "api_key", "credential")


def setting_lines(value: Any, path: str = "") -> Iterable[str]:
    """A line for each value of a settings document; those that may be secrets are hidden."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            below = f"{path}.{key}" if path else str(key)
            if _is_secret(str(key)):
                yield f"{below}: [hidden]"
            else:
                yield from setting_lines(inner, below)
    else:
        yield f"{path}: {js_json(value)}"


def _is_secret(key: str) -> bool:
    return key in _SECRET or any(word in key.lower() for word in _SECRET_WORDS)


async def _list_settings(context: CommandContext) -> None:
    document = context.session.settings
    context.panel("\n".join(setting_lines(document)) if document else "No settings are set.")


async def _get_setting(context: CommandContext) -> Result:
    if not context.args:
        raise CommandError("Please name a setting. Usage: /settings get <key>")
    found: Any = context.session.settings
    for key in context.args.split("."):
        if not isinstance(found, Mapping) or key not in found:
            text = f"{context.args} is not set: its default is in force."
            return Item(kind=ItemKind.INFO, text=text)
        found = "[hidden]" if _is_secret(key) else found[key]
        if found == "[hidden]":
            break
    return Item(kind=ItemKind.INFO, text="\n".join(setting_lines(found, context.args)))


async def _open(context: CommandContext, dialog: Dialog) -> Result:
    return OpenDialog(dialog=dialog)


async def _trust(context: CommandContext) -> Result:
    """The dialog's details: `folder`, the folder whose trust it sets."""
    folder = user_path(context, context.args or ".")
    if not folder.exists():
        raise CommandError(f"Error accessing path: {folder}. There is no such directory.")
    if not folder.is_dir():
        raise CommandError(f"Path is not a directory: {folder}")
    return OpenDialog(dialog=Dialog.PERMISSIONS, details={"folder": folder})


async def _permissions(context: CommandContext) -> Result:
    usage = "Usage: /permissions trust [<directory-path>]"
    if not context.args:
        raise CommandError(f"Please provide a subcommand for /permissions. {usage}")
    word = context.args.split()[0]
    raise CommandError(f"Invalid subcommand for /permissions: {word}. {usage}")


def _opens(
    name: str,
    description: str,
    dialog: Dialog,
    *,
    aliases: tuple[str, ...] = (),
    concurrent: bool = False,
) -> SlashCommand:
    return SlashCommand(
        name=name,
        aliases=aliases,
        description=description,
        runs_at_once=True,
        concurrent=concurrent,
        needs=dialog,
        action=partial(_open, dialog=dialog),
    )


SETTINGS: Final = SlashCommand(
    name="settings",
    description="View and edit settings",
    action=partial(_open, dialog=Dialog.SETTINGS),
    subcommands=(
        SlashCommand(
            name="list",
            description="List the settings in force that are not defaults",
            runs_at_once=True,
            takes_args=False,
            action=_list_settings,
        ),
        SlashCommand(
            name="get",
            description="Show one setting. Usage: /settings get <key>",
            arguments=(Argument(name="key", description="Its dotted name", required=True),),
            action=_get_setting,
        ),
    ),
)
THEME: Final = _opens("theme", "Change the theme", Dialog.THEME)
EDITOR: Final = _opens("editor", "Set external editor preference", Dialog.EDITOR)
VIM: Final = _opens("vim", "Toggle vim mode on/off", Dialog.VIM, concurrent=True)
SHORTCUTS: Final = _opens(
    "shortcuts", "Toggle the shortcuts panel above the input", Dialog.SHORTCUTS
)
AUTH: Final = SlashCommand(
    name="auth",
    description="Manage authentication",
    action=partial(_open, dialog=Dialog.AUTH),
    needs=Dialog.AUTH,
    subcommands=(
        _opens(
            "signin",
            "Sign in or change the authentication method",
            Dialog.AUTH,
            aliases=("login",),
        ),
        _opens(
            "signout",
            "Sign out and clear all cached credentials",
            Dialog.LOGOUT,
            aliases=("logout",),
        ),
    ),
)
PERMISSIONS: Final = SlashCommand(
    name="permissions",
    description="Manage folder trust settings and other permissions",
    action=_permissions,
    needs=Dialog.PERMISSIONS,
    subcommands=(
        SlashCommand(
            name="trust",
            description=(
                "Manage folder trust settings. Usage: /permissions trust [<directory-path>]"
            ),
            arguments=(
                Argument(name="directory-path", description="The folder; the workspace without"),
            ),
            action=_trust,
            needs=Dialog.PERMISSIONS,
        ),
    ),
)
