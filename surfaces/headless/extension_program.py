"""`ExtensionProgram`: extensions on the command line.

Source: `packages/cli` `commands/extensions/*.ts`, `config/extension-manager.ts` (`toOutputString`).
"""

from __future__ import annotations

import asyncio
import getpass
import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, TextIO

from services.extensions.configuring import Configuring, configured_extensions
from services.extensions.consent import INSTALL_WARNING
from services.extensions.extension import Extension
from services.extensions.manifest import (
    MANIFEST_FILE,
    DeclaredSetting,
    ExtensionError,
    context_file,
    read_manifest,
)
from services.extensions.origins import InstallType, Origin, origin_of
from services.extensions.store import EnabledIn, ExtensionStore, UpdateState
from services.extensions.values import SettingScope
from services.folder_trust import TrustedFolders
from services.interaction.questions import TrustChoice
from services.mcp.enablement import ServerEnablement
from services.wire import js_json_pretty
from surfaces.commands.extension_data import NO_EXTENSIONS, extension_data
from surfaces.headless.extensions import extension_plan, open_store, trusts_folder
from surfaces.headless.machine import Machine
from surfaces.headless.streams import Streams, strip_ansi

__all__ = ["ExtensionProgram"]

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?")
_SCOPES: Final = {"user": EnabledIn.USER, "workspace": EnabledIn.WORKSPACE}
_UNTRUSTED: Final = """
Do you trust the files in this folder?

The extension source at "{source}" is not trusted.

Trusting a folder allows its local configurations to be loaded,
including custom commands, hooks, MCP servers, agent skills, and
settings. These configurations could execute code on your behalf or
change the behavior of the program.

Do you want to trust this folder and continue with the installation? [y/N]: """
_OFF: Final = (
    "Extension configuration is currently disabled. Enable it by setting "
    '"experimental.extensionConfig" to true.'
)


