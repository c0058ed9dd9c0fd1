"""The values of an extension's settings: in `.env` files, secrets with the user's credentials.

Source: `packages/cli` `config/extensions/extensionSettings.ts`. The published command line puts
secrets into the system's keychain, and into this encrypted file where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv import dotenv_values, set_key, unset_key

from services.extensions.manifest import DeclaredSetting, ExtensionError, Manifest
from services.mcp.sealed_file import SealedFile, UnreadableSecrets
from services.private_files import make_private_folder, open_private
from services.regular_files import MOST_TEXT, read_regular

__all__ = ["ExtensionValues", "SettingScope", "SettingValue"]

_ENV_FILE: Final = ".env"
_SEALED_NAME: Final = "gemini-credentials.json"


class SettingScope(StrEnum):
    """Where a value counts; the workspace's comes before the user's."""

    USER = "user"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValue:
    """A declared setting with its value, `None` where it has none."""

    setting: DeclaredSetting
    value: str | None = None
    scope: SettingScope | None = None
    source: str | None = None
    """The file of the value, or `Keychain` for a secret."""

    @property
    def shown(self) -> str:
        """The value for the user; a secret stays hidden."""
        if not self.value:
            return "[not set]"
        return "***" if self.setting.sensitive else self.value

    @property
    def line(self) -> str:
        """The value with its name and where it is kept."""
        where = f" ({self.scope.value.capitalize()} - {self.source})" if self.scope else ""
        return f"{self.setting.name}: {self.shown}{where}"


class ExtensionValues:
    """The values of one user in one workspace.

    Args:
        home: the user's home.
        workspace: the session's folder.
    """

    def __init__(self, home: Path, workspace: Path) -> None:
        self._home = home
        self._workspace = workspace
        self._sealed = SealedFile(home / ".gemini" / _SEALED_NAME)

    def file(self, name: str, scope: SettingScope) -> Path:
        """The file of the values that are no secrets."""
        if scope is SettingScope.WORKSPACE:
            return self._workspace / _ENV_FILE
        return self._home / ".gemini" / "extensions" / name / _ENV_FILE

    def read(self, manifest: Manifest, id: str, scope: SettingScope) -> dict[str, str]:
        """The values of the manifest's settings in one scope, by variable.

        Raises:
            ExtensionError: a file cannot be read.
        """
        file = self.file(manifest.name, scope)
        try:
            text = "" if file.is_dir() else read_regular(file, MOST_TEXT).decode("utf-8", "replace")
        except FileNotFoundError:
            text = ""
        except OSError as error:
            raise ExtensionError(f"{file} cannot be read: {error.strerror}") from error
        known = dotenv_values(stream=StringIO(text), interpolate=False)
        secrets = self._secrets(manifest, id, scope)
        found = {}
        for setting in manifest.settings:
            value = (secrets if setting.sensitive else known).get(setting.variable)
            if value is not None:
                found[setting.variable] = value
        return found

    def resolved(self, manifest: Manifest, id: str, *, trusted: bool) -> tuple[SettingValue, ...]:
        """Each setting with the value that counts; the workspace's only where it is `trusted`.

        Raises:
            ExtensionError: a file cannot be read.
        """
        user = self.read(manifest, id, SettingScope.USER)
        here = self.read(manifest, id, SettingScope.WORKSPACE) if trusted else {}
        return tuple(
            self._resolved(setting, manifest.name, user, here) for setting in manifest.settings
        )

    def _resolved(
        self, setting: DeclaredSetting, name: str, user: Mapping[str, str], here: Mapping[str, str]
    ) -> SettingValue:
        for scope, values in ((SettingScope.WORKSPACE, here), (SettingScope.USER, user)):
            if setting.variable in values:
                source = "Keychain" if setting.sensitive else str(self.file(name, scope))
                value = values[setting.variable]
                return SettingValue(setting=setting, value=value, scope=scope, source=source)
        return SettingValue(setting=setting)

    def write(
        self, manifest: Manifest, id: str, setting: DeclaredSetting, value: str, scope: SettingScope
    ) -> None:
        """Keep a value; an empty one removes it. Other lines of the file stay.

        Raises:
            ExtensionError: the value or the file cannot be used.
        """
        if "\n" in value or "\r" in value:
            raise ExtensionError(
                f'Invalid environment variable value for "{setting.variable}". Values cannot '
                "contain newlines."
            )
        try:
            if setting.sensitive:
                self._keep_secret(manifest, id, setting, value, scope)
            else:
                self._keep(self.file(manifest.name, scope), setting.variable, value)
        except (OSError, UnreadableSecrets) as error:
            raise ExtensionError(f"The setting cannot be kept: {error}") from error

    def _keep(self, file: Path, variable: str, value: str) -> None:
        if file.is_dir():
            raise ExtensionError(
                f"Cannot write extension settings to {file} because it is a directory."
            )
        if value:
            make_private_folder(file.parent)
            open_private(file, "a").close()
            set_key(file, variable, value, quote_mode="auto")
        elif file.exists():
            unset_key(file, variable, quote_mode="auto")

    def _keep_secret(
        self, manifest: Manifest, id: str, setting: DeclaredSetting, value: str, scope: SettingScope
    ) -> None:
        service = self._service(manifest, id, scope)
        if value:
            self._sealed.put(service, setting.variable, value)
        else:
            self._sealed.remove(service, setting.variable)

    def _secrets(self, manifest: Manifest, id: str, scope: SettingScope) -> dict[str, str]:
        if not any(each.sensitive for each in manifest.settings):
            return {}  # Opening the file takes a tenth of a second.
        try:
            return self._sealed.secrets(self._service(manifest, id, scope))
        except (OSError, UnreadableSecrets) as error:
            raise ExtensionError(str(error)) from error

    def _service(self, manifest: Manifest, id: str, scope: SettingScope) -> str:
        base = f"Gemini CLI Extensions {manifest.name} {id}"
        return f"{base} {self._workspace}" if scope is SettingScope.WORKSPACE else base
