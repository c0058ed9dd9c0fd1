"""`answering`: a transport that answers with the steps of a cassette, outside the harness."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from services.model.replay.generator import ReplayedContentGenerator
from services.model.replay.matching import MatchMode
from services.model.replay.steps import parse_steps
from services.providers.wire.server import WireServer
from services.providers.wire.transport import WireTransport
from services.wire import Json

__all__ = ["PassingTime", "answering"]


class PassingTime:
    """A clock whose waits end at once, from 2026-01-01 on."""

    def __init__(self, start_ms: int = 1_767_225_600_000) -> None:
        self._now_ms = float(start_ms)

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return int(self._now_ms)

    def advance(self, delta_ms: float) -> None:
        """Move time on."""
        self._now_ms += delta_ms

    async def sleep(self, delay_ms: float) -> None:
        """Move time on by the delay."""
        self._now_ms += max(0.0, delay_ms)
        await asyncio.sleep(0)

    @contextmanager
    def real_work(self) -> Iterator[None]:
        """Do nothing: time does not pass by itself."""
        yield

    no_real_work = real_work


def answering(steps: Json, *, match: MatchMode = "in_order") -> WireTransport:
    """Return a transport that answers with `steps`, the value of a cassette's key `model`.

    Waits of the steps end at once. A request without a step gets 400, with the nearest step.

    Raises:
        StepFormatError: a step cannot be read; says where and how.
    """
    clock = PassingTime()
    model = ReplayedContentGenerator(parse_steps(steps), clock=clock, match=match)
    return WireTransport(WireServer(model, clock=clock))
