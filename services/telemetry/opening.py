"""`open_telemetry`: from settings and seams to a session's `Telemetry`, or to none.

Nothing of OpenTelemetry is imported before a session turns out to be measured, and the process's
global providers are never set: what else makes spans (google-adk does) stays outside of ours.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from services.clock import Clock
from services.ids import IdSource
from services.model.auth import AuthType
from services.settings.telemetry import TelemetrySettings
from services.telemetry.contract import Telemetry, TelemetryError

if TYPE_CHECKING:  # importing these costs what a run without telemetry must not pay
    from opentelemetry.sdk.resources import Resource

    from services.telemetry.exporting import Destination

__all__ = ["TelemetrySeams", "open_telemetry"]

logger = logging.getLogger(__name__)

SERVICE: Final = "parity"
_PROVIDERS: Final[Mapping[str, str]] = {
    AuthType.USE_GEMINI: "gcp.gemini",
    AuthType.USE_VERTEX_AI: "gcp.vertex_ai",
    AuthType.COMPUTE_ADC: "gcp.vertex_ai",
}
_SOME_GOOGLE_ENDPOINT: Final = "gcp.gen_ai"


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


@contextmanager
def open_telemetry(
    settings: TelemetrySettings, seams: TelemetrySeams
) -> Iterator[Telemetry | None]:
    """A session's telemetry; `None` where it is off. Leaving ends and exports what is left.

    Raises:
        TelemetryError: what the settings ask for cannot be had.
    """
    if not settings.enabled:
        yield None
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    from services.telemetry.api_log import ApiLog
    from services.telemetry.event_log import EventLog
    from services.telemetry.ids import SeamIdGenerator
    from services.telemetry.instruments import Instruments
    from services.telemetry.log_metrics import LogMetrics
    from services.telemetry.recorder import Recorder
    from services.telemetry.session import SessionTelemetry

    about = {
        "session.id": seams.session_id,
        "service.name": SERVICE,
        "service.version": seams.version,
    }
    if seams.runtime is not None:
        about["parity.runtime"] = seams.runtime
    resource = Resource(about)
    destination = _destination(settings, seams, resource)
    meters = MeterProvider([destination.metrics], resource, shutdown_on_exit=False)
    tracers = TracerProvider(
        sampler=ALWAYS_ON,
        resource=resource,
        shutdown_on_exit=False,
        id_generator=SeamIdGenerator(seams.ids),
    )
    tracers.add_span_processor(destination.spans)
    provider = _PROVIDERS.get(seams.auth_type, _SOME_GOOGLE_ENDPOINT)
    meter = meters.get_meter(SERVICE, seams.version)
    recorder = Recorder(
        tracers.get_tracer(SERVICE, seams.version),
        Instruments(meter),
        seams.clock,
        conversation=seams.session_id,
        provider=provider,
        content=settings.traces and settings.log_prompts,
    )
    log = EventLog(
        destination.log,
        LogMetrics(meter),
        seams.clock,
        common=_common(seams),
        content=settings.log_prompts,
    )
    api = ApiLog(
        log,
        auth_type=seams.auth_type,
        provider=provider,
        payloads=settings.traces and settings.log_prompts,
    )
    telemetry = SessionTelemetry(recorder, log, api)
    try:
        yield telemetry
    finally:
        _close(
            telemetry.close,
            recorder.end_open,
            destination.finish,
            meters.shutdown,
            tracers.shutdown,
        )


def _common(seams: TelemetrySeams) -> dict[str, Any]:
    """What every record and every metric of the log says of the session."""
    return {
        "session.id": seams.session_id,
        "installation.id": seams.installation_id,
        "interactive": seams.interactive,
        "auth_type": seams.auth_type,
    }


def _destination(
    settings: TelemetrySettings, seams: TelemetrySeams, resource: Resource
) -> Destination:
    """Where the settings send things.

    Raises:
        TelemetryError: that cannot be had.
    """
    from services.telemetry.exporting import Outfile

    if settings.target != "local":
        raise TelemetryError(
            f"telemetry.target: {settings.target} is not built in; write local, and let a "
            "collector pass things on"
        )
    if settings.outfile:
        return Outfile(Path(settings.outfile), resource, seams.clock, seams.warn)
    if settings.otlp_protocol != "http":
        raise TelemetryError(
            f"telemetry.otlpProtocol: {settings.otlp_protocol} is not built in; write http"
        )
    from services.telemetry.otlp import Collector, checked_exporters

    return Collector(*checked_exporters(settings.otlp_endpoint), seams.warn)


def _close(*steps: Callable[[], None]) -> None:
    for step in steps:
        try:
            step()
        except Exception:  # the session is over, and its own outcome counts
            logger.warning("telemetry could not be closed properly", exc_info=True)
