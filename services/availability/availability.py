"""`Availability`: health, chains, selection, fallback and switching of a session's models."""

from __future__ import annotations

from services.abort import AbortSignal
from services.availability.chains import PolicyChains
from services.availability.fallback import FallbackHandler
from services.availability.health import ModelAvailabilityService
from services.availability.selection import ModelSelector, PolicyContext
from services.availability.switching import FallbackObserver, ModelSwitch
from services.clock import Clock
from services.ids import IdSource
from services.interaction.interaction import Interaction
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.selection import Selection
from services.state import SessionState

__all__ = ["Availability"]


class Availability:
    """The `ModelAvailability` of a session.

    Args:
        models: Aliases, overrides, access.
        state: The session.
        clock: Times the return of capacity.
        ids: New ids for the session after a fallback.
        interaction: Asks the user about a fallback.
        observer: Receives every fallback.
    """

    def __init__(
        self,
        *,
        models: ModelConfigs,
        state: SessionState,
        clock: Clock,
        ids: IdSource,
        interaction: Interaction,
        observer: FallbackObserver | None = None,
    ) -> None:
        self.health = ModelAvailabilityService(clock)
        self.chains = PolicyChains(models, state)
        self.selector = ModelSelector(
            models=models, state=state, health=self.health, chains=self.chains
        )
        self.switch = ModelSwitch(models=models, state=state, health=self.health, observer=observer)
        self.fallback = FallbackHandler(
            state=state,
            health=self.health,
            chains=self.chains,
            switch=self.switch,
            ids=ids,
            interaction=interaction,
        )

    def select(self, key: ModelConfigKey, *, consume_attempt: bool = True) -> Selection:
        """Settle the model for `key`; see `ModelSelector.apply`."""
        selection = self.selector.apply(key, consume_attempt=consume_attempt)
        self.fallback.call_begins(selection.model)
        return selection

    def context(self, model: str) -> PolicyContext | None:
        """The policy of `model` for a retry loop; see `ModelSelector.context_for`."""
        return self.selector.context_for(model)

    async def fall_back(
        self, model: str, error: Exception, signal: AbortSignal | None = None
    ) -> bool | None:
        """`model` cannot be used; see `FallbackHandler.fall_back`."""
        return await self.fallback.fall_back(model, error, signal)

    def set_model(self, model: str) -> None:
        """Change the configured model; see `ModelSwitch.set_model`."""
        self.switch.set_model(model)

    def reset_turn(self) -> None:
        """A turn begins; see `ModelSwitch.reset_turn`."""
        self.switch.reset_turn()
