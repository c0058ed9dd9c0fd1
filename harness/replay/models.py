"""What answers a run's model requests: the cassette's own steps, or another source of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from harness.cassette.format import Cassette
from services.bundle import Services
from services.clock import VirtualClock
from services.model.generator import ContentGenerator
from services.model.replay.generator import (
    ObservedRequest,
    ReplayedContentGenerator,
    ReplayNote,
)
from services.scheduler.execution import RunCall

__all__ = ["Interposed", "ModelSource", "ReplayedModel", "scripted_model"]


class ReplayedModel(ContentGenerator, Protocol):
    """A model that answers from a recording and knows what it was not asked for."""

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """What did not fit."""
        ...

    def unused_steps(self) -> list[int]:
        """Indices of the answers that nobody asked for."""
        ...


ModelSource = Callable[
    [
        Cassette,
        VirtualClock,
        Callable[[ObservedRequest], None],
        Callable[[int, int], None],
    ],
    ReplayedModel,
]
"""Makes a run's model, given its cassette, clock, and what to call at each request and chunk."""


class Interposed(Protocol):
    """What stands between one run and what answers it: its model, and its tools."""

    def model(self, source: ModelSource) -> ModelSource:
        """What makes the run's model, in the place of `source`."""
        ...

    @property
    def around_tools(self) -> Callable[[RunCall], RunCall] | None:
        """What stands around each run of a tool call, if anything."""
        ...

    def watch(self, services: Services) -> None:
        """The run's services are open, and nothing has happened yet."""
        ...


def scripted_model(
    cassette: Cassette,
    clock: VirtualClock,
    on_request: Callable[[ObservedRequest], None],
    on_chunk: Callable[[int, int], None],
) -> ReplayedModel:
    """The model that answers with the cassette's own steps."""
    return ReplayedContentGenerator(
        cassette.steps,
        clock=clock,
        match=cassette.match,
        on_request=on_request,
        on_chunk=on_chunk,
    )
