"""The offer, made once, to set up the key bindings of the IDE that runs the terminal.

Source: `packages/cli` `ui/utils/terminalSetup.ts` (`useTerminalSetupPrompt`).
"""

from __future__ import annotations

from typing import Final

from surfaces.commands.builtin.terminal_setup import bindings_of
from surfaces.headless.machine import Machine
from surfaces.terminal.dialogs.commands import consent_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.drawing import Drawing, Shown
from surfaces.terminal.remembered import remember, remembered

__all__ = ["offer_key_bindings"]

_OFFERED: Final = "terminalSetupPromptShown"
_OFFER: Final = (
    "This terminal works best with Shift+Enter/Ctrl+Enter for multiline input. Would you like to "
    "automatically configure your terminal keybindings?\n\nDo you want to continue?"
)


async def offer_key_bindings(machine: Machine, host: DialogHost, drawing: Drawing) -> None:
    """Ask once whether the missing key bindings are to be added, and add them."""
    home = machine.workspace.home
    bindings = bindings_of(machine.environment, home)
    if bindings is None or remembered(home).get(_OFFERED) or not bindings.missing():
        return
    remember(home, _OFFERED, True)
    if await host.ask(consent_dialog(_OFFER)):
        drawing.add(Shown(item=bindings.add(machine.ids)))
