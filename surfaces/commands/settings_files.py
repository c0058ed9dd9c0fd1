"""The settings files of a session, as commands read and change them.

Source: `packages/cli` `config/settings.ts` (`SettingScope`, `LoadedSettings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from services.wire import Json, JsonObject

__all__ = ["Scope", "SettingsFiles"]


class Scope(StrEnum):
    """The settings file that a change goes to; the values are the words of the dialogs."""

    USER = "User"
    WORKSPACE = "Workspace"


class SettingsFiles(Protocol):
    """The files of one session, and the document that they make together."""

    document: JsonObject
    """The settings in force, with every change since the session began."""

    @property
    def scopes(self) -> Sequence[Scope]:
        """The scopes with a file of their own, the one that counts most first."""

    def file(self, scope: Scope) -> Path:
        """The file of a scope; it may not exist."""

    def own(self, key: str, scope: Scope) -> Any:
        """The value in the file of a scope; `None`: it has none, or the file cannot be used."""

    async def save(self, key: str, value: Json, scope: Scope = Scope.USER) -> None:
        """Write a setting to the file of a scope; `None` removes it.

        Raises:
            CommandError: the file cannot be written, or the setting does not take the value.
        """
