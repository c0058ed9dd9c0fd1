"""`/extensions`: what is installed, and its management.

Source: `packages/cli` `ui/commands/extensionsCommand.ts`, `ui/components/views/ExtensionsList.tsx`,
`ui/hooks/useExtensionUpdates.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from services.browser import can_open_browser, open_browser
from services.extensions.extension import Extension
from services.extensions.live import SessionExtensions
from services.extensions.manifest import ExtensionError
from services.extensions.origins import InstallType, Origin, origin_of
from services.extensions.store import EnabledIn, UpdateState
from surfaces.commands.builtin.extension_settings import CONFIG
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["EXTENSIONS", "GALLERY", "extension_lines"]

GALLERY: Final = "https://geminicli.com/extensions/"
_NONE: Final = "No extensions installed. Run `/extensions explore` to check out the gallery."
_NOT_IN_PATHS: Final = re.compile(r"[;&|`'\"]")
_ALL: Final = "--all"
_SCOPES: Final = {scope.value.lower(): scope for scope in EnabledIn}
_FAILURES: Final = (ExtensionError, CommandError, OSError, ValueError)


def _extensions(context: CommandContext) -> SessionExtensions:
    return context.services.extensions


def _info(text: str) -> Item:
    return Item(kind=ItemKind.INFO, text=text)


async def _changed(context: CommandContext) -> None:
    """Find the commands anew: an extension's have come or gone."""
    if context.reload is not None:
        await context.reload()


async def _list(context: CommandContext) -> Result:
    extensions = _extensions(context)
    if not extensions.store.extensions:
        return _info(_NONE)
    context.panel("\n".join(extension_lines(extensions)))
    return None


def extension_lines(extensions: SessionExtensions) -> Iterable[str]:
    """The installed extensions, with their state and the values of their settings."""
    yield "Installed extensions:"
    for each in extensions.store.extensions:
        active = "active" if each.active else "disabled"
        state = extensions.states.get(each.name, UpdateState.UNKNOWN)
        yield f"  {each.name} (v{each.version}) - {active} ({state})"
        if each.values:
            yield "    settings:"
        yield from (f"    - {value.line}" for value in each.values)


async def _explore(context: CommandContext) -> Result:
    services = context.services
    if not can_open_browser(services.environment):
        return _info(f"View available extensions at {GALLERY}")
    context.info(f"Opening extensions page in your browser: {GALLERY}")
    try:
        await open_browser(services.environment, services.workspace.home, GALLERY)
    except OSError as error:
        raise CommandError(
            f"Failed to open browser. Check out the extensions gallery at {GALLERY}"
        ) from error
    return None


# ------------------------------------------------------------------ update, reload


async def _update(context: CommandContext) -> Result:
    names = _several(context, "update <extension-names>|--all")
    extensions = _extensions(context)
    store = extensions.store
    if not store.extensions:
        return _info(_NONE)
    for name in names or ():
        if store.get(name) is None:
            context.error(f"Extension {name} not found.")
    updated = 0
    for each in store.extensions:
        if names is not None and each.name not in names:
            continue
        extensions.states[each.name] = await store.update_state(each.name)
        if extensions.states[each.name] is UpdateState.AVAILABLE:
            updated += await _updated(context, each)
    if not updated:
        context.info("No extensions to update.")
    context.panel("\n".join(extension_lines(extensions)))
    await _changed(context)
    return None


async def _updated(context: CommandContext, extension: Extension) -> bool:
    try:
        done = await _extensions(context).update(extension.name, context.consents)
    except _FAILURES as error:
        context.error(f"Extension {extension.name} cannot be updated: {error}")
        return False
    context.info(done.message)
    return True


async def _reload(context: CommandContext) -> Result:
    extensions = _extensions(context)
    if not extensions.store.extensions:
        return _info(_NONE)
    names = _several(context, "reload <extension-names>|--all")
    active = [each.name for each in extensions.store.active]
    wanted = active if names is None else [name for name in active if name in names]
    missing = [name for name in names or () if name not in active]
    if missing:
        listed = ", ".join(missing)
        text = f"Extension(s) not found or not active: {listed}"
        context.show(Item(kind=ItemKind.WARNING, text=text))
    if not wanted:
        return None
    s = "s" if len(wanted) > 1 else ""
    context.info(f"Reloading {len(wanted)} extension{s}...")
    failed = []
    for name in wanted:
        try:
            await extensions.restart(name)
        except _FAILURES as error:
            failed.append(f"{name}: {error}")
    await _changed(context)
    if failed:
        listed = "\n  ".join(failed)
        raise CommandError(f"Failed to reload some extensions:\n  {listed}")
    return _info(f"{len(wanted)} extension{s} reloaded successfully")


def _several(context: CommandContext, usage: str) -> list[str] | None:
    """The names that a command was given; `None` for all.

    Raises:
        CommandError: it was given none.
    """
    words = context.args.split()
    if not words:
        raise CommandError(f"Usage: /extensions {usage}")
    return None if words == [_ALL] else words


# ------------------------------------------------------------------ enable, disable


async def _set_enabled(context: CommandContext, *, on: bool) -> Result:
    verb = "enable" if on else "disable"
    names, scope = _enabled_in(context, verb)
    extensions = _extensions(context)
    if names is None:
        names = [each.name for each in extensions.store.extensions if each.active is not on]
    for name in names:
        try:
            again = await extensions.set_enabled(name, scope, on=on)
        except _FAILURES as error:
            raise CommandError(str(error)) from error
        context.info(f'Extension "{name}" {verb}d for the scope "{scope}"')
        if again:
            context.info(f"Re-enabled MCP servers: {', '.join(again)}")
    await _changed(context)
    return None


