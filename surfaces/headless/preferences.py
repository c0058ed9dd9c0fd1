"""`Preferences`: the settings that the user changes with commands and dialogs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from services.model.errors import FatalConfigError
from services.settings.declaring import look_up
from services.wire import Json, JsonObject
from services.workspace import Workspace
from surfaces.commands import CommandError, Scope
from surfaces.headless.settings_edits import save_setting
from surfaces.headless.settings_files import load_settings, merged_value, with_setting

__all__ = ["Preferences"]


class Preferences:
    """Reads and writes the settings files of one session.

    Args:
        workspace: has the user's home and the folder.
        document: the settings document in force.
        own_file: the file that the session was started with (`--settings`). It takes the place of
            the user's file, and of the folder's.
    """

    def __init__(
        self, workspace: Workspace, document: JsonObject, own_file: Path | None = None
    ) -> None:
        self.document = document
        self._files: Mapping[Scope, Path] = {
            Scope.USER: own_file or workspace.home / ".gemini" / "settings.json",
            Scope.WORKSPACE: workspace.root / ".gemini" / "settings.json",
        }
        alone = own_file is not None or workspace.root == workspace.home
        self._scopes = (Scope.USER,) if alone else (Scope.WORKSPACE, Scope.USER)

    @property
    def scopes(self) -> Sequence[Scope]:
        """The scopes whose files the session reads, the one that counts most first."""
        return self._scopes

    def file(self, scope: Scope) -> Path:
        """The file of a scope; it may not exist."""
        return self._files[scope]

    def in_force(self, key: str) -> Any:
        """The value that the session uses; `None`: the setting has its default."""
        return look_up(self.document, key)[1]

    def own(self, key: str, scope: Scope) -> Any:
        """The value in the file of a scope; `None`: it has none, or the file cannot be used."""
        try:
            loaded = load_settings([self._files[scope]], {}, required=False)
        except FatalConfigError:
            return None  # Saving to the file reports what is wrong.
        return look_up(loaded.document, key)[1]

    async def save(self, key: str, value: Json, scope: Scope = Scope.USER) -> None:
        """Write a setting to the file of a scope; `None` removes it.

        Raises:
            CommandError: the file cannot be written, or the setting does not take the value.
        """
        try:
            await asyncio.to_thread(save_setting, self._files[scope], key, value)
        except (OSError, ValueError) as error:
            raise CommandError(f"The setting {key} cannot be saved: {error}") from error
        inner = list(reversed(self._scopes))
        known = [self.own(key, each) if each is not scope else value for each in inner]
        self.document = with_setting(self.document, key, merged_value(key, known))
