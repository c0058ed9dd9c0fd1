"""An agent as settings want it, and the names that models know its config by.

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
    """The alias of the model config of an agent."""
    return f"{agent}-config"


def overridden(
    definition: LocalAgentDefinition, override: AgentOverride | None
) -> LocalAgentDefinition:
    """`definition` with what settings change.

    Any override at all, be it only `enabled`, makes the agent forget its workspace folders, its
    access to memory, its servers and what it does before a turn: upstream's defect, kept because
    both have to agree on what an agent may do.
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
        """Make `<name>-config` an alias for the agent's model, `inherit` being the session's.

        Where that leaves the choice to the router, the config goes with the agent's name instead,
        whatever the model turns out to be. For other models it is of no use to the agent's calls,
        which are made by the model's own name: as upstream's are.
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
        # Upstream adds one more at every change of model; the last of equals would win anyway.
        if self._overrides.get(definition.name) != override:
            self._overrides[definition.name] = override
            self._models.register_runtime_override(override)


def _or(value: Json, otherwise: Json) -> Json:
    return otherwise if value is None else value


def _model(own: AgentModel, override: AgentOverride) -> AgentModel:
    if not override.changes_model:
        return own
    return AgentModel(
        model=_or(override.model, own.model),
        generation_config=merged(own.generation_config, override.generation_config),
    )
