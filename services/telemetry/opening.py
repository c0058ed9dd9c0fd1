"""`open_telemetry`: a session's `Telemetry` by its settings, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.settings.telemetry import TelemetrySettings
from services.telemetry.contract import Telemetry, TelemetrySeams

__all__ = ["open_telemetry"]


@contextmanager
def open_telemetry(
    settings: TelemetrySettings, seams: TelemetrySeams
) -> Iterator[Telemetry | None]:
    """Yield a session's telemetry, `None` where it is off. Leaving exports the rest.

    Raises:
        TelemetryError: the settings ask for something that is not available.
    """
    if not settings.enabled:
        yield None
        return
    # OpenTelemetry takes long to import, and most sessions do without.
    from services.telemetry.providers import open_providers

    with open_providers(settings, seams) as telemetry:
        yield telemetry
