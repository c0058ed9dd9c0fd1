"""The offer, made once, to set up the key bindings of the IDE that runs the terminal.

Source: `packages/cli` `ui/utils/terminalSetup.ts` (`useTerminalSetupPrompt`),
`utils/persistentState.ts`.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Final

from services.bundle import Services
from services.exhaustion import notice
from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject
from surfaces.commands.builtin.terminal_setup import bindings_of
from surfaces.terminal.dialogs.commands import consent_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.drawing import Drawing, Shown

__all__ = ["offer_key_bindings"]

logger = logging.getLogger(__name__)

_OFFERED: Final = "terminalSetupPromptShown"
_OFFER: Final = (
    "This terminal works best with Shift+Enter/Ctrl+Enter for multiline input. Would you like to "
    "automatically configure your terminal keybindings?\n\nDo you want to continue?"
)


async def offer_key_bindings(services: Services, host: DialogHost, drawing: Drawing) -> None:
    """Ask once whether the missing key bindings are to be added, and add them."""
    home = services.workspace.home
    bindings, file = bindings_of(services.environment, home), home / ".gemini" / "state.json"
    state = _read(file)
    if bindings is None or state.get(_OFFERED) or not bindings.missing():
        return
    _write(file, {**state, _OFFERED: True})
    if await host.ask(consent_dialog(_OFFER)):
        drawing.add(Shown(item=bindings.add(services.ids)))


def _read(file: Path) -> JsonObject:
    """What is remembered between sessions, in the file that both products share."""
    try:
        found = parse_json(read_regular(file, MOST_TEXT).decode("utf-8"))
    except (OSError, ValueError) as error:
        logger.debug("%s: nothing is remembered: %s", file, error)
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, state: JsonObject) -> None:
    try:
        make_private_folder(file.parent)
        write_private(file, json.dumps(state, indent=2).encode("utf-8"))
    except OSError as error:
        notice(error, file)
        logger.warning("%s cannot be written: %s", file, error)
