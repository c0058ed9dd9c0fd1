"""The session of a surface whose user a program plays, and which that program opens itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from services.bundle import Services
from services.clock import Clock
from services.environment import Environment
from services.ids import IdSource
from services.progress import ProgressFeed
from services.settings import Settings
from services.settings.telemetry import TelemetrySettings
from services.state import ApprovalMode
from services.wire import JsonObject
from services.workspace import Workspace
from surfaces.headless.machine import Machine
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.model import ModelSource
from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.planning import Plan
from surfaces.terminal.live import LiveSession
from surfaces.terminal.prepared import Prepared

__all__ = ["LiveSession", "Prepared", "live_session", "prepared_for"]

_AUTH: Final = "gemini-api-key"


def prepared_for(
    *,
    workspace: Workspace,
    environment: Environment,
    clock: Clock,
    ids: IdSource,
    session_id: str,
    settings: Settings,
    model: str,
    approval_mode: ApprovalMode,
    document: JsonObject,
) -> Prepared:
    """Return what a surface needs to know of a session that its caller opens.

    `document` is the user's settings, for what the surface reads from them itself.
    """
    return Prepared(
        options=HeadlessOptions(),
        machine=Machine(clock=clock, ids=ids, environment=environment, workspace=workspace),
        plan=Plan(
            settings=settings,
            document=document,
            output=OutputFormat.TEXT,
            model=model,
            approval_mode=approval_mode,
            selected_auth=_AUTH,
            enforced_auth=None,
            include_directories=(),
            only_extensions=("none",),
            telemetry=TelemetrySettings(),
            folder_trusted=True,
        ),
        source=ModelSource(auth_type=_AUTH),
        session_id=session_id,
    )


def live_session(
    prepared: Prepared,
    services: Services,
    runtime: Runtime,
    agent_made: Callable[[AgentProtocol], object],
) -> LiveSession:
    """Return an open session as a surface shows it; `agent_made` gets each of its agents."""
    metrics = SessionMetrics()
    metrics.watch(services.bus)
    return LiveSession(
        prepared=prepared,
        services=services,
        runtime=runtime,
        progress=ProgressFeed(services),
        metrics=metrics,
        agent_made=agent_made,
    )
