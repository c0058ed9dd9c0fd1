"""Where the tokens of servers are stored: two files that the published tool reads as well.

`mcp-oauth-tokens.json` is a list in plain text, the published tool's default; the encrypted file
is what it uses with `GEMINI_FORCE_ENCRYPTED_FILE_STORAGE=true`. A sign-in here goes to the
encrypted file. A refreshed token stays in the file that it comes from.

Source: core `mcp/oauth-token-storage.ts`, `mcp/token-storage/keychain-token-storage.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.json_values import parse_json
from services.mcp.sealed_file import SealedFile, UnreadableSecrets
from services.node_errors import node_error_message
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject, js_json, js_json_pretty

__all__ = ["Feedback", "StoredEntry", "TokenFiles", "tokens_path"]

_SERVICE: Final = "gemini-cli-oauth"
_SEALED_NAME: Final = "gemini-credentials.json"
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9\-_.]")

Feedback = Callable[[str, str], None]
"""Receives messages for the user: severity and text."""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """The entry of a server: `{serverName, token, clientId?, tokenUrl?, …}`, and its file."""

    values: JsonObject
    sealed: bool
    """Whether it is in the encrypted file."""


def tokens_path(home: Path) -> Path:
    """The plain file with a user's tokens; the encrypted one is beside it."""
    return home / ".gemini" / "mcp-oauth-tokens.json"


class TokenFiles:
    """Both files of one user. Each call reads them, as another process may have signed in."""

    def __init__(self, plain: Path, *, feedback: Feedback) -> None:
        self._plain = plain
        self._sealed = SealedFile(plain.with_name(_SEALED_NAME))
        self._feedback = feedback

    def entry(self, server: str) -> StoredEntry | None:
        """The entry of `server`, the newer one if both files have one."""
        found = [
            StoredEntry(values, sealed)
            for sealed, values in (
                (True, self._sealed_entry(server)),
                (False, self._plain_entries().get(server)),
            )
            if values is not None
        ]
        return max(found, key=lambda each: _updated(each.values), default=None)

    def save(self, entry: StoredEntry) -> str | None:
        """Store an entry; returns why it could not be stored."""
        name = str(entry.values["serverName"])
        try:
            if entry.sealed:
                self._sealed.put(_SERVICE, _account(name), js_json(entry.values))
            else:
                held = self._plain_entries(for_change=True)
                self._write_plain([*{**held, name: entry.values}.values()])
        except OSError as error:
            return error.strerror or str(error)
        except (UnreadableSecrets, ValueError) as error:
            return str(error)
        return None

    def delete(self, server: str) -> None:
        """Remove the entries of `server`; a problem is reported to the user."""
        try:
            self._sealed.remove(_SERVICE, _account(server))
            held = self._plain_entries(for_change=True)
            if held.pop(server, None) is None:
                return
            if held:
                self._write_plain(held.values())
            else:
                self._plain.unlink()
        except (OSError, UnreadableSecrets, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else str(error)
            self._feedback("error", f"Failed to remove MCP OAuth token: {problem}")

    def _sealed_entry(self, server: str) -> JsonObject | None:
        try:
            text = self._sealed.secrets(_SERVICE).get(_account(server))
            values: Any = None if text is None else parse_json(text)
        except (OSError, UnreadableSecrets, ValueError) as error:
            self._feedback("error", f"Failed to load MCP OAuth tokens: {error}")
            return None
        return values if _is_entry(values) else None

    def _plain_entries(self, *, for_change: bool = False) -> dict[str, JsonObject]:
        """The entries of the plain file by server.

        Raises:
            OSError, ValueError: with `for_change`, that the file is unreadable: a new one would
                lose its entries.
        """
        try:
            listed: Any = parse_json(read_regular(self._plain, MOST_TEXT))
            return {each["serverName"]: each for each in listed if _is_entry(each)}
        except FileNotFoundError:
            return {}
        except OSError as error:
            if for_change:
                raise
            problem = node_error_message(error, "open", self._plain)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problem = f"{self._plain} is no list of tokens: {error}"
            if for_change:
                raise ValueError(problem) from error
        self._feedback("error", f"Failed to load MCP OAuth tokens: {problem}")
        return {}

    def _write_plain(self, entries: Iterable[JsonObject]) -> None:
        make_private_folder(self._plain.parent)
        text = js_json_pretty(list(entries)).encode(errors="replace")
        scratch = self._plain.with_name(f".{self._plain.name}.new")
        # Through a file of its own: a crash in between must not lose tokens.
        write_private(scratch, text, draft=True)
        scratch.replace(self._plain)


def _is_entry(value: Any) -> bool:
    if value is None:
        return False
    token = value.get("token")
    return isinstance(token, dict) and bool(token.get("accessToken"))


def _updated(entry: JsonObject) -> float:
    at = entry.get("updatedAt")
    return float(at) if isinstance(at, (int, float)) else 0.0


def _account(server: str) -> str:
    return _FOREIGN.sub("_", server)
