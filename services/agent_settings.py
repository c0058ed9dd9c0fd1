"""What settings change about agents: `agents.overrides`, by name.

Source: core `agents/registry.ts` (`isAgentEnabled`, `applyOverrides`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AgentOverride", "AgentSettingsError", "read_overrides"]


class AgentSettingsError(ValueError):
    """A setting about an agent that has no meaning. `place` leads to it from the overrides."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOverride:
    """What is to be different about an agent; nothing given: nothing is."""

    enabled: bool | None = None
    model: str | None = None
    generation_config: Mapping[str, Any] = field(default_factory=dict)
    changes_model: bool = False
    """Whether there was a `modelConfig` at all."""
    max_time_minutes: float | None = None
    max_turns: int | None = None
    tools: tuple[str, ...] | None = None
    """Instead of the agent's own; empty: none."""
    mcp_servers: Mapping[str, Any] | None = None
    """Besides the agent's own, by name."""


def read_overrides(value: Any) -> Mapping[str, AgentOverride]:
    """The overrides by agent's name, as their author wrote them.

    Raises:
        AgentSettingsError: one of them has no meaning.
    """
    return {name: _read(item, f".{name}") for name, item in _mapping(value, "").items()}


def _read(value: Any, place: str) -> AgentOverride:
    given = _mapping(value, place)
    model = given.get("modelConfig")
    model_place = f"{place}.modelConfig"
    model_config = {} if model is None else _mapping(model, model_place)
    run_place = f"{place}.runConfig"
    run = {} if given.get("runConfig") is None else _mapping(given["runConfig"], run_place)
    minutes = _number(run, "maxTimeMinutes", run_place)
    turns = _number(run, "maxTurns", run_place)
    if turns is not None and not float(turns).is_integer():
        raise AgentSettingsError(f"{run_place}.maxTurns", f"a whole number expected, not {turns!r}")
    servers = given.get("mcpServers")
    generation = model_config.get("generateContentConfig")
    return AgentOverride(
        enabled=_typed(given, "enabled", bool, "true or false", place),
        model=_typed(model_config, "model", str, "a text", model_place),
        generation_config=(
            {}
            if generation is None
            else _mapping(generation, f"{model_place}.generateContentConfig")
        ),
        changes_model=model is not None,
        max_time_minutes=minutes,
        max_turns=None if turns is None else int(turns),
        tools=_texts(given, "tools", place),
        mcp_servers=None if servers is None else _mapping(servers, f"{place}.mcpServers"),
    )


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AgentSettingsError(place, f"a mapping expected, not {value!r}")
    return value


def _typed(given: Mapping[str, Any], key: str, type_: type, expected: str, place: str) -> Any:
    value = given.get(key)
    if value is not None and not isinstance(value, type_):
        raise AgentSettingsError(f"{place}.{key}", f"{expected} expected, not {value!r}")
    return value


def _number(given: Mapping[str, Any], key: str, place: str) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise AgentSettingsError(f"{place}.{key}", f"a number expected, not {value!r}")
    return value


def _texts(given: Mapping[str, Any], key: str, place: str) -> tuple[str, ...] | None:
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise AgentSettingsError(f"{place}.{key}", f"a list of texts expected, not {value!r}")
    return tuple(value)
