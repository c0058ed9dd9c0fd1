"""A user with a store of extensions, and folders of extensions to install."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from services.environment import Environment
from services.extensions.origins import origin_of
from services.extensions.store import ExtensionStore
from services.settings import Settings
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace
from tests.services.sessions import session_at

T = TypeVar("T")

SETTINGS = (
    {"name": "Key", "description": "The key", "envVar": "DEMO_KEY"},
    {"name": "Secret", "description": "The secret", "envVar": "DEMO_SECRET", "sensitive": True},
)


@dataclass
class Author:
    """Writes extensions."""

    folder: Path

    def write(self, name: str = "demo", version: str = "1.0.0", **more: Any) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"name": name, "version": version, **more}
        (folder / "gemini-extension.json").write_text(json.dumps(manifest))
        return folder

    def put(self, name: str, text: str, extension: str = "demo") -> None:
        file = self.folder / extension / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, extension: str = "demo") -> str:
        """Commit everything; returns the address of the repository."""
        folder = self.folder / extension
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "change")):
            who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
            subprocess.run(("git", *who, *words), cwd=folder, check=True)
        return f"file://{folder}"


@dataclass
class User:
    """A home and a workspace."""

    root: Path
    said: list[tuple[str, str]] = field(default_factory=list)
    """What was reported."""
    asked: list[str] = field(default_factory=list)
    """What the user was asked to agree to."""
    agrees: bool = True

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Workspace:
        return Workspace.at(self.root / "ws", self.home)

    def store(self, *, only: list[str] | None = None, **settings: Any) -> ExtensionStore:
        events = CoreEvents()
        session = session_at(self.workspace, Settings(**settings), events=events)

        def note(event: Any) -> None:
            if isinstance(event, UserFeedback):
                self.said.append((event.severity, event.message))

        events.subscribe(note)
        store = ExtensionStore(
            self.workspace,
            session.settings,
            Environment.of_this_machine(),
            session.clock,
            events,
            only=only,
        )
        store.load()
        return store

    async def consent(self, text: str) -> bool:
        self.asked.append(text)
        return self.agrees

    def install(self, store: ExtensionStore, source: str | Path, **more: Any) -> Any:
        origin = origin_of(str(source), self.workspace.root, **more)
        return run(store.install(origin, self.consent))


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path / "author")


@pytest.fixture
def user(tmp_path: Path) -> User:
    for name in ("home", "ws"):
        (tmp_path / name).mkdir()
    return User(tmp_path)
