"""`CommandDialogs`: the dialogs of commands that change the session, beside its settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from services.bundle import Services
from services.extensions.manifest import DeclaredSetting
from services.subagents.definition import AgentDefinition
from surfaces.commands.builtin.extension_settings import ExtensionForm
from surfaces.commands.builtin.folders import NewFolders
from surfaces.commands.results import Dialog
from surfaces.headless.preferences import Preferences
from surfaces.terminal.dialogs.commands import consent_dialog, folder_trust_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.hooks import HooksDialog
from surfaces.terminal.dialogs.settings import SettingsDialog
from surfaces.terminal.dialogs.tasks import TasksDialog
from surfaces.terminal.dialogs.text_field import TextFieldDialog
from surfaces.terminal.setting_rows import agent_rows

__all__ = ["COMMAND_DIALOGS", "CommandDialogs"]

COMMAND_DIALOGS: Final = frozenset(
    {
        Dialog.AGENT_CONFIG,
        Dialog.EXTENSION_CONFIG,
        Dialog.FOLDER_TRUST,
        Dialog.HOOKS,
        Dialog.TASKS,
    }
)
"""The dialogs that `CommandDialogs` has."""
_VALUE_KEYS: Final = "(Enter to submit, Esc to leave it as it is)"


class CommandDialogs:
    """Asks the user, and carries out the answer.

    Args:
        services: of the open session.
        host: where the dialogs open.
        preferences: keep what the user chooses.
    """

    def __init__(self, services: Services, host: DialogHost, preferences: Preferences) -> None:
        self._services = services
        self._host = host
        self._preferences = preferences

    async def open(self, dialog: Dialog, details: Mapping[str, Any]) -> None:
        """Show one of `COMMAND_DIALOGS` until the user leaves it.

        Raises:
            CommandError: the answer cannot be carried out.
        """
        match dialog:
            case Dialog.AGENT_CONFIG:
                await self._configure_agent(details["definition"], details["saved"])
            case Dialog.EXTENSION_CONFIG:
                form: ExtensionForm = details["form"]
                await form.fill(self._value, self.consents)
            case Dialog.FOLDER_TRUST:
                folders: NewFolders = details["folders"]
                await folders.answer(await self._host.ask(folder_trust_dialog(folders.asked)))
            case Dialog.HOOKS:
                await self._host.ask(HooksDialog(details["hooks"]))
            case _:
                await self.tasks()

    async def tasks(self) -> None:
        """Show the commands that run in the background."""
        home = self._services.workspace.home
        await self._host.ask(TasksDialog(self._services.background, home))

    async def consents(self, text: str) -> bool:
        """Whether the user agrees to `text`."""
        return await self._host.ask(consent_dialog(text))

    async def _configure_agent(
        self, definition: AgentDefinition, saved: Callable[[], Awaitable[None]]
    ) -> None:
        await self._host.ask(
            SettingsDialog(
                self._preferences,
                heading=f"Configure: {definition.shown_name}",
                rows=agent_rows(definition),
                searches=False,
                saved=saved,
            )
        )

    async def _value(self, setting: DeclaredSetting) -> str | None:
        return await self._host.ask(
            TextFieldDialog(
                f"Configure {setting.name}",
                [setting.description or setting.variable],
                placeholder=f"Enter value for {setting.name}",
                keys=_VALUE_KEYS,
                hidden=setting.sensitive,
            )
        )
