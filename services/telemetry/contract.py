"""`Telemetry`: the places at which a session is watched. Where it is off there is none (`None`),
and nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from services.availability.switching import FallbackActivated
from services.clock import Clock
from services.ids import IdSource
from services.message_bus import MessageBus
from services.model.metering import ModelCallObserver
from services.scheduler.execution import RunCall
from services.state import ApprovalMode, CoreEvents
from services.tools.contract import ToolResult

__all__ = ["Telemetry", "TelemetryError", "TelemetrySeams"]


class TelemetryError(Exception):
    """The settings ask for telemetry that cannot be had; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySeams:
    """What a session's telemetry needs of the session."""

    clock: Clock
    ids: IdSource
    session_id: str
    auth_type: str
    warn: Callable[[str], None]
    """Called once when something cannot be exported."""
    version: str = "unknown"
    runtime: str | None = None
    """The engine's name; it stands in the resource, so that spans are the same in every engine."""
    interactive: bool = False
    """Whether a user sits at a terminal."""
    installation_id: str | None = None
    """What the published CLI calls this installation; `None` where it has never run."""


class Telemetry(Protocol):
    """Watches one session. Nothing here raises, waits, or changes what it is shown."""

    @property
    def model_calls(self) -> Sequence[ModelCallObserver]:
        """The observers for the meter at the model seam."""
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
