"""`ModelSwitch`: changes the session's model, by choice or after a failure.

Source: core `config/config.ts`, `setModel`, `activateFallbackMode`, `rotateSessionId`, `resetTurn`,
`resetNewSessionState`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from services.availability.health import ModelAvailabilityService
from services.model.aliases import ModelOverride
from services.model.configs import ModelConfigs
from services.state import SessionState

__all__ = ["FallbackActivated", "FallbackObserver", "ModelSwitch"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackActivated:
    """`model` replaces the session's model, or only `failed_model` where that is given."""

    model: str
    failed_model: str | None


FallbackObserver = Callable[[FallbackActivated], None]


class ModelSwitch:
    """The one way to change the configured model; it resets the models' health."""

    def __init__(
        self,
        *,
        models: ModelConfigs,
        state: SessionState,
        health: ModelAvailabilityService,
        observer: FallbackObserver | None = None,
    ) -> None:
        self._models = models
        self._state = state
        self._health = health
        self._observer = observer
        self._replacements: dict[str, str] = {}

    def set_model(self, model: str) -> None:
        """Set the configured and the active model, and reset every model's health.

        A change emits `ModelChanged` and clears the sticky model. Earlier redirections stay.
        """
        self._state.set_model(model)
        self._health.reset()

    def activate_fallback(self, model: str, failed_model: str | None = None) -> None:
        """Make `model` the session's model.

        With `failed_model`, requests for that name, and requests redirected to it before, also go
        to `model`.
        """
        logger.info(
            "Model fallback activated: switching from %s to %s", failed_model or "unknown", model
        )
        if self._state.active_model != model:
            self.set_model(model)
        if failed_model:
            for source, target in self._replacements.items():
                if target == failed_model:
                    self._redirect(source, model)
            self._redirect(failed_model, model)
        if self._observer is not None:
            self._observer(FallbackActivated(model=model, failed_model=failed_model))

    def rotate_session_id(self, session_id: str) -> None:
        """Change the session's id for the backend; files keep their names."""
        self._state.session_id = session_id
        self._state.prompt_id = session_id

    def reset_turn(self) -> None:
        """Restore the attempts of models on probation, at the start of a turn."""
        self._health.reset_turn()

    def _redirect(self, source: str, target: str) -> None:
        self._replacements[source] = target
        self._models.register_runtime_override(ModelOverride(match={"model": source}, model=target))
