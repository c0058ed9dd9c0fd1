"""The product's settings, as values. Defaults are the core configuration's constructor defaults.

Source: core `config/config.ts`; names and the settings file's keys: `packages/cli` settings
schema. `PARAMETERS` is the one table that leads from the core's configuration parameters and from
a user's settings file to these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

__all__ = [
    "PARAMETERS",
    "AdkFlags",
    "Parameter",
    "SettingError",
    "Settings",
    "settings_from_file",
    "settings_from_parameters",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkFlags:
    """`experimental.adk.*`: which runtime, and which surfaces go through the agent session."""

    runtime_enabled: bool = False
    agent_session_noninteractive_enabled: bool = False
    agent_session_interactive_enabled: bool = False
    agent_session_subagent_enabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One session's configuration. Immutable; what changes while running is `SessionState`."""

    max_session_turns: int = -1
    """Negative: unlimited. The agent loop reads 0 as "none", the client as "unlimited"."""
    max_attempts: int = 10
    retry_fetch_errors: bool = True
    truncate_tool_output_threshold: int = 40_000
    """Characters; 0 or less switches truncation off."""
    shell_inactivity_timeout_s: float = 300.0
    """Seconds without output after which a shell command is ended; 0 or less: never."""
    disable_llm_correction: bool = True
    topic_update_narration: bool = True
    folder_trusted: bool = True
    interactive: bool = False
    policy_rules: tuple[Mapping[str, Any], ...] = ()
    """Rules appended to the engine's: `toolName`, `decision`, `priority`, `argsPattern`, …"""
    core_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    adk: AdkFlags = field(default_factory=AdkFlags)
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The core's configuration parameters as they were given, for an engine that takes them whole;
    empty where the settings came from a file."""


class SettingError(ValueError):
    """A setting whose value has no meaning. `key` is what its author called it."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setting under its three names."""

    name: str
    """The core's configuration parameter, as cassettes give it; dots lead into mappings."""
    key: str | None
    """The user's settings file's key; `None` for what only programs set."""
    field: str
    """The field of `Settings`; `adk.` leads into `AdkFlags`."""
    read: Callable[[Any], Any]
    """The value for the field; raises `ValueError` with what was expected."""


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false expected")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number expected")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a number expected")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of texts expected")
    return tuple(value)


def _mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(x, Mapping) for x in value):
        raise ValueError("a list of mappings expected")
    return tuple(value)


def _attempts(value: Any) -> int:
    return min(_whole(value), 10)


def _parameter(name: str, key: str | None, field: str, read: Callable[[Any], Any]) -> Parameter:
    return Parameter(name=name, key=key, field=field, read=read)


PARAMETERS: Final = (
    _parameter("maxSessionTurns", "model.maxSessionTurns", "max_session_turns", _whole),
    _parameter("maxAttempts", "general.maxAttempts", "max_attempts", _attempts),
    _parameter("retryFetchErrors", "general.retryFetchErrors", "retry_fetch_errors", _boolean),
    _parameter(
        "truncateToolOutputThreshold",
        "tools.truncateToolOutputThreshold",
        "truncate_tool_output_threshold",
        _whole,
    ),
    _parameter(
        "shellToolInactivityTimeout",
        "tools.shell.inactivityTimeout",
        "shell_inactivity_timeout_s",
        _number,
    ),
    _parameter(
        "disableLLMCorrection", "tools.disableLLMCorrection", "disable_llm_correction", _boolean
    ),
    _parameter(
        "topicUpdateNarration", "general.topicUpdateNarration", "topic_update_narration", _boolean
    ),
    _parameter("trustedFolder", None, "folder_trusted", _boolean),
    _parameter("policyRules", None, "policy_rules", _mappings),
    _parameter("coreTools", "tools.core", "core_tools", _texts),
    _parameter("excludeTools", "tools.exclude", "exclude_tools", _texts),
    *(
        _parameter(f"adk.{wire}", f"experimental.adk.{wire}", f"adk.{ours}", _boolean)
        for wire, ours in (
            ("runtimeEnabled", "runtime_enabled"),
            ("agentSessionNoninteractiveEnabled", "agent_session_noninteractive_enabled"),
            ("agentSessionInteractiveEnabled", "agent_session_interactive_enabled"),
            ("agentSessionSubagentEnabled", "agent_session_subagent_enabled"),
        )
    ),
)
"""Every setting that this build acts on."""


def settings_from_parameters(values: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from the core's configuration parameters; what is not given has its default.

    Parameters that this build does not act on play no part.

    Raises:
        SettingError: a value has the wrong type.
    """
    settings = _settings(values, lambda parameter: parameter.name, interactive)
    return replace(settings, parameters=dict(values))


def settings_from_file(document: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from a user's settings file, parsed.

    Raises:
        SettingError: a value has the wrong type.
    """
    return _settings(document, lambda parameter: parameter.key, interactive)


def _settings(
    values: Mapping[str, Any], named: Callable[[Parameter], str | None], interactive: bool
) -> Settings:
    fields: dict[str, Any] = {"interactive": interactive}
    flags: dict[str, bool] = {}
    for parameter in PARAMETERS:
        path = named(parameter)
        found, value = _look_up(values, path) if path is not None else (False, None)
        if not found:
            continue
        try:
            read = parameter.read(value)
        except ValueError as problem:
            raise SettingError(path or parameter.name, f"{problem}, not {value!r}") from None
        group, _, name = parameter.field.rpartition(".")
        (flags if group else fields)[name] = read
    return Settings(adk=AdkFlags(**flags), **fields)


def _look_up(values: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value
