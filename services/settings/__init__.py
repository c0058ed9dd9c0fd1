"""The product's settings, as values: one dataclass for each part of a session, and all in one.

A part of a session takes its own group, or all `Settings`. `PARAMETERS` is the one table of the
settings, which docs/settings.md shows; their declarations have their names, types and defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.settings.agents import AgentSettings
from services.settings.declaring import Parameter, SettingError, parameters_of, settings_from
from services.settings.groups import (
    AdkFlags,
    ContextSettings,
    McpSettings,
    ModelSettings,
    PolicySettings,
    SessionSettings,
    ToolSettings,
)
from services.settings.hooks import HookSettings
from services.settings.telemetry import TelemetrySettings

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


PARAMETERS: Final = tuple(parameters_of(Settings))
"""Every setting that this build reads."""


def settings_from_parameters(values: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from the core's configuration parameters; missing ones have their defaults.

    Parameters that this build does not read have no effect.

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
    return _settings(document, lambda parameter: parameter.key, interactive)


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
