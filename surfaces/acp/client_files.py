"""`ClientFiles`: edits go through the client's file system, which may have unsaved text.

Source: `packages/cli` `acp/acpFileSystemService.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp.exceptions import RequestError
from pydantic import ValidationError

from services.tools.text_files import TextFileError, TextFiles
from surfaces.acp.client import Client

__all__ = ["ClientFiles", "FileAbilities"]

_MISSING: Final = ("Resource not found", "ENOENT", "does not exist", "No such file")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAbilities:
    """What the client can do with files."""

    reads: bool = False
    writes: bool = False


class ClientFiles(TextFiles):
    """The client's text files below `root`; those elsewhere, and those of the agent, are on disk.

    Args:
        client: has the files.
        session_id: the session that needs them.
        abilities: what the client can do.
        root: the session's folder.
        own: the agent's folder in the user's home.
    """

    def __init__(
        self, client: Client, session_id: str, abilities: FileAbilities, *, root: Path, own: Path
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._abilities = abilities
        self._root = root
        self._own = own
        self._loaded: dict[Path, str | TextFileError] = {}

    async def load(self, path: Path) -> None:
        """Ask the client for the text."""
        if not self._abilities.reads or not self._is_clients(path):
            return
        try:
            self._loaded[path] = await self._client.read_text_file(self._session_id, str(path))
        except (RequestError, ValidationError, ConnectionError) as error:
            self._loaded[path] = _failure(error)

    def read_if_there(self, path: Path) -> str | None:
        """The text that `load` fetched last, or the disk's.

        Raises:
            TextFileError: the client, or the disk, cannot read it.
        """
        loaded = self._loaded.get(path)
        if loaded is None:
            return super().read_if_there(path)
        if not isinstance(loaded, TextFileError):
            return loaded
        if loaded.code == "ENOENT":
            return None
        raise loaded

    async def write(self, path: Path, text: str) -> None:
        """Let the client write it.

        Raises:
            TextFileError: the client, or the disk, cannot write it.
        """
        self._loaded.pop(path, None)
        if not self._abilities.writes or not self._is_clients(path):
            await super().write(path, text)
            return
        try:
            await self._client.write_text_file(self._session_id, str(path), text)
        except (RequestError, ValidationError, ConnectionError) as error:
            raise _failure(error) from error

    def _is_clients(self, path: Path) -> bool:
        return path.is_relative_to(self._root) and not path.is_relative_to(self._own)


def _failure(error: Exception) -> TextFileError:
    words = str(error)
    data = error.data if isinstance(error, RequestError) else None
    detail = data.get("details") if isinstance(data, dict) else None
    if isinstance(detail, str):
        words = f"{words}: {detail}"
    missing = any(sign in words for sign in _MISSING)
    return TextFileError(words, "ENOENT" if missing else "EIO")
