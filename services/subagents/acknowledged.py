"""The agents of a project that the user has acknowledged, by name and hash.

The file is upstream's, `~/.gemini/acknowledgments/agents.json`, which both products share. Source:
core `agents/acknowledgedAgents.ts`.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.regular_files import open_regular
from services.wire import JsonObject, js_json_pretty
from services.workspace import Workspace

__all__ = ["AcknowledgedAgents"]

logger = logging.getLogger(__name__)

_MAX_BYTES: Final = 10_000_000


class AcknowledgedAgents:
    """The acknowledged agents of one project."""

    def __init__(self, workspace: Workspace) -> None:
        self.file: Path = workspace.home / ".gemini" / "acknowledgments" / "agents.json"
        self._project = str(workspace.root)
        self._known: JsonObject | None = None
        self._added: JsonObject = {}

    def knows(self, name: str, hash_: str) -> bool:
        """Whether the user acknowledged this agent. The file is read once."""
        if self._known is None:
            self._known = self._read()
        project = self._known.get(self._project)
        return isinstance(project, dict) and project.get(name) == hash_

    def add(self, name: str, hash_: str) -> None:
        """Acknowledge an agent in this session and, if the file can be written, in later ones.

        Agents that other sessions have added stay.
        """
        known = self._read()
        project = known.get(self._project)
        self._added[name] = hash_
        known[self._project] = {**(project if isinstance(project, dict) else {}), **self._added}
        self._known = known
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            # Never half a file: another session may be reading it.
            draft = self.file.with_name(f"{self.file.name}.{os.getpid()}.tmp")
            draft.write_text(js_json_pretty(known), encoding="utf-8")
            draft.replace(self.file)
        except OSError as error:
            notice(error, self.file)
            logger.warning("the acknowledgment of agent %s cannot be kept: %s", name, error)

    def _read(self) -> JsonObject:
        try:
            with open_regular(self.file) as file:
                content = file.read(_MAX_BYTES)
            known = json.loads(content.decode(errors="replace"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("%s counts as empty, since it cannot be read: %s", self.file, error)
            return {}
        if not isinstance(known, dict):
            logger.warning("%s counts as empty: it holds no object", self.file)
            return {}
        return known
