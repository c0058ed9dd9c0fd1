"""`Telemetry`: the places at which a session is watched. Where it is off there is none (`None`),
and nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from services.availability.switching import FallbackActivated
from services.message_bus import MessageBus
from services.model.metering import ModelCallObserver
from services.scheduler.execution import RunCall
from services.state import ApprovalMode, CoreEvents
from services.tools.contract import ToolResult

__all__ = ["Telemetry", "TelemetryError"]


class TelemetryError(Exception):
    """The settings ask for telemetry that cannot be had; the message says what to do."""


class Telemetry(Protocol):
    """Watches one session. Nothing here raises, waits, or changes what it is shown."""

    @property
    def model_calls(self) -> ModelCallObserver:
        """Whom the meter at the model seam tells."""
        ...

    def watch(self, events: CoreEvents, bus: MessageBus, mode: ApprovalMode) -> None:
        """Take down what the session reports, and the tool calls that end, from now on.

        `mode` is the approval mode now.
        """
        ...

    def fell_back(self, fallback: FallbackActivated) -> None:
        """A model stands in for another."""
        ...

    def tools(self, run: RunCall) -> RunCall:
        """`run`, measured."""
        ...

    async def subagent(
        self, name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """What `run`, a run of the subagent called `name`, returns; measured."""
        ...

    def agent(self, agent: AgentProtocol) -> AgentProtocol:
        """`agent`, its turns measured."""
        ...
