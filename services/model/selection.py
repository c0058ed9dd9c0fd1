"""The model and config of a request: the seam to availability.

`services.availability` implements `ModelAvailability`; clients of a model import only the protocol.

Source: core `availability/policyHelpers.ts`, `applyModelSelection`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from services.abort import AbortSignal
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.names import normalize_model_id
from services.model.retry import AvailabilityContext
from services.state import SessionState
from services.wire import JsonObject

__all__ = ["ModelAvailability", "Selection", "apply_model_selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A model, its config, and its limit on attempts (None: that of the settings)."""

    model: str
    config: JsonObject
    max_attempts: int | None = None


class ModelAvailability(Protocol):
    """The availability of models, for clients that send requests."""

    def select(self, key: ModelConfigKey, *, consume_attempt: bool = True) -> Selection:
        """Choose the model for `key`; for a chat it becomes the session's active model.

        Args:
            key: The wanted config.
            consume_attempt: Whether to use the turn's attempt of a model on probation; False
                where no request follows.

        Raises:
            ModelConfigError: the key does not resolve.
        """
        ...

    def context(self, model: str) -> AvailabilityContext | None:
        """Return the policy of `model` for a retry loop; `None` where no chain contains it."""
        ...

    async def fall_back(
        self, model: str, error: Exception, signal: AbortSignal | None = None
    ) -> str | bool | None:
        """Handle the failure of `model`; truthy: start over, perhaps with another active model.

        Raises:
            AbortError: `signal` was aborted while the user was asked.
        """
        ...


def apply_model_selection(
    key: ModelConfigKey, *, models: ModelConfigs, state: SessionState
) -> Selection:
    """Choose the model for `key` without availability.

    An alias that resolves to another alias (`flash-lite`) loses its own config, because the config
    is resolved again by the concrete name, as upstream does.

    Raises:
        ModelConfigError: The key does not resolve.
    """
    resolved = models.resolve(key)
    model = normalize_model_id(models.concrete(normalize_model_id(resolved.model)))
    if model != resolved.model:
        resolved = models.resolve(replace(key, model=model))
    if key.is_chat_model:
        state.set_active_model(model)
    return Selection(model=model, config=resolved.config)