class ExtensionProgram:
    """What `parity agent extensions` does.

    Methods raise `ExtensionError`, `OSError` or `ValueError` with a message for the user,
    `FatalConfigError` for settings that cannot be used, and `OutputClosed` when the reader of the
    output has left.

    Args:
        machine: the folder and its user.
        stdin: has the answers of the user.
        streams: where the output goes.
    """

    def __init__(self, machine: Machine, stdin: TextIO, streams: Streams) -> None:
        self._machine = machine
        self._stdin = stdin
        self._streams = streams

    @cached_property
    def _store(self) -> ExtensionStore:
        return open_store(self._machine, self._streams)

    # ------------------------------------------------------------------ installing

    def install(
        self,
        source: str,
        *,
        ref: str | None,
        auto_update: bool,
        pre_release: bool,
        consent: bool,
        skip_settings: bool,
    ) -> None:
        """Install an extension from a repository or a folder."""
        root = self._machine.workspace.root
        origin = origin_of(
            source, root, ref=ref, auto_update=auto_update, allow_pre_release=pre_release
        )
        if not origin.is_remote:
            self._trust(Path(origin.source))
        extension = self._installed(origin, consent=consent, skip_settings=skip_settings)
        self._say(f'Extension "{extension.name}" installed successfully and enabled.')

    def link(self, path: str, *, consent: bool) -> None:
        """Use an extension where it is."""
        folder = self._machine.workspace.root / path
        origin = Origin(source=str(folder), type=InstallType.LINK)
        extension = self._installed(origin, consent=consent, skip_settings=False)
        self._say(f'Extension "{extension.name}" linked successfully and enabled.')

    def _trust(self, folder: Path) -> None:
        if extension_plan(self._machine).folder_trusted or trusts_folder(self._machine, folder):
            return
        if not self._asked(_UNTRUSTED.format(source=folder), default=False):
            raise ExtensionError(f'Installation aborted: Folder "{folder}" is not trusted.')
        home = self._machine.workspace.home
        TrustedFolders(home).remember(folder.resolve(), TrustChoice.TRUST_FOLDER)

    def _installed(self, origin: Origin, *, consent: bool, skip_settings: bool) -> Extension:
        if consent:
            self._say("You have consented to the following:")
            self._say(INSTALL_WARNING)

        async def agreed(_: str) -> bool:
            return True

        return asyncio.run(
            self._store.install(
                origin,
                agreed if consent else self._consents,
                configure=None if skip_settings else self._configuring(SettingScope.USER).missing,
            )
        )

    def uninstall(self, names: Sequence[str], *, every: bool) -> bool:
        """Remove extensions; return whether all of them are removed."""
        wanted = list(dict.fromkeys(names))
        if every:
            wanted = [each.name for each in self._store.extensions]
            if not wanted:
                self._say("No extensions currently installed.")
        failed = []
        for name in wanted:
            try:
                asyncio.run(self._store.uninstall(name))
            except (ExtensionError, OSError) as error:
                failed.append(f'Failed to uninstall "{name}": {error}')
            else:
                self._say(f'Extension "{name}" successfully uninstalled.')
        for line in failed:
            self._streams.report(line)
        return not failed

    def update(self, name: str | None) -> None:
        """Update one extension, or with `None` all of them."""
        if name is not None and self._store.get(name) is None:
            installed = [f"{each.name} ({each.version})" for each in self._store.extensions]
            known = "\n".join(["Installed extensions:", *installed]) if installed else NO_EXTENSIONS
            raise ExtensionError(f'Extension "{name}" not found.\n\n{known}')
        asyncio.run(self._update(name))

    async def _update(self, name: str | None) -> None:
        names = [each.name for each in self._store.extensions] if name is None else [name]
        updated = False
        for each in names:
            state = await self._store.update_state(each)
            if state is not UpdateState.AVAILABLE:
                continue
            configure = self._configuring(SettingScope.USER).missing
            try:
                done = await self._store.update(each, self._consents, configure=configure)
            except (ExtensionError, OSError, ValueError) as error:
                if name is not None:
                    raise
                self._streams.report(f'Extension "{each}" cannot be updated: {error}')
                continue
            updated = True
            self._say(done.message)
        if not updated:
            nothing = f'Extension "{name}" is already up to date.'
            self._say("No extensions to update." if name is None else nothing)

    # ------------------------------------------------------------------ enabling, listing

    def set_enabled(self, name: str, scope: str | None, *, on: bool) -> None:
        """Enable or disable an extension."""
        extension = self._store.set_enabled(name, _SCOPES[scope or "user"], on=on)
        if on and extension.mcp_servers:
            home = self._machine.workspace.home
            switches = ServerEnablement(home, report=self._streams.report)
            for server in switches.switch_on(extension.mcp_servers):
                self._say(f"MCP server '{server}' was disabled - now enabled.")
        where = "in all scopes" if on and scope is None else f'for scope "{scope or "User"}"'
        self._say(f'Extension "{name}" successfully {"en" if on else "dis"}abled {where}.')

    def list(self, *, as_json: bool) -> None:
        """Write what is installed."""
        extensions = self._store.extensions
        if as_json:
            self._say(js_json_pretty(extension_data(extensions) if extensions else []))
        elif not extensions:
            self._say(NO_EXTENSIONS)
        else:
            self._say("\n\n".join("\n".join(self._lines(each)) for each in extensions))

    def _lines(self, extension: Extension) -> Iterable[str]:
        name, origin = extension.name, extension.origin
        user = self._store.is_enabled(name, EnabledIn.USER)
        here = self._store.is_enabled(name, EnabledIn.WORKSPACE)
        yield f"{chr(0x2713) if here else chr(0x2717)} {name} ({extension.version})"
        yield f" ID: {extension.id}"
        yield f" Path: {extension.folder}"
        if origin is not None:
            yield f" Source: {origin.source} (Type: {origin.type})"
            yield from [f" Ref: {origin.ref}"] if origin.ref else []
            yield from [f" Release tag: {origin.release_tag}"] if origin.release_tag else []
        yield f" Enabled (User): {json.dumps(user)}"
        yield f" Enabled (Workspace): {json.dumps(here)}"
        sections = {
            "Context files": map(str, extension.context_files),
            "MCP servers": extension.mcp_servers,
            "Excluded tools": extension.manifest.exclude_tools,
            "Agent skills": (f"{each.name}: {each.description}" for each in extension.skills),
            "Settings": (each.line for each in extension.values),
        }
        for title, found in sections.items():
            lines = [f"  {line}" for line in found]
            yield from [f" {title}:", *lines] if lines else []

    # ------------------------------------------------------------------ authors

    def new(self, path: str) -> None:
        """Begin an extension in a new folder."""
        folder = self._machine.workspace.root / path
        if folder.exists():
            raise ExtensionError(f"Path already exists: {path}")
        folder.mkdir(parents=True)
        manifest = {"name": folder.name, "version": "1.0.0"}
        (folder / MANIFEST_FILE).write_text(js_json_pretty(manifest), encoding="utf-8")
        self._say(f"Successfully created new extension at {path}.")
        self._say(f'You can install this using "parity agent extensions link {path}".')

    def validate(self, path: str) -> bool:
        """Look for mistakes in an extension; return whether there are none."""
        root = self._machine.workspace.root
        folder = root / path
        manifest = read_manifest(folder, root)
        problems, missing = [], []
        for name in manifest.context_file_names:
            try:
                file = context_file(name, folder)
            except ExtensionError as error:
                problems.append(f'Invalid context file path: "{name}". {error}')
                continue
            missing += [] if file.exists() else [name]
        if missing:
            problems.append(
                f"The following context files referenced in {MANIFEST_FILE} are missing: "
                f"{','.join(missing)}"
            )
        if _VERSION.fullmatch(manifest.version) is None:
            self._streams.report(
                f"Validation warnings:\n  - Warning: Version '{manifest.version}' does not appear "
                "to be standard semver (e.g., 1.0.0)."
            )
        if problems:
            listed = "\n".join(f"  - {problem}" for problem in problems)
            self._streams.report(f"Validation failed with the following errors:\n{listed}")
            self._streams.report("Extension validation failed.")
            return False
        self._say(f"Extension {path} has been successfully validated.")
        return True

    # ------------------------------------------------------------------ values

    def configure(self, name: str | None, setting: str | None, scope: str) -> None:
        """Ask for the values of settings."""
        if not extension_plan(self._machine).settings.extension_config:
            raise ExtensionError(_OFF)
        asking = self._configuring(SettingScope(scope))
        if name is None:
            extensions = configured_extensions(self._store.extensions)
            if not extensions:
                self._say("No extensions with settings are installed.")
        else:
            extension = self._store.get(name)
            if extension is None:
                raise ExtensionError(f'Extension "{name}" is not installed.')
            extensions = [extension]
        for each in extensions:
            asyncio.run(asking.every(each) if setting is None else asking.one(each, setting))

    def _configuring(self, scope: SettingScope) -> Configuring:
        return Configuring(
            values=self._store.values,
            scope=scope,
            ask=self._value,
            confirm=self._confirmed,
            say=self._say,
        )

    async def _value(self, setting: DeclaredSetting) -> str | None:
        self._say(f"{setting.name}\n{setting.description}")
        if setting.sensitive and self._stdin.isatty():
            return getpass.getpass(f"{setting.variable}: ")
        self._streams.write(f"{setting.variable}: ")
        line = await asyncio.to_thread(self._stdin.readline)
        return line.rstrip("\r\n") if line else None

    async def _confirmed(self, question: str) -> bool:
        return await asyncio.to_thread(self._asked, f"{question} [Y/n]: ", default=True)

    # ------------------------------------------------------------------ the user

    async def _consents(self, text: str) -> bool:
        self._say(text)
        return await self._confirmed("Do you want to continue?")

    def _asked(self, question: str, *, default: bool) -> bool:
        """The answer to a question. No further input is a no."""
        self._streams.write(_plain(question))
        line = self._stdin.readline()
        answer = line.strip().lower()
        return answer in ("y", "yes") or bool(line and not answer and default)

    def _say(self, text: str) -> None:
        self._streams.write(f"{_plain(text)}\n")


def _plain(text: str) -> str:
    """`text` as it may be written: an extension's author could write sequences for a terminal."""
    return _CONTROLS.sub("", strip_ansi(text))
