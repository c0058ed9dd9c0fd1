"""Which model a request goes to, and with which config.

Source: core `availability/policyHelpers.ts`, `applyModelSelection`, for a model that is alone in
its chain and in good health.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.names import normalize_model_id, resolve_model
from services.state import SessionState
from services.wire import JsonObject

__all__ = ["Selection", "apply_model_selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A model, its config, and how often it may be tried (None: as often as the settings say)."""

    model: str
    config: JsonObject
    max_attempts: int | None = None


def apply_model_selection(
    key: ModelConfigKey, *, models: ModelConfigs, state: SessionState
) -> Selection:
    """Settle the model for `key`; for a chat it becomes the session's active model.

    A key whose alias resolves to another alias (`flash-lite`) loses the config of its own: the
    config is looked up again by the concrete name. So it is upstream.

    Raises:
        ModelConfigError: The key does not resolve.
    """
    resolved = models.resolve(key)
    model = normalize_model_id(resolve_model(normalize_model_id(resolved.model), models.access))
    if model != resolved.model:
        resolved = models.resolve(replace(key, model=model))
    if key.is_chat_model:
        state.set_active_model(model)
    return Selection(model=model, config=resolved.config)
