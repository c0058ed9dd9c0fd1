"""`open_providers`: the OpenTelemetry providers of a session, and its `Telemetry` over them.

The process's global providers are never set: spans that other libraries create (google-adk does)
stay outside of ours.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from services.ids import IdSource
from services.model.auth import AuthType
from services.providers.provider import Provider
from services.settings.telemetry import TelemetrySettings
from services.telemetry.api_log import ApiLog
from services.telemetry.contract import Telemetry, TelemetryError, TelemetrySeams
from services.telemetry.event_log import EventLog
from services.telemetry.exporting import Destination, Outfile
from services.telemetry.instruments import Instruments
from services.telemetry.log_metrics import LogMetrics
from services.telemetry.otlp import Collector, checked_exporters
from services.telemetry.recorder import Recorder
from services.telemetry.session import SessionTelemetry

__all__ = ["SeamIdGenerator", "open_providers"]

logger = logging.getLogger(__name__)

SERVICE: Final = "parity"
_PROVIDERS: Final[Mapping[str, str]] = {
    AuthType.USE_GEMINI: "gcp.gemini",
    AuthType.USE_VERTEX_AI: "gcp.vertex_ai",
    AuthType.COMPUTE_ADC: "gcp.vertex_ai",
    Provider.OPENAI: "openai",
    Provider.ANTHROPIC: "anthropic",
}
_SOME_GOOGLE_ENDPOINT: Final = "gcp.gen_ai"


class SeamIdGenerator(IdGenerator):
    """Ids of scopes of their own, so that telemetry does not change a session's other ids."""

    def __init__(self, ids: IdSource) -> None:
        self._ids = ids

    def generate_span_id(self) -> int:
        """64 bits, never 0."""
        return int(self._ids.uuid("telemetry span").replace("-", "")[:16], 16)

    def generate_trace_id(self) -> int:
        """128 bits, never 0."""
        return int(self._ids.uuid("telemetry trace").replace("-", ""), 16)


@contextmanager
def open_providers(settings: TelemetrySettings, seams: TelemetrySeams) -> Iterator[Telemetry]:
    """Yield the telemetry of a session; leaving exports the rest.

    Raises:
        TelemetryError: the settings ask for something that is not available.
    """
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
    telemetry = SessionTelemetry(recorder, log, api, destination.export_metrics)
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
    """The attributes of every record and metric of the log."""
    return {
        "session.id": seams.session_id,
        "installation.id": seams.installation_id,
        "interactive": seams.interactive,
        "auth_type": seams.auth_type,
    }


def _destination(
    settings: TelemetrySettings, seams: TelemetrySeams, resource: Resource
) -> Destination:
    """Open the destination that the settings name.

    Raises:
        TelemetryError: it is not available.
    """
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
    return Collector(*checked_exporters(settings.otlp_endpoint), seams.warn)


def _close(*steps: Callable[[], None]) -> None:
    for step in steps:
        try:
            step()
        except Exception:  # the session is over, and its own outcome counts
            logger.warning("telemetry could not be closed properly", exc_info=True)
