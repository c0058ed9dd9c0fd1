r"""`/terminal-setup`: key bindings of VS Code and its forks that begin a new line in the prompt.

They send a backslash and a line end, which the prompt's input takes for a new line.
Source: `packages/cli` `ui/utils/terminalSetup.ts`, `ui/commands/terminalSetupCommand.ts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.environment import Environment
from services.ids import IdSource
from services.json_values import parse_json
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject
from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["TERMINAL_SETUP", "Bindings", "bindings_of"]

_SEND: Final = "workbench.action.terminal.sendSequence"
_NEW_LINE: Final = "\\\r\n"
_TEXTS: Final = {
    "shift+enter": _NEW_LINE,
    "ctrl+enter": _NEW_LINE,
    "cmd+z": "\x1b[122;9u",
    "alt+z": "\x1b[122;3u",
    "shift+cmd+z": "\x1b[122;10u",
    "shift+alt+z": "\x1b[122;4u",
}
_COMMENT: Final = re.compile(r"^\s*//.*$", re.MULTILINE)
_UNKNOWN: Final = (
    "Could not detect terminal type. Supported terminals: VS Code, Cursor, Windsurf, and "
    "Antigravity."
)
_RESTART: Final = "Please restart your terminal for the changes to take effect."
_FORKS: Final = ("cursor", "windsurf", "antigravity")
_FOLDERS: Final = {
    "vscode": ("VS Code", "Code"),
    "cursor": ("Cursor", "Cursor"),
    "windsurf": ("Windsurf", "Windsurf"),
    "antigravity": ("Antigravity", "Antigravity"),
}


class _Unusable(Exception):
    """The file of key bindings cannot be extended; the message says why."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The file of key bindings of one IDE: its name for the user, and the path."""

    ide: str
    file: Path

    def missing(self) -> bool:
        """Whether the file lacks a key that begins a new line, or cannot be read."""
        try:
            found = self._read()
        except (_Unusable, OSError):
            return True
        return not all(_has(found, key) for key in ("shift+enter", "ctrl+enter"))

    def add(self, ids: IdSource) -> Item:
        """Add what is missing, and say what happened. A key that is taken is left alone."""
        try:
            return self._add(ids)
        except _Unusable as error:
            return Item(kind=ItemKind.ERROR, text=f"{error}\nFile: {self.file}")
        except OSError as error:
            words = f"Failed to configure {self.ide}.\nFile: {self.file}\nError: {error}"
            return Item(kind=ItemKind.ERROR, text=words)

    def _add(self, ids: IdSource) -> Item:
        found = self._read()
        lacking = [key for key in _TEXTS if not _has(found, key)]
        if not lacking:
            return Item(kind=ItemKind.INFO, text=f"{self.ide} keybindings already configured.")
        taken = [key for key in lacking if any(_key(each) == key for each in found)]
        if taken:
            lines = [f"- {_named(key)} binding already exists" for key in taken]
            head = "Existing keybindings detected. Will not modify to avoid conflicts."
            foot = f"Please check and modify manually if needed: {self.file}"
            return Item(kind=ItemKind.ERROR, text="\n".join([head, *lines, foot]))
        added = [_binding(key) for key in reversed(lacking)]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if self.file.exists():
            backup = self.file.with_name(f"{self.file.name}.backup.{ids.uuid('key-bindings')}")
            backup.write_bytes(self.file.read_bytes())
        self.file.write_text(json.dumps([*added, *found], indent=4), encoding="utf-8")
        keys = ", ".join(_named(key) for key in _TEXTS)
        words = f"Added {keys} keybindings to {self.ide}.\nModified: {self.file}\n\n{_RESTART}"
        return Item(kind=ItemKind.INFO, text=words)

    def _read(self) -> list[Any]:
        try:
            text = read_regular(self.file, MOST_TEXT).decode("utf-8-sig")
        except FileNotFoundError:
            return []
        except UnicodeDecodeError as error:
            raise _Unusable(f"{self.ide} keybindings.json is not UTF-8.") from error
        mend = "Please fix the file manually or delete it to allow automatic configuration."
        try:
            found = parse_json(_COMMENT.sub("", text))
        except ValueError as error:
            words = f"Failed to parse {self.ide} keybindings.json. The file contains invalid JSON."
            raise _Unusable(f"{words}\n{mend}") from error
        if not isinstance(found, list):
            words = f"{self.ide} keybindings.json exists but is not a valid JSON array."
            raise _Unusable(f"{words} {mend}")
        return found


def bindings_of(environment: Environment, home: Path) -> Bindings | None:
    """The key bindings of the IDE that runs this terminal; `None`: it is no such IDE."""
    name = _terminal(environment.variables)
    if name is None:
        return None
    shown, folder = _FOLDERS[name]
    base = home / ".config"
    if environment.platform == "darwin":
        base = home / "Library" / "Application Support"
    return Bindings(shown, base / folder / "User" / "keybindings.json")


def _terminal(variables: Mapping[str, str]) -> str | None:
    askpass = variables.get("VSCODE_GIT_ASKPASS_MAIN", "").lower()
    if variables.get("CURSOR_TRACE_ID"):
        return "cursor"
    for fork in _FORKS:
        if fork in askpass:
            return fork
    own = variables.get("TERM_PROGRAM") == "vscode" or variables.get("VSCODE_GIT_IPC_HANDLE")
    return "vscode" if own else None


def _has(found: Sequence[Any], key: str) -> bool:
    return any(
        _key(each) == key
        and each.get("command") == _SEND
        and isinstance(each.get("args"), dict)
        and each["args"].get("text") == _TEXTS[key]
        for each in found
    )


def _key(binding: Any) -> Any:
    return binding.get("key") if isinstance(binding, dict) else None


def _binding(key: str) -> JsonObject:
    args = {"text": _TEXTS[key]}
    return {"key": key, "command": _SEND, "when": "terminalFocus", "args": args}


def _named(key: str) -> str:
    return key[0].upper() + key[1:]


async def _set_up(context: CommandContext) -> Result:
    services = context.services
    bindings = bindings_of(services.environment, services.workspace.home)
    if bindings is None:
        return Item(kind=ItemKind.ERROR, text=_UNKNOWN)
    return bindings.add(services.ids)


TERMINAL_SETUP: Final = SlashCommand(
    name="terminal-setup",
    description=("Configure terminal keybindings for multiline input (VS Code, Cursor, Windsurf)"),
    runs_at_once=True,
    action=_set_up,
)
