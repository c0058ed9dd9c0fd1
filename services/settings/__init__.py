"""The product's settings, as values: one dataclass for each part of a session, and all in one.

A part of a session takes its own group, or all `Settings`. `PARAMETERS` is the one table of the
settings, which docs/settings.md shows; their declarations have their names, types and defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.settings.agents import AgentSettings
from services.settings.declaring import (
    Parameter,
    SettingError,
    look_up,
    parameters_of,
    settings_from,
)
from services.settings.groups import (
    AdkFlags,
    ContextSettings,
    ExtensionSettings,
    McpSettings,
    ModelSettings,
    PolicySettings,
    SessionSettings,
    ToolSettings,
)
from services.settings.hooks import HookSettings
from services.settings.telemetry import TelemetrySettings
from services.settings.without_effect import without_effect

__all__ = [
    "PARAMETERS",
    "AdkFlags",
    "Parameter",
    "SettingError",
    "Settings",
    "settings_from_file",
    "settings_from_parameters",
]


@dataclass(frozen=True, kw_only=True)
class Settings(
    AgentSettings,
    ContextSettings,
    ExtensionSettings,
    HookSettings,
    McpSettings,
    ModelSettings,
    PolicySettings,
    ToolSettings,
    SessionSettings,
):
    """One session's configuration. Immutable; what changes while running is `SessionState`."""

    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    """The telemetry settings; a replay is measured only if its caller asks for it."""
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The core's configuration parameters as they were given, for an engine that takes them whole;
    empty where the settings came from a file."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """A sentence for each setting of a file that has no effect, or less than in the published core;
    a surface shows them."""


PARAMETERS: Final = tuple(parameters_of(Settings))
"""Every setting that this build reads."""


def settings_from_parameters(values: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from the core's configuration parameters; missing ones have their defaults.

    Parameters that are unknown have no effect; `without_effect` names the known ones of these.

    Raises:
        SettingError: a value has the wrong type, or cannot have its effect in this build.
    """
    settings = _settings(values, lambda parameter: parameter.name, interactive)
    return replace(settings, parameters=dict(values))


def settings_from_file(document: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from a user's settings file, parsed.

    Raises:
        SettingError: a value has the wrong type, or cannot have its effect in this build.
    """
    settings = _settings(document, lambda parameter: parameter.key, interactive)
    warnings = (*without_effect(document, of_file=True), *_gaps(document, settings))
    return replace(settings, warnings=warnings)


def _settings(
    values: Mapping[str, Any], path_of: Callable[[Parameter], str | None], interactive: bool
) -> Settings:
    groups: dict[str, dict[str, Any]] = {"": {}, "adk": {}, "telemetry": {}}
    for path, value in settings_from(PARAMETERS, values, path_of).items():
        group, _, name = path.rpartition(".")
        groups[group][name] = value
    return Settings(
        interactive=interactive,
        adk=AdkFlags(**groups["adk"]),
        telemetry=TelemetrySettings(**groups["telemetry"]),
        **groups[""],
    )


def _gaps(document: Mapping[str, Any], settings: Settings) -> Iterator[str]:
    """A sentence for each setting that is switched on and has less than its whole effect."""
    for parameter in PARAMETERS:
        path = parameter.key
        if parameter.gap is None or path is None or not look_up(document, path)[0]:
            continue
        if getattr(settings, parameter.field):
            yield f"The setting {path} has less effect than in the published core: {parameter.gap}"
