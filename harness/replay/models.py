"""The model of a run: it answers with the cassette's steps, or from another source."""

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
    """A model that answers from a recording and knows the unused steps."""

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """Requests that found no step."""

    def unused_steps(self) -> list[int]:
        """Indices of the steps that no request used."""


ModelSource = Callable[
    [
        Cassette,
        VirtualClock,
        Callable[[ObservedRequest], None],
        Callable[[int, int], None],
    ],
    ReplayedModel,
]
"""Makes a run's model from its cassette, clock, and callbacks for requests and chunks."""


class Interposed(Protocol):
    """Wraps the model and the tools of one run."""

    def model(self, source: ModelSource) -> ModelSource:
        """The source of the run's model, instead of `source`."""

    @property
    def around_tools(self) -> Callable[[RunCall], RunCall] | None:
        """A wrapper for the run of each tool call, if any."""

    def watch(self, services: Services) -> None:
        """Subscribe to the run's services, which have just opened."""


def scripted_model(
    cassette: Cassette,
    clock: VirtualClock,
    on_request: Callable[[ObservedRequest], None],
    on_chunk: Callable[[int, int], None],
) -> ReplayedModel:
    """A model that answers with the cassette's steps."""
    return ReplayedContentGenerator(
        cassette.steps,
        clock=clock,
        match=cassette.match,
        on_request=on_request,
        on_chunk=on_chunk,
    )
