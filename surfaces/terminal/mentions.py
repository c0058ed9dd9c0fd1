"""`Mentions`: what `@` in a prompt may become: agents, files and folders.

Source: `packages/cli` `ui/hooks/useAtCompletion.ts`.
"""

from __future__ import annotations

import asyncio
import os.path
import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from services.bundle import Services
from services.outside_patterns import PatternLimit
from services.tools.globbing import walk_files
from services.tools.ignore import FileDiscovery
from surfaces.commands import Suggestion

__all__ = ["Mentions", "mention_place"]

_MENTION: Final = re.compile(r"(?<!\S)@((?:\\.|[^\s\\])*)\Z")
_ESCAPED: Final = re.compile(r"\\(.)")
_SPECIAL: Final = re.compile(r"([\s\\,;!?()\[\]{}\"'])")
_MOST_FILES: Final = 20_000
"""The files of a workspace that are looked at."""
_MOST: Final = 50


def mention_place(text: str) -> int | None:
    """Where the name begins that stands after an `@` at the end of `text`; `None`: none does."""
    found = _MENTION.search(text)
    return None if found is None else found.start(1)


class Mentions:
    """Finds suggestions. The files are listed once for each `@` that the user begins."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._paths: list[str] | None = None

    def forget(self) -> None:
        """List the files anew at the next question."""
        self._paths = None

    async def suggestions(self, text: str) -> list[Suggestion]:
        """The menu for the name at the end of `text`: agents, then files and folders."""
        place = mention_place(text)
        if place is None:
            return []
        typed = _ESCAPED.sub(r"\1", text[place:]).lower()
        agents = [
            Suggestion(value=name, description="[Agent]")
            for name in self._services.subagents.registry.names()
            if typed in name.lower()
        ]
        if self._paths is None:
            self._paths = await asyncio.to_thread(self._listed)
        matching = [path for path in self._paths if typed in path.lower()]
        paths = sorted(matching, key=lambda path: _rank(path, typed))
        files = [Suggestion(value=_SPECIAL.sub(r"\\\1", path), description="") for path in paths]
        return [*agents, *files][:_MOST]

    def _listed(self) -> list[str]:
        root = self._services.workspace.root
        files = (os.path.relpath(path, root) for path in walk_files(root))
        discovery = FileDiscovery(root)
        try:
            visible, _ = discovery.visible(list(islice(files, _MOST_FILES)))
        except PatternLimit:
            return []
        return [*_folders(visible), *visible]


def _folders(files: Iterable[str]) -> list[str]:
    found: set[str] = set()
    for file in files:
        folder, slash, _ = file.rpartition("/")
        while slash and f"{folder}/" not in found:
            found.add(f"{folder}/")
            folder, slash, _ = folder.rpartition("/")
    return sorted(found)


def _rank(path: str, typed: str) -> tuple[bool, bool, int, str]:
    """Names that begin with what is typed first, then paths that do, then the shorter ones."""
    low = path.lower()
    name = low.rstrip("/").rpartition("/")[2]
    return not name.startswith(typed), not low.startswith(typed), len(path), path
