"""`Client`: what performs a cassette's actions, with or without a surface in front of the runtime.

A surface opens the session's services and runtime where it needs them (`Stage`), and returns the
client that acts as its user. `harness.replay.direct` is the client without a surface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.cassette.format import Action, Cassette, DuringAction
from harness.errors import Unplayable
from harness.replay.answers import ScriptedUser
from harness.replay.envelope import Envelope
from harness.replay.observation import Screen
from harness.replay.pace import Pace
from harness.replay.witness import Witness
from runtimes.contract import Runtime
from services.bundle import Services
from services.compose import ServicesSetup
from services.interaction.interaction import Interaction
from services.state import CoreEvents
from services.wire import JsonObject

__all__ = ["Client", "Played", "Stage", "Surface", "Unplayable"]


class Client(Protocol):
    """Performs the actions of a cassette."""

    async def resume(self, recording: Path) -> None:
        """Go on from a chat recording."""
        ...

    async def act(self, action: Action) -> None:
        """Perform an action of the script; returns when its work is done.

        Raises:
            ReplayFailure: the runtime cannot do it.
            Unplayable: a user of the surface cannot do it.
        """
        ...

    def interrupt(self, action: DuringAction) -> None:
        """Begin an action while a stream runs; it takes effect as soon as the surface lets it."""
        ...


class OpenServices(Protocol):
    """Opens the services, whose questions the interaction answers."""

    def __call__(
        self,
        interaction: Interaction,
        adapted: Callable[[ServicesSetup], ServicesSetup] = ...,
    ) -> AbstractAsyncContextManager[Services]:
        """Open them with the setup of the cassette, as `adapted` returns it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a surface gets of one run."""

    cassette: Cassette
    envelope: Envelope
    session_id: str
    events: CoreEvents
    """The notices of the session, from its opening."""
    witness: Witness
    user: ScriptedUser
    pace: Pace
    screens: list[Screen]
    """The settled screens of the run, which a surface with a screen adds to."""
    wire: list[JsonObject]
    """The messages of the run, which a surface with a protocol adds to (`Observation.wire`)."""
    unused_steps: Callable[[], Sequence[int]]
    """The steps of the cassette's model that were not requested yet."""
    open_services: OpenServices
    open_runtime: Callable[[Services], AbstractAsyncContextManager[Runtime]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An open session, and the client that acts in it."""

    client: Client
    group: asyncio.TaskGroup
    """Ends before the services close."""
    runtime: Runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A way in which users reach a session."""

    name: str
    playing: Callable[[Stage], AbstractAsyncContextManager[Played]]
    """Opens the session of a stage behind the surface; leaving closes both."""
    refusal: Callable[[Cassette], str | None]
    """Why a user of the surface could not do what a cassette asks for, in one sentence."""
    interactive: bool = True
    """Whether its sessions can ask the user."""
