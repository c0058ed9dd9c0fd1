"""The external editors that the terminal can start.

Source: core `utils/editor.ts` (names, commands, the flag that waits for the window).
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["EDITORS", "Editor", "editor_command", "editor_named"]


@dataclass(frozen=True, slots=True)
class Editor:
    """An editor: its value in `general.preferredEditor`, its name, its commands, and arguments."""

    key: str
    name: str
    commands: tuple[str, ...]
    arguments: tuple[str, ...] = ()

    def installed(self, variables: Mapping[str, str]) -> str | None:
        """The editor's first command on `PATH`; `None`: there is none, or a sandbox forbids it."""
        if "--wait" in self.arguments and variables.get("SANDBOX"):
            return None  # An editor with a window of its own does not work in a sandbox.
        path = variables.get("PATH", "")
        return next((each for each in self.commands if shutil.which(each, path=path)), None)


_WAITS: Final = ("--wait",)
EDITORS: Final = (
    Editor("antigravity", "Antigravity", ("agy", "antigravity"), _WAITS),
    Editor("bbedit", "BBEdit", ("bbedit",), _WAITS),
    Editor("cursor", "Cursor", ("cursor",), _WAITS),
    Editor("emacs", "Emacs", ("emacs",)),
    Editor("emacsclient", "Emacs Client", ("emacsclient",), ("-nw",)),
    Editor("hx", "Helix", ("hx",)),
    Editor("lapce", "Lapce", ("lapce",), _WAITS),
    Editor("micro", "Micro", ("micro",)),
    Editor("neovim", "Neovim", ("nvim",)),
    Editor("nova", "Nova", ("nova",), _WAITS),
    Editor("sublimetext", "Sublime Text", ("subl",), ("-w",)),
    Editor("vim", "Vim", ("vim",)),
    Editor("vscode", "VS Code", ("code",), _WAITS),
    Editor("vscodium", "VSCodium", ("codium",), _WAITS),
    Editor("windsurf", "Windsurf", ("windsurf",), _WAITS),
    Editor("zed", "Zed", ("zed", "zeditor"), _WAITS),
)


def editor_named(key: str | None) -> Editor | None:
    """The editor with this value in the settings."""
    return next((each for each in EDITORS if each.key == key), None)


def editor_command(preferred: str | None, variables: Mapping[str, str]) -> Sequence[str] | None:
    """The words that start the user's editor: the preferred one, else `VISUAL`, else `EDITOR`.

    Args:
        preferred: the setting `general.preferredEditor`.
        variables: the environment.

    Returns:
        The words, to which the file is added; `None`: no editor is configured.

    Raises:
        ValueError: the variable is no command line.
    """
    editor = editor_named(preferred)
    command = editor.installed(variables) if editor is not None else None
    if editor is not None and command is not None:
        return [command, *editor.arguments]
    return shlex.split(variables.get("VISUAL") or variables.get("EDITOR") or "") or None
