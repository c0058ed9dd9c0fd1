"""Servers that the user has switched off: for the session, or in `mcp-server-enablement.json`.

Source: `packages/cli` `config/mcp/mcpServerEnablement.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject, js_json_pretty

__all__ = ["ServerEnablement", "server_id"]

_FILE: Final = "mcp-server-enablement.json"


def server_id(name: str) -> str:
    """The name under which a server is switched on and off: in any case, without blanks."""
    return name.strip().lower()


class ServerEnablement:
    """The switches of one session. Each call reads the file, which other sessions change, too.

    Args:
        home: the user's home.
        report: gets the error where the file cannot be read.
    """

    def __init__(self, home: Path, *, report: Callable[[str], None]) -> None:
        self._file = home / ".gemini" / _FILE
        self._report = report
        self._off_here: set[str] = set()

    def is_off(self, name: str) -> bool:
        """Whether a server is switched off."""
        return self.is_off_here(name) or self._is_off_in_file(name)

    def is_off_here(self, name: str) -> bool:
        """Whether a server is switched off for the session."""
        return server_id(name) in self._off_here

    def set_here(self, name: str, *, on: bool) -> None:
        """Switch a server on or off for the session; the file's switch stays."""
        if on:
            self._off_here.discard(server_id(name))
        else:
            self._off_here.add(server_id(name))

    def set(self, name: str, *, on: bool) -> None:
        """Switch a server on or off for later sessions, too.

        Raises:
            OSError, ValueError: the file cannot be read or written.
        """
        entries = self._entries()
        if on and server_id(name) not in entries:
            return
        if on:
            del entries[server_id(name)]
        else:
            entries[server_id(name)] = {"enabled": False}
        make_private_folder(self._file.parent)
        draft = self._file.with_name(f".{_FILE}.{os.getpid()}.tmp")
        write_private(draft, js_json_pretty(entries).encode(), draft=True)
        draft.replace(self._file)

    def switch_on(self, names: Iterable[str]) -> list[str]:
        """Switch servers on everywhere; return those that were off.

        Raises:
            OSError, ValueError: as for `set`.
        """
        found = []
        for name in names:
            if self.is_off(name):
                self.set(name, on=True)
                self.set_here(name, on=True)
                found.append(name)
        return found

    def _is_off_in_file(self, name: str) -> bool:
        try:
            entry = self._entries().get(server_id(name))
        except (OSError, ValueError) as error:
            self._report(f"Failed to read MCP server enablement config. {error}")
            return False
        return isinstance(entry, dict) and entry.get("enabled") is False

    def _entries(self) -> JsonObject:
        try:
            found: Any = parse_json(read_regular(self._file, MOST_TEXT))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self._file}: {error}; mend the file, or remove it") from error
        if not isinstance(found, dict):
            raise ValueError(f"{self._file}: an object expected; mend the file, or remove it")
        return found
