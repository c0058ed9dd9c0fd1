"""The settings of agents: which ones there are, and `agents.overrides`, by name.

Source: core `agents/registry.ts` (`isAgentEnabled`, `applyOverrides`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from services.settings.declaring import (
    Named,
    PlacedProblem,
    SettingError,
    parameters_of,
    read_mapping,
    read_number,
    settings_from,
)

__all__ = ["AgentOverride", "AgentSettings", "read_overrides"]


def _whole(value: Any) -> int:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError("a number expected")
    if not float(value).is_integer():
        raise ValueError("a whole number expected")
    return int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOverride:
    """What settings change about an agent; an absent value changes nothing."""

    enabled: Annotated[bool | None, Named("enabled")] = None
    model: Annotated[str | None, Named("modelConfig.model")] = None
    generation_config: Annotated[Mapping[str, Any], Named("modelConfig.generateContentConfig")] = (
        field(default_factory=dict)
    )
    max_time_minutes: Annotated[
        float | None, Named("runConfig.maxTimeMinutes", read=read_number)
    ] = None
    max_turns: Annotated[int | None, Named("runConfig.maxTurns", read=_whole)] = None
    tools: Annotated[tuple[str, ...] | None, Named("tools")] = None
    """Instead of the agent's own; empty: none."""
    mcp_servers: Annotated[Mapping[str, Any] | None, Named("mcpServers")] = None
    """Added to the agent's own, by name."""


_OVERRIDE: Final = tuple(parameters_of(AgentOverride))


def read_overrides(value: Any) -> Mapping[str, AgentOverride]:
    """The overrides by agent's name, as their author wrote them.

    Raises:
        PlacedProblem: an override has no meaning.
    """
    return {name: _read(item, f".{name}") for name, item in _given(value, "").items()}


def _read(value: Any, place: str) -> AgentOverride:
    given = _given(value, place)
    for group in ("modelConfig", "runConfig"):
        if group in given:
            given[group] = _given(given[group], f"{place}.{group}")
    try:
        fields = settings_from(_OVERRIDE, given, lambda parameter: parameter.name)
    except SettingError as error:
        raise PlacedProblem(f"{place}.{error.key}", error.problem) from None
    return AgentOverride(**fields)


def _given(value: Any, place: str) -> dict[str, Any]:
    """The entries of a mapping that are not `None`."""
    try:
        return {key: item for key, item in read_mapping(value).items() if item is not None}
    except ValueError as problem:
        raise PlacedProblem(place, f"{problem}, not {value!r}") from None


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """Agents that the model can call."""

    enable_agents: Annotated[bool, Named("enableAgents", "experimental.enableAgents")] = True
    agent_overrides: Annotated[
        Mapping[str, AgentOverride], Named("agents.overrides", "agents.overrides", read_overrides)
    ] = field(default_factory=dict)
    """The overrides of agents, by name."""
