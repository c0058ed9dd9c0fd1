"""Which model a request goes to, and with which config: the seam to availability.

What is available and what stands in for it is `services.availability`'s business, which knows
models; so that the clients of a model need not know it, they ask through `ModelAvailability`.

Source: core `availability/policyHelpers.ts`, `applyModelSelection`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.names import normalize_model_id
from services.model.retry import AvailabilityContext
from services.state import SessionState
from services.wire import JsonObject

__all__ = ["ModelAvailability", "Selection", "apply_model_selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A model, its config, and how often it may be tried (None: as often as the settings say)."""

    model: str
    config: JsonObject
    max_attempts: int | None = None


class ModelAvailability(Protocol):
    """What whoever asks a model needs to know of availability; `services.availability` has it."""

    def select(self, key: ModelConfigKey, *, consume_attempt: bool = True) -> Selection:
        """Settle the model for `key`; for a chat it becomes the session's active model.

        Args:
            key: What is wanted.
            consume_attempt: Use up the one attempt that a model on probation has in this turn.
                False where nothing is asked yet.

        Raises:
            ModelConfigError: the key does not resolve.
        """
        ...

    def context(self, model: str) -> AvailabilityContext | None:
        """The policy of `model` for a retry loop; `None` where it is in no chain of its own."""
        ...

    async def fall_back(self, model: str, error: Exception) -> str | bool | None:
        """`model` cannot be used; truthy: the active model may have changed, start over."""
        ...


def apply_model_selection(
    key: ModelConfigKey, *, models: ModelConfigs, state: SessionState
) -> Selection:
    """Settle the model for `key` where nothing is known of availability.

    A key whose alias resolves to another alias (`flash-lite`) loses the config of its own: the
    config is looked up again by the concrete name. So it is upstream.

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
