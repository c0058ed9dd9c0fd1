"""The `telemetry` settings, and how the environment and the command line change them.

Source: core `telemetry/config.ts`; the settings file's `telemetry` block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from services.settings.declaring import Named, one_of

__all__ = ["OTLP_PROTOCOLS", "TARGETS", "TelemetryOverrides", "TelemetrySettings", "resolved"]

TARGETS: Final = ("local", "gcp")
OTLP_PROTOCOLS: Final = ("grpc", "http")
_TRUE: Final = frozenset({"true", "1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """Whether a session is measured, and where measurements go. Off unless the user asks for it.

    Unlike upstream, OTLP goes over HTTP.
    """

    enabled: Annotated[bool, Named("telemetry.enabled", "telemetry.enabled")] = False
    target: Annotated[str, Named("telemetry.target", "telemetry.target", one_of(*TARGETS))] = (
        "local"
    )
    """`local` or `gcp`; only the first is built in."""
    otlp_endpoint: Annotated[str, Named("telemetry.otlpEndpoint", "telemetry.otlpEndpoint")] = (
        "http://localhost:4318"
    )
    """Where spans and metrics are sent when there is no file for them."""
    otlp_protocol: Annotated[
        str,
        Named("telemetry.otlpProtocol", "telemetry.otlpProtocol", one_of(*OTLP_PROTOCOLS)),
    ] = "http"
    """`grpc` or `http`; only the second is built in."""
    log_prompts: Annotated[bool, Named("telemetry.logPrompts", "telemetry.logPrompts")] = True
    """Whether the log has prompts, answers, and tools' arguments."""
    traces: Annotated[bool, Named("telemetry.traces", "telemetry.traces")] = False
    """Whether spans have the same texts as well, where `log_prompts` allows it."""
    outfile: Annotated[str | None, Named("telemetry.outfile", "telemetry.outfile")] = None
    """The file that records, spans and metrics are appended to, instead of being sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryOverrides:
    """The command line's values; `None` leaves it to the environment and the settings."""

    enabled: bool | None = None
    outfile: str | None = None


def resolved(
    settings: TelemetrySettings, variables: Mapping[str, str], overrides: TelemetryOverrides
) -> TelemetrySettings:
    """Apply the environment to `settings`, and then the command line.

    Raises:
        ValueError: a variable's value has no meaning; says which are known.
    """
    changed = replace(
        settings,
        enabled=_flag(variables, "GEMINI_TELEMETRY_ENABLED", settings.enabled),
        traces=_flag(variables, "GEMINI_TELEMETRY_TRACES_ENABLED", settings.traces),
        log_prompts=_flag(variables, "GEMINI_TELEMETRY_LOG_PROMPTS", settings.log_prompts),
        target=_one_of(variables, "GEMINI_TELEMETRY_TARGET", TARGETS, settings.target),
        otlp_protocol=_one_of(
            variables, "GEMINI_TELEMETRY_OTLP_PROTOCOL", OTLP_PROTOCOLS, settings.otlp_protocol
        ),
        otlp_endpoint=variables.get("GEMINI_TELEMETRY_OTLP_ENDPOINT")
        or variables.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        or settings.otlp_endpoint,
        outfile=variables.get("GEMINI_TELEMETRY_OUTFILE") or settings.outfile,
    )
    return replace(
        changed,
        enabled=changed.enabled if overrides.enabled is None else overrides.enabled,
        outfile=overrides.outfile or changed.outfile,
    )


def _flag(variables: Mapping[str, str], name: str, otherwise: bool) -> bool:
    return variables[name] in _TRUE if name in variables else otherwise


def _one_of(variables: Mapping[str, str], name: str, known: tuple[str, ...], otherwise: str) -> str:
    value = variables.get(name, otherwise)
    if value not in known:
        raise ValueError(f"{name} is {value!r}; write one of {', '.join(known)}")
    return value
