"""`SettingsDialogs`: `/model`, `/settings`, `/theme` and `/permissions trust`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from services.bundle import Services
from services.folder_trust import TrustedFolders
from services.interaction.questions import TrustChoice
from services.model.names import AccessFlags
from surfaces.commands import CommandError
from surfaces.headless.preferences import Preferences
from surfaces.terminal.dialogs.commands import trust_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.model import ModelDialog
from surfaces.terminal.dialogs.scoped import theme_dialog
from surfaces.terminal.dialogs.settings import SettingsDialog
from surfaces.terminal.themes import THEME_SETTING, textual_theme

__all__ = ["SettingsDialogs", "Themed"]

_NO_COLOUR: Final = "Theme configuration unavailable due to NO_COLOR env variable."


class Themed(Protocol):
    """The application, as far as it has colours."""

    theme: str


class SettingsDialogs:
    """Asks the user, and carries out the answer.

    Args:
        services: of the open session.
        auth_type: how the session signed in; it decides which models are offered.
        host: where the dialogs open.
        preferences: keep what the user chooses.
        themed: gets the colours of a theme.
        info: shows a sentence.
    """

    def __init__(
        self,
        services: Services,
        auth_type: str | None,
        host: DialogHost,
        preferences: Preferences,
        themed: Themed,
        info: Callable[[str], None],
    ) -> None:
        self._services = services
        self._auth_type = auth_type
        self._host = host
        self._preferences = preferences
        self._themed = themed
        self._info = info

    async def model(self) -> None:
        """Choose the session's model.

        Raises:
            CommandError: the model cannot be kept.
        """
        state = self._services.state
        access = AccessFlags.for_auth(self._auth_type)
        answer = await self._host.ask(ModelDialog(state.model, access))
        if answer is None:
            return
        model, kept = answer
        state.set_model(model)
        if kept:
            await self._preferences.save("model.name", model)

    async def settings(self) -> None:
        """Show the settings, and write what the user changes."""
        await self._host.ask(SettingsDialog(self._preferences))

    async def theme(self) -> None:
        """Choose the colours; the highlighted theme is shown at once.

        Raises:
            CommandError: the choice cannot be kept.
        """
        if self._services.environment.variables.get("NO_COLOR"):
            self._info(_NO_COLOUR)
            return
        before = self._themed.theme
        kept = False

        def show(name: str) -> None:
            self._themed.theme = textual_theme(name)

        try:
            answer = await self._host.ask(theme_dialog(self._preferences, show))
            if answer is not None:
                name, scope = answer
                await self._preferences.save(THEME_SETTING, name, scope)
                show(name)
                kept = True
        finally:
            if not kept:
                self._themed.theme = before

    async def trust(self, folder: Path) -> None:
        """Choose the trust of a folder, which counts from the next session on.

        Raises:
            CommandError: the file of the trusted folders cannot be used.
        """
        folders = TrustedFolders(self._services.workspace.home)
        try:
            folders.load()
        except ValueError as error:
            raise CommandError(str(error)) from error
        present = folders.rules.get(str(folder))
        inherited = present is None and folders.trusts(folder) is True
        choice = await self._host.ask(trust_dialog(folder, present, inherited=inherited))
        if choice is None or choice is present:
            return
        folders.remember(folder, choice)
        words = "is trusted" if choice is not TrustChoice.DO_NOT_TRUST else "is not trusted"
        trusted = folder.parent if choice is TrustChoice.TRUST_PARENT else folder
        self._info(f"{trusted} {words}. Start the program again in it to apply the change.")
