"""`ExternalEditor`: the user's own program for a text, in place of the terminal's screen."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from textual.widget import Widget

from surfaces.commands import CommandError
from surfaces.headless.preferences import Preferences
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.scoped import PREFERRED_EDITOR, editor_dialog
from surfaces.terminal.drawing import Drawing, Typed
from surfaces.terminal.editors import editor_command

__all__ = ["ExternalEditor", "Suspend"]

Suspend = Callable[[], AbstractContextManager[None]]
"""Gives the terminal to another program while it is entered."""

_MISSING: Final = (
    "No external editor is available. Choose one with /editor, or set the variable VISUAL or "
    "EDITOR to a program."
)


class ExternalEditor:
    """Edits texts in the user's editor.

    Args:
        preferences: have the preferred editor.
        variables: the environment.
        host: where the choice of the editor opens.
        drawing: shows what goes wrong.
        suspend: gives the terminal to the program while it is entered.
    """

    def __init__(
        self,
        preferences: Preferences,
        variables: Mapping[str, str],
        host: DialogHost,
        drawing: Drawing,
        suspend: Suspend,
    ) -> None:
        self._preferences = preferences
        self._variables = variables
        self._host = host
        self._drawing = drawing
        self._suspend = suspend

    async def choose(self, above: Widget | None = None) -> bool:
        """Let the user choose the editor, and keep the choice; `above` stays visible.

        Returns:
            Whether the user has chosen, and the choice is saved.
        """
        dialog = editor_dialog(self._preferences, self._variables, above)
        answer = await self._host.ask(dialog)
        if answer is None:
            return False
        key, scope = answer
        try:
            await self._preferences.save(PREFERRED_EDITOR, key, scope)
        except CommandError as error:
            self._drawing.add(Typed(text=str(error), mark="error"))
            return False
        return True

    async def edit(self, name: str, text: str, above: Widget | None = None) -> str | None:
        """Return `text` as the user leaves it in the editor; `None`: there is no editor.

        Args:
            name: the name of the file in the editor.
            text: its contents.
            above: a user without an editor is asked for one, below this; `None`: a notice says so.
        """
        try:
            command = self._command()
            if command is None and above is not None:
                if not await self.choose(above):
                    return None
                command = self._command()
            if command is None:
                self._drawing.add(Typed(text=_MISSING, mark="warning"))
                return None
            return await self._edited(list(command), name, text)
        except (OSError, ValueError) as error:
            words = f"The editor cannot be started: {error}. Choose another one with /editor."
            self._drawing.add(Typed(text=words, mark="error"))
            return None

    def _command(self) -> list[str] | None:
        preferred = self._preferences.in_force(PREFERRED_EDITOR)
        command = editor_command(preferred, self._variables)
        return None if command is None else list(command)

    async def _edited(self, command: list[str], name: str, text: str) -> str:
        with tempfile.TemporaryDirectory(prefix="parity-edit-") as folder:
            file = Path(folder) / Path(name).name
            file.write_text(text, encoding="utf-8")
            with self._suspend():
                await asyncio.to_thread(subprocess.run, [*command, str(file)], check=False)
            return file.read_text(encoding="utf-8", errors="replace")