def _enabled_in(context: CommandContext, verb: str) -> tuple[list[str] | None, EnabledIn]:
    """The names and the scope of `enable` and `disable`; `None` for all names.

    Raises:
        CommandError: they are missing.
    """
    words = context.args.replace("--scope=", "--scope ").split()
    if len(words) != 3 or words[1] != "--scope":
        raise CommandError(
            f"Usage: /extensions {verb} <extension> [--scope=<user|workspace|session>]"
        )
    scope = _SCOPES.get(words[2].lower())
    if scope is None:
        raise CommandError(
            f'Unsupported scope {words[2]}, should be one of "user", "workspace", or "session"'
        )
    return None if words[0] == _ALL else [words[0]], scope


# ------------------------------------------------------------------ install, link, uninstall


async def _install(context: CommandContext) -> Result:
    source = context.args
    if not source:
        raise CommandError("Usage: /extensions install <source>")
    if not urlsplit(source).scheme and _NOT_IN_PATHS.search(source):
        raise CommandError(f"Invalid source: {source}")
    context.info(f'Installing extension from "{source}"...')
    try:
        origin = origin_of(source, context.services.workspace.root)
        if not origin.is_remote:
            origin = Origin(source=str(user_path(context, source)), type=origin.type)
        extension = await _extensions(context).install(origin, context.consents)
    except _FAILURES as error:
        raise CommandError(f'Failed to install extension from "{source}": {error}') from error
    await _changed(context)
    return _info(f'Extension "{extension.name}" installed successfully.')


async def _link(context: CommandContext) -> Result:
    source = context.args
    if not source:
        raise CommandError("Usage: /extensions link <source>")
    if _NOT_IN_PATHS.search(source):
        raise CommandError(f"Source file path contains disallowed characters: {source}")
    folder = user_path(context, source)
    if not folder.exists():
        raise CommandError(f"Invalid source: {source}")
    context.info(f'Linking extension from "{source}"...')
    try:
        origin = Origin(source=str(folder), type=InstallType.LINK)
        extension = await _extensions(context).install(origin, context.consents)
    except _FAILURES as error:
        raise CommandError(f'Failed to link extension from "{source}": {error}') from error
    await _changed(context)
    return _info(f'Extension "{extension.name}" linked successfully.')


async def _uninstall(context: CommandContext) -> Result:
    words = context.args.split()
    names = [word for word in words if not word.startswith("--")]
    if _ALL in words:
        names = [each.name for each in _extensions(context).store.extensions]
        if not names:
            return _info("No extensions installed.")
    if not names:
        raise CommandError("Usage: /extensions uninstall <extension-names...>|--all")
    for name in names:
        context.info(f'Uninstalling extension "{name}"...')
        try:
            await _extensions(context).uninstall(name)
        except _FAILURES as error:
            context.error(f'Failed to uninstall extension "{name}": {error}')
        else:
            context.info(f'Extension "{name}" uninstalled successfully.')
    await _changed(context)
    return None


# ------------------------------------------------------------------ completion


async def _complete(
    context: CommandContext, typed: str, *, active: bool | None = None, scopes: bool = False
) -> Sequence[str]:
    names = [
        each.name
        for each in _extensions(context).store.extensions
        if (active is None or each.active is active) and each.name.startswith(typed)
    ]
    if _ALL.startswith(typed) or _ALL.removeprefix("--").startswith(typed):
        names.insert(0, _ALL)
    if scopes:
        return [f"{name} --scope {scope}" for name in names for scope in _SCOPES]
    return names


_NAMES: Final = (
    Argument(name="names", description="Names of extensions, or --all", required=True),
)
_SCOPED: Final = (
    *_NAMES,
    Argument(name="scope", description="--scope user, workspace or session", required=True),
)
EXTENSIONS: Final = SlashCommand(
    name="extensions",
    description="Manage extensions",
    action=_list,
    subcommands=(
        SlashCommand(
            name="list",
            description="List active extensions",
            runs_at_once=True,
            takes_args=False,
            action=_list,
        ),
        SlashCommand(
            name="update",
            description="Update extensions. Usage: update <extension-names>|--all",
            arguments=_NAMES,
            action=_update,
            complete=_complete,
        ),
        SlashCommand(
            name="explore",
            description="Open extensions page in your browser",
            runs_at_once=True,
            takes_args=False,
            action=_explore,
        ),
        SlashCommand(
            name="reload",
            aliases=("restart",),
            description="Reload all extensions",
            arguments=_NAMES,
            action=_reload,
            complete=partial(_complete, active=True),
        ),
        SlashCommand(
            name="disable",
            description="Disable an extension",
            arguments=_SCOPED,
            action=partial(_set_enabled, on=False),
            complete=partial(_complete, active=True, scopes=True),
        ),
        SlashCommand(
            name="enable",
            description="Enable an extension",
            arguments=_SCOPED,
            action=partial(_set_enabled, on=True),
            complete=partial(_complete, active=False, scopes=True),
        ),
        SlashCommand(
            name="install",
            description="Install an extension from a git repo or local path",
            arguments=(
                Argument(name="source", description="A repository or a folder", required=True),
            ),
            action=_install,
        ),
        SlashCommand(
            name="uninstall",
            aliases=("delete",),
            description="Uninstall an extension",
            arguments=_NAMES,
            action=_uninstall,
            complete=_complete,
        ),
        SlashCommand(
            name="link",
            description="Link an extension from a local path",
            arguments=(Argument(name="path", description="The folder", required=True),),
            action=_link,
        ),
        CONFIG,
    ),
)
