"""`Telemetry`: the points at which a session is measured. It is `None` where telemetry is off."""

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
    """The settings ask for telemetry that is not available; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySeams:
    """The parts of a session that its telemetry uses."""

    clock: Clock
    ids: IdSource
    session_id: str
    auth_type: str
    warn: Callable[[str], None]
    """Called once after a failed export."""
    version: str = "unknown"
    runtime: str | None = None
    """The runtime's name; it is in the resource, so that spans are equal in every runtime."""
    interactive: bool = False
    """Whether a user sits at a terminal."""
    installation_id: str | None = None
    """The published CLI's id of this installation; `None` where it has never run."""


class Telemetry(Protocol):
    """Measures one session. Its methods never raise or wait, and change nothing."""

    @property
    def model_calls(self) -> Sequence[ModelCallObserver]:
        """The observers for the meter at the model seam."""
        ...

    def watch(self, events: CoreEvents, bus: MessageBus, mode: ApprovalMode) -> None:
        """Record events and completed tool calls from now on; `mode` is the approval mode now."""
        ...

    def fell_back(self, fallback: FallbackActivated) -> None:
        """Record that a model replaced another."""
        ...

    def tools(self, run: RunCall) -> RunCall:
        """Return `run`, measured."""
        ...

    async def subagent(
        self, name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Await and measure `run`, a run of the subagent `name`."""
        ...

    def export_metrics(self) -> None:
        """Write the metrics as they are now, if they have changed."""
        ...

    def agent(self, agent: AgentProtocol) -> AgentProtocol:
        """Return `agent` with measured turns."""
        ...
