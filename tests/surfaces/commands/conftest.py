"""The command layer over a session of each runtime, with a model that answers from a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from runtimes.contract import Runtime
from surfaces.commands import (
    CommandLayer,
    CommandSession,
    Dialog,
    Item,
    ItemKind,
    default_sources,
)
from surfaces.headless.preferences import Preferences
from tests.runtimes.kit import Kit, Played

T = TypeVar("T")

ENGINES = ("legacy", "adk")
DIALOGS = frozenset(Dialog)


@dataclass
class Desk:
    """A session with its commands."""

    layer: CommandLayer
    session: CommandSession
    played: Played
    items: list[Item] = field(default_factory=list)
    """What commands have shown."""

    async def run(self, text: str, **options: Any) -> Any:
        return await self.layer.run(text, self.items.append, **options)

    def with_settings(self) -> Preferences:
        """Let commands change settings, and agree to everything."""

        async def agree(text: str) -> bool:
            self.items.append(Item(kind=ItemKind.INFO, text=text))
            return True

        services = self.session.services
        self.session.preferences = found = Preferences(services.workspace, {})
        self.session.consent = agree
        return found

    async def say(self, text: str) -> None:
        await self.session.runtime.agent().send(Kit.message(text))
        await self.session.runtime.settled()

    @property
    def shown(self) -> str:
        return "\n".join(item.text for item in self.items)

    @property
    def root(self) -> Path:
        return self.session.services.workspace.root


Script = Callable[[Desk], Awaitable[T]]


class Desks:
    """Opens sessions, and runs a test's script over each."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    def run(
        self,
        script: Script[T],
        *answers: str | list[Any],
        dialogs: frozenset[Dialog] = DIALOGS,
        prepare: Callable[[Path], None] | None = None,
        **options: Any,
    ) -> T:
        """`answers` are the model's texts, or chunks. `prepare` gets the workspace first."""
        results: list[T] = []

        async def go(played: Played, runtime: Runtime) -> None:
            session = CommandSession(runtime=runtime, services=played.services, dialogs=dialogs)
            if prepare is not None:
                prepare(played.services.workspace.root)
            layer = CommandLayer(session, default_sources())
            await layer.load()
            results.append(await script(Desk(layer, session, played)))

        steps: Sequence[Any] = [
            [self._kit.text(answer, "STOP")] if isinstance(answer, str) else answer
            for answer in answers
        ]
        self._kit.run(go, steps, **options)
        return results[0]


@pytest.fixture(params=ENGINES)
def desks(request: pytest.FixtureRequest, tmp_path: Path) -> Desks:
    """Sessions of both runtimes: for commands that touch the conversation."""
    return Desks(Kit(request.param, tmp_path))


@pytest.fixture
def desk(tmp_path: Path) -> Desks:
    """Sessions of one runtime: for commands that do not touch the conversation."""
    return Desks(Kit("legacy", tmp_path))
