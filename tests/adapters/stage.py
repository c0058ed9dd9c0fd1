"""A stage for adapters: one agent of a user over a scripted model, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.runtime import AgentRuntime
from agent_protocol.agent import AgentProtocol
from agent_protocol.codec import to_wire
from agent_protocol.events import AgentEvent
from harness.replay.envelope import open_envelope
from parity_tests.stage import message, play
from services.bundle import Services
from services.compose import open_services
from services.model.replay.generator import ReplayedContentGenerator
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import parse_steps

__all__ = ["Stage", "kinds", "plain", "play", "stage"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a test may touch."""

    runtime: Any
    agent: AgentProtocol
    services: Services
    model: ReplayedContentGenerator
    requests: list[ObservedRequest]

    async def say(self, text: str) -> list[AgentEvent]:
        """Send a message, wait for the end of the stream, return its events."""
        stream_id = await self.agent.send(message(text))
        await self.runtime.settled()
        return [event for event in self.agent.events if event.stream_id == stream_id]


@asynccontextmanager
async def stage(factory: AgentRuntime, *steps: dict[str, Any]) -> AsyncIterator[Stage]:
    """Open a runtime over a model that answers with `steps`, in order."""
    with open_envelope() as envelope:
        requests: list[ObservedRequest] = []
        model = ReplayedContentGenerator(
            parse_steps(list(steps)), clock=envelope.clock, on_request=requests.append
        )
        setup = envelope.setup("gemini-2.5-flash", model)
        async with open_services(setup) as services, factory(services) as runtime:
            yield Stage(
                runtime=runtime,
                agent=runtime.agent(),
                services=services,
                model=model,
                requests=requests,
            )


def kinds(events: Sequence[AgentEvent]) -> list[str]:
    """The types of the events behind the user's message and `agent_start`."""
    return [event.type for event in events[2:]]


def plain(event: AgentEvent) -> dict[str, Any]:
    """An event as JSON, without what every event has."""
    common = ("id", "timestamp", "streamId", "type")
    return {key: value for key, value in to_wire(event).items() if key not in common}
