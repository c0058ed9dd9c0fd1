"""`ExtensionStore`: the extensions in `~/.gemini/extensions`, and what may be done with them.

Source: `packages/cli` `config/extension-manager.ts`, `config/extensions/update.ts`,
`config/extensions/storage.ts`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from services.clock import Clock
from services.environment import Environment
from services.extensions.allowing import is_allowed, refuse_source
from services.extensions.consent import extension_consent
from services.extensions.enablement import ExtensionEnablement
from services.extensions.extension import HOOKS_FILE, Extension, Reading, load_extension
from services.extensions.folders import copied, removed
from services.extensions.manifest import ExtensionError, Manifest, read_manifest
from services.extensions.origins import ORIGIN_FILE, InstallType, Origin
from services.extensions.repositories import Repositories
from services.extensions.values import ExtensionValues, SettingScope
from services.settings import Settings
from services.skills.loader import load_skills
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace

__all__ = ["Configure", "Consent", "EnabledIn", "ExtensionStore", "UpdateState", "Updated"]

logger = logging.getLogger(__name__)

Consent = Callable[[str], Awaitable[bool]]
"""Asks the user to agree to a text."""

Configure = Callable[[Extension], Awaitable[None]]
"""Asks the user for the values that an extension wants and does not have, and keeps them."""


class EnabledIn(StrEnum):
    """Where an extension is enabled or disabled; the values are the words of the messages."""

    USER = "User"
    WORKSPACE = "Workspace"
    SESSION = "Session"


class UpdateState(StrEnum):
    """Whether there is another version of an extension; the values are the words of the lists."""

    UNKNOWN = "unknown state"
    CHECKING = "checking for updates"
    AVAILABLE = "update available"
    UP_TO_DATE = "up to date"
    NOT_UPDATABLE = "not updatable"
    UPDATING = "updating"
    UPDATED = "updated"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """An extension that has been updated."""

    name: str
    before: str
    """Its version before."""
    now: str

    @property
    def message(self) -> str:
        """What happened, for the user."""
        words = f"successfully updated: {self.before} \u2192 {self.now}."
        return f'Extension "{self.name}" {words}'


class ExtensionStore:
    """The installed extensions of one user, as one workspace uses them.

    Args:
        workspace: has the home of the extensions, and the folder that decides what is enabled.
        settings: say which sources are allowed, and whether hooks and values are on.
        environment: has the variables that manifests name, and those of git.
        clock: stands still while git runs.
        events: receives warnings.
        only: the names of the only extensions to use; `none` alone for none.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        environment: Environment,
        clock: Clock,
        events: CoreEvents,
        *,
        only: Sequence[str] | None = None,
    ) -> None:
        self.folder = workspace.home / ".gemini" / "extensions"
        self.values = ExtensionValues(workspace.home, workspace.root)
        self._workspace = workspace
        self._settings = settings
        self._events = events
        self._repositories = Repositories(environment, clock)
        self._enablement = ExtensionEnablement(
            self.folder, only=only, report=lambda message: self._report("error", message)
        )
        self._reading = Reading(
            workspace=workspace.root,
            values=self.values,
            environment=environment.variables,
            trusted=settings.folder_trusted,
            hooks=settings.enable_hooks,
            configured=settings.extension_config,
        )
        self._loaded: dict[str, Extension] = {}

    # ------------------------------------------------------------------ what is there

    def load(self) -> None:
        """Read every installed extension; one that cannot be used is reported, and left out."""
        self._loaded = {}
        try:
            places = sorted(place for place in self.folder.iterdir() if place.is_dir())
        except FileNotFoundError:
            places = []
        except OSError as error:
            self._report("error", f"The extensions in {self.folder} cannot be read: {error}")
            places = []
        for place in places:
            try:
                self._take(place)
            except ExtensionError as error:
                self._report("warning", f"Skipping extension in {place}: {error}")
        for name in self._enablement.only:
            if name not in map(str.lower, self._loaded):
                self._report("error", f"Extension not found: {name}")

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """Every installed extension, by the name of its folder."""
        return tuple(self._loaded.values())

    @property
    def active(self) -> tuple[Extension, ...]:
        """The extensions that are enabled here."""
        return tuple(each for each in self._loaded.values() if each.active)

    def get(self, name: str) -> Extension | None:
        """The extension called `name`."""
        return self._loaded.get(name)

    def is_enabled(self, name: str, scope: EnabledIn) -> bool:
        """Whether an extension is enabled in the user's home, or in the workspace."""
        return self._enablement.is_enabled(name, self._scope_folder(scope))

    def _take(self, place: Path) -> Extension:
        extension = load_extension(place, self._reading)
        if not is_allowed(extension.origin, self._settings):
            raise ExtensionError("the settings do not allow its source")
        if extension.name in self._loaded:
            raise ExtensionError(f"Extension with name {extension.name} already was loaded.")
        here = self._enablement.is_enabled(extension.name, self._workspace.root)
        self._loaded[extension.name] = found = replace(extension, active=here)
        return found

    def _scope_folder(self, scope: EnabledIn) -> Path:
        return self._workspace.root if scope is EnabledIn.WORKSPACE else self._workspace.home

    def _report(self, severity: str, message: str) -> None:
        logger.warning("%s", message)
        self._events.emit(UserFeedback(severity=severity, message=message))

    # ------------------------------------------------------------------ enabling

    def set_enabled(self, name: str, scope: EnabledIn, *, on: bool) -> Extension:
        """Enable or disable an extension, for the session alone or in a scope.

        Raises:
            ExtensionError: there is no such extension, or the rules cannot be read.
            OSError: the rules cannot be written.
        """
        extension = self._known(name)
        if scope is not EnabledIn.SESSION:
            self._enablement.set_enabled(name, self._scope_folder(scope), on=on)
        self._loaded[name] = changed = replace(extension, active=on)
        return changed

    def _known(self, name: str) -> Extension:
        extension = self._loaded.get(name)
        if extension is None:
            raise ExtensionError(f"Extension with name {name} does not exist.")
        return extension

    # ------------------------------------------------------------------ installing

    async def install(
        self,
        origin: Origin,
        consent: Consent,
        *,
        trust: Consent | None = None,
        configure: Configure | None = None,
    ) -> Extension:
        """Install an extension, and enable it.

        Args:
            origin: where it comes from.
            consent: asks the user to agree to what it brings.
            trust: asks the user to trust an untrusted workspace; `None`: `consent` does.
            configure: asks for the values of its settings.

        Raises:
            ExtensionError: it cannot be installed, or the user does not agree.
            OSError: a file cannot be read or written.
        """
        refuse_source(origin, self._settings)
        if not self._settings.folder_trusted:
            root = self._workspace.root
            question = (
                f'The current workspace at "{root}" is not trusted. Do you want to trust this '
                "workspace to install extensions?"
            )
            if not await (trust or consent)(question):
                raise ExtensionError(
                    f"Could not install extension because the current workspace at {root} is not "
                    "trusted."
                )
        async with self._source(origin) as source:
            manifest = read_manifest(source, self._workspace.root)
            if manifest.name in self._loaded:
                raise ExtensionError(
                    f'Extension "{manifest.name}" is already installed. Please uninstall it first.'
                )
            await self._agree(manifest, source, consent, None)
            place = self.folder / manifest.name
            if place.exists():
                raise ExtensionError(
                    f'Cannot install extension "{manifest.name}" because a directory with that '
                    "name already exists. Please remove it manually."
                )
            extension = await self._put(origin, source, place)
        extension = await self._configured(extension, configure)
        self._warn_of_missing_values(extension)
        return self.set_enabled(extension.name, EnabledIn.USER, on=True)

    async def update(
        self, name: str, consent: Consent, *, configure: Configure | None = None
    ) -> Updated:
        """Replace an extension by its newest version.

        The old version stays where the new one cannot be installed. `configure` asks for the values
        of settings that have none.

        Raises:
            ExtensionError: it cannot be updated, or the user does not agree.
            OSError: a file cannot be read or written.
        """
        known = self._known(name)
        origin = known.origin
        if origin is None:
            raise ExtensionError(f"Extension {name} cannot be updated, type is unknown.")
        if origin.type is InstallType.LINK:
            raise ExtensionError("Extension is linked so does not need to be updated")
        if known.manifest.migrated_to:
            origin = replace(origin, source=known.manifest.migrated_to)
        refuse_source(origin, self._settings)
        async with self._source(origin) as source:
            manifest = read_manifest(source, self._workspace.root)
            if manifest.name != name and manifest.name in self._loaded:
                raise ExtensionError(
                    f'Cannot update to "{manifest.name}" because an extension with that name is '
                    "already installed."
                )
            await self._agree(manifest, source, consent, known)
            extension = await self._replaced(known, manifest, origin, source)
        extension = await self._configured(extension, configure)
        self._warn_of_missing_values(extension)
        return Updated(name=name, before=known.version, now=extension.version)

    async def update_state(self, name: str) -> UpdateState:
        """Whether there is a newer version of an extension."""
        extension = self._loaded.get(name)
        origin = None if extension is None else extension.origin
        if extension is None or origin is None or origin.type is InstallType.LINK:
            return UpdateState.NOT_UPDATABLE
        try:
            if origin.type is InstallType.LOCAL:
                latest = read_manifest(Path(origin.source), self._workspace.root)
                newer = latest.version != extension.version
            elif extension.manifest.migrated_to:
                newer = True
            else:
                newer = await self._repositories.has_newer(extension.folder, origin)
        except ExtensionError as error:
            logger.warning("looking for an update of %s failed: %s", name, error)
            local = origin.type is InstallType.LOCAL
            return UpdateState.NOT_UPDATABLE if local else UpdateState.ERROR
        return UpdateState.AVAILABLE if newer else UpdateState.UP_TO_DATE

    async def uninstall(self, name: str) -> Extension:
        """Remove an extension, which may also be named by where it comes from.

        Raises:
            ExtensionError: there is no such extension.
            OSError: its folder cannot be removed.
        """
        wanted = name.lower()
        for extension in self._loaded.values():
            source = "" if extension.origin is None else extension.origin.source.lower()
            if wanted in (extension.name.lower(), source):
                break
        else:
            raise ExtensionError("Extension not found.")
        await asyncio.to_thread(removed, self._place(extension))
        del self._loaded[extension.name]
        self._enablement.forget(extension.name)
        return extension

    def reload(self, name: str) -> Extension:
        """Read an extension again; it stays enabled or disabled.

        Raises:
            ExtensionError: it cannot be read any more.
        """
        known = self._known(name)
        place = self._place(known)
        del self._loaded[name]
        try:
            extension = self._take(place)
        except ExtensionError:
            self._loaded[name] = known
            raise
        self._loaded[extension.name] = again = replace(extension, active=known.active)
        return again

    # ------------------------------------------------------------------ the files

    def _place(self, extension: Extension) -> Path:
        """The folder in the store, also of a linked extension."""
        linked = extension.origin is not None and extension.origin.type is InstallType.LINK
        return self.folder / extension.name if linked else extension.folder

    def _draft(self, name: str, kind: str) -> Path:
        """A place beside the store, so that no session takes what is there for an extension."""
        return self.folder.with_name(f".extension-{name}.{os.getpid()}.{kind}")

    @asynccontextmanager
    async def _source(self, origin: Origin) -> AsyncIterator[Path]:
        """The folder with the files of an extension that is to be installed."""
        if not origin.is_remote:
            yield Path(os.path.realpath(origin.source))
            return
        with tempfile.TemporaryDirectory(prefix="gemini-extension") as folder:
            await self._repositories.clone(origin, Path(folder))
            yield Path(folder)

    async def _agree(
        self, manifest: Manifest, source: Path, consent: Consent, previous: Extension | None
    ) -> None:
        """Ask the user, unless the text is the one that they have agreed to.

        Raises:
            ExtensionError: the user does not agree.
        """
        origin = None if previous is None else previous.origin
        moved = previous is not None and bool(previous.manifest.migrated_to) and origin is not None
        text = extension_consent(
            manifest,
            hooks=(source / HOOKS_FILE).exists(),
            skills=load_skills(source / "skills"),
            previous=None if previous is None else previous.name,
            migrates=moved,
        )
        if previous is not None:
            known = extension_consent(
                previous.manifest, hooks=bool(previous.hooks), skills=previous.skills
            )
            if _comparable(known, previous.folder) == _comparable(text, source):
                return
        if not await consent(text):
            raise ExtensionError(f'Installation cancelled for "{manifest.name}".')

    async def _put(self, origin: Origin, source: Path, place: Path) -> Extension:
        """Bring the files of `source` into the store; nothing is left where that fails."""
        record = replace(origin, type=InstallType.GIT) if origin.is_remote else origin
        draft = self._draft(place.name, "new")
        try:
            await asyncio.to_thread(copied, source, draft, linked=origin.type is InstallType.LINK)
            (draft / ORIGIN_FILE).write_text(record.written(), encoding="utf-8")
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(place)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return self._take(place)

    async def _replaced(
        self, known: Extension, manifest: Manifest, origin: Origin, source: Path
    ) -> Extension:
        old = self._place(known)
        kept = self._draft(old.name, "old")
        env = self.values.file(known.name, SettingScope.USER)
        old.rename(kept)
        del self._loaded[known.name]
        try:
            extension = await self._put(origin, source, self.folder / manifest.name)
        except BaseException:
            kept.rename(old)
            self._loaded[known.name] = known
            raise
        if (kept / env.name).is_file():
            shutil.copy2(kept / env.name, self.folder / manifest.name / env.name)
            extension = self.reload(extension.name)
        await asyncio.to_thread(removed, kept)
        if manifest.name != known.name:
            self._enablement.forget(known.name)
            self._enablement.set_enabled(manifest.name, self._workspace.root, on=known.active)
        self._loaded[extension.name] = extension = replace(extension, active=known.active)
        return extension

    async def _configured(self, extension: Extension, configure: Configure | None) -> Extension:
        if configure is None or all(each.value is not None for each in extension.values):
            return extension
        await configure(extension)
        return self.reload(extension.name)

    def _warn_of_missing_values(self, extension: Extension) -> None:
        missing = [each.setting.name for each in extension.values if each.value is None]
        if missing:
            name = extension.name
            self._report(
                "warning",
                f'Extension "{name}" has missing settings: {", ".join(missing)}. Please run '
                f'"/extensions config {name} [setting-name]" to configure them.',
            )


def _comparable(text: str, folder: Path) -> str:
    """A consent without the place of the files, which differs between the copies."""
    return text.replace(str(folder), "")
