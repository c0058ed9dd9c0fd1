"""The commands of an ACP session that manage extensions.

Source: `packages/cli` `acp/commands/extensions.ts`. There, an update needs a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final

from services.extensions.live import SessionExtensions
from services.extensions.manifest import ExtensionError
from services.extensions.origins import InstallType, Origin, origin_of
from services.extensions.store import EnabledIn, UpdateState
from services.wire import js_json_pretty
from services.workspace import Workspace
from surfaces.commands import CommandError
from surfaces.commands.extension_data import NO_EXTENSIONS, extension_data

__all__ = ["ExtensionCommands", "Run", "Words"]

_GALLERY: Final = "https://geminicli.com/extensions/"
_ALL: Final = "--all"
_NOT_IN_SOURCES: Final = re.compile(r"[;&|`'\"]")
_SCOPES: Final = ("user", "workspace", "session")
_FAILURES: Final = (ExtensionError, CommandError, OSError, ValueError)

Words = Sequence[str]
Run = Callable[[Words], Awaitable[str]]
Consent = Callable[[str], Awaitable[bool]]


class ExtensionCommands:
    """What `/extensions` does in one session.

    Args:
        extensions: of the session.
        workspace: where paths begin.
        consent: asks the user of the client.
        changed: called after each change.
    """

    def __init__(
        self,
        extensions: SessionExtensions,
        workspace: Workspace,
        consent: Consent,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._extensions = extensions
        self._store = extensions.store
        self._workspace = workspace
        self._consent = consent
        self._changed = changed

    def all(self) -> Iterable[tuple[str, str, Run]]:
        """The names, descriptions and actions."""
        yield "extensions", "Manage extensions.", self._list
        yield "extensions list", "Lists all installed extensions.", self._list
        yield "extensions explore", "Explore available extensions.", _explore
        yield "extensions enable", "Enable an extension.", partial(self._enable, on=True)
        yield "extensions disable", "Disable an extension.", partial(self._enable, on=False)
        about = "Install an extension from a git repo or local path."
        yield "extensions install", about, self._install
        yield "extensions link", "Link an extension from a local path.", self._link
        yield "extensions uninstall", "Uninstall an extension.", self._uninstall
        yield "extensions restart", "Restart an extension.", self._restart
        yield "extensions update", "Update an extension.", self._update

    async def _list(self, _: Words) -> str:
        data = extension_data(self._store.extensions)
        return data if isinstance(data, str) else js_json_pretty(data)

    async def _enable(self, words: Words, *, on: bool) -> str:
        verb = "enable" if on else "disable"
        if not words:
            return f"Usage: /extensions {verb} <extension> [--scope=<user|workspace|session>]"
        scope = EnabledIn.USER
        if "--scope=workspace" in words or "workspace" in words:
            scope = EnabledIn.WORKSPACE
        elif "--scope=session" in words or "session" in words:
            scope = EnabledIn.SESSION
        named = [word for word in words if not word.startswith("--scope") and word not in _SCOPES]
        if not named:
            return "No extension name provided."
        names = named[:1]
        if names == [_ALL]:
            names = [each.name for each in self._store.extensions if each.active is not on]
        said: list[str] = []
        for name in names:
            try:
                again = await self._extensions.set_enabled(name, scope, on=on)
            except _FAILURES as error:
                said.append(f'Failed to {verb} "{name}": {error}')
                continue
            said.append(f'Extension "{name}" {verb}d for scope "{scope}".')
            said += [f"Re-enabled MCP servers: {', '.join(again)}"] if again else []
        await self._changed()
        return "\n".join(said) or "No action taken."

    async def _install(self, words: Words) -> str:
        source = " ".join(words)
        if not source:
            return "Usage: /extensions install <source>"
        if _NOT_IN_SOURCES.search(source):
            return "Invalid source: contains disallowed characters."
        try:
            origin = origin_of(source, self._workspace.root)
            extension = await self._extensions.install(origin, self._consent)
        except _FAILURES as error:
            return f'Failed to install extension from "{source}": {error}'
        await self._changed()
        return f'Extension "{extension.name}" installed successfully.'

    async def _link(self, words: Words) -> str:
        source = " ".join(words)
        if not source:
            return "Usage: /extensions link <source>"
        folder = self._workspace.root / source
        if not folder.exists():
            return f"Invalid source: {source}"
        try:
            origin = Origin(source=str(folder), type=InstallType.LINK)
            extension = await self._extensions.install(origin, self._consent)
        except _FAILURES as error:
            return f"Failed to link extension: {error}"
        await self._changed()
        return f'Extension "{extension.name}" linked successfully.'

    async def _uninstall(self, words: Words) -> str:
        names = [word for word in words if not word.startswith("--")]
        if _ALL in words:
            names = [each.name for each in self._store.extensions]
            if not names:
                return NO_EXTENSIONS
        if not names:
            return "Usage: /extensions uninstall <extension-names...>|--all"
        said = []
        for name in names:
            try:
                await self._extensions.uninstall(name)
            except _FAILURES as error:
                said.append(f'Failed to uninstall extension "{name}": {error}')
            else:
                said.append(f'Extension "{name}" uninstalled successfully.')
        await self._changed()
        return "\n".join(said)

    async def _restart(self, words: Words) -> str:
        if not words:
            return "Usage: /extensions restart <extension-names>|--all"
        names = [each.name for each in self._store.active if _ALL in words or each.name in words]
        if not names:
            return "No active extensions matched the request."
        said = []
        for name in names:
            try:
                await self._extensions.restart(name)
            except _FAILURES as error:
                said.append(f'Failed to restart "{name}": {error}')
            else:
                said.append(f'Restarted "{name}".')
        await self._changed()
        return "\n".join(said)

    async def _update(self, words: Words) -> str:
        if not words:
            return "Usage: /extensions update <extension-names>|--all"
        said = []
        for name in [each.name for each in self._store.extensions]:
            if _ALL not in words and name not in words:
                continue
            if await self._store.update_state(name) is not UpdateState.AVAILABLE:
                continue
            try:
                done = await self._extensions.update(name, self._consent)
            except _FAILURES as error:
                said.append(f'Failed to update "{name}": {error}')
            else:
                said.append(done.message)
        await self._changed()
        return "\n".join(said) or "No extensions to update."


async def _explore(_: Words) -> str:
    return f"View or install available extensions at {_GALLERY}"
