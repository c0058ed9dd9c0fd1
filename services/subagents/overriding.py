"""Applies settings to agents, and registers their model configs.

Source: core `agents/registry.ts` (`applyOverrides`, `registerModelConfigs`),
`services/modelConfigService.ts` (`merge`).
"""

from __future__ import annotations

from dataclasses import replace

from services.model.aliases import ModelAlias, ModelOverride
from services.model.configs import ModelConfigs, merged
from services.model.names import is_auto_model
from services.settings.agents import AgentOverride
from services.subagents.definition import AgentModel, LocalAgentDefinition
from services.wire import Json

__all__ = ["AgentModels", "model_alias", "overridden"]


def model_alias(agent: str) -> str:
    """Return the alias of an agent's model config."""
    return f"{agent}-config"


def overridden(
    definition: LocalAgentDefinition, override: AgentOverride | None
) -> LocalAgentDefinition:
    """Return `definition` with the overrides of settings.

    As upstream, any override, even `enabled` alone, removes the agent's workspace folders, access
    to memory, servers and `on_before_turn`.
    """
    if override is None:
        return definition
    servers = override.mcp_servers
    return replace(
        definition,
        limits=replace(
            definition.limits,
            max_time_minutes=_or(override.max_time_minutes, definition.limits.max_time_minutes),
            max_turns=_or(override.max_turns, definition.limits.max_turns),
        ),
        model=_model(definition.model, override),
        mcp_servers={} if servers is None else {**definition.mcp_servers, **servers},
        on_before_turn=None,
    )


class AgentModels:
    """Registers the agents' model configs with the session's models."""

    def __init__(self, models: ModelConfigs) -> None:
        self._models = models
        self._overrides: dict[str, ModelOverride] = {}

    def register(self, definition: LocalAgentDefinition, session_model: str) -> None:
        """Register `<name>-config` as an alias for the agent's model; `inherit` is the session's.

        For an auto model the config also applies to all calls of the agent, by its name. As
        upstream, calls of other models use the model's name and not the alias.
        """
        wanted = definition.model
        model = session_model if wanted.model == "inherit" else wanted.model
        self._models.register_runtime_alias(
            model_alias(definition.name), ModelAlias(model=model, config=wanted.generation_config)
        )
        if not is_auto_model(model):
            return
        override = ModelOverride(
            match={"overrideScope": definition.name}, config=wanted.generation_config
        )
        # Upstream adds one at every change of model, with the same result.
        if self._overrides.get(definition.name) != override:
            self._overrides[definition.name] = override
            self._models.register_runtime_override(override)


def _or(value: Json, otherwise: Json) -> Json:
    return otherwise if value is None else value


def _model(own: AgentModel, override: AgentOverride) -> AgentModel:
    return AgentModel(
        model=_or(override.model, own.model),
        generation_config=merged(own.generation_config, override.generation_config),
    )
