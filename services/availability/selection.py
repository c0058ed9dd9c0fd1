"""`ModelSelector`: the model for a request, and the policy for its retries.

Source: core `availability/policyHelpers.ts`, `selectModelForAvailability`, `applyModelSelection`,
`createAvailabilityContextProvider`, `applyAvailabilityTransition`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.availability.chains import PolicyChains
from services.availability.health import (
    HealthSelection,
    ModelAvailabilityService,
    TerminalReason,
)
from services.availability.policies import FailureKind, ModelPolicy, Transition
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.names import DEFAULT_PRO
from services.model.selection import Selection
from services.state import SessionState

__all__ = ["ModelSelector", "PolicyContext"]


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """A policy and the health that it changes, as `Retry` uses them."""

    health: ModelAvailabilityService
    policy: ModelPolicy

    @property
    def max_attempts(self) -> int | None:
        """The policy's limit, if any."""
        return self.policy.max_attempts

    def mark_healthy(self) -> None:
        """Record that the policy's model answered."""
        self.health.mark_healthy(self.policy.model)

    def apply_transition(self, kind: FailureKind) -> None:
        """Record that the policy's model failed.

        Only an exhausted quota counts as a quota. Every other terminal failure, a missing model
        included, counts as a lack of capacity, and expires.
        """
        model = self.policy.model
        transition = self.policy.transitions.get(kind)
        if transition is Transition.TERMINAL:
            is_quota = kind is FailureKind.TERMINAL
            reason = TerminalReason.QUOTA if is_quota else TerminalReason.CAPACITY
            self.health.mark_terminal(model, reason)
        elif transition is Transition.STICKY_RETRY:
            attempts = self.policy.max_attempts
            self.health.mark_retry_once_per_turn(model, 1 if attempts is None else attempts)
            self.health.consume_sticky_attempt(model)


class ModelSelector:
    """Chooses a model of a chain by health."""

    def __init__(
        self,
        *,
        models: ModelConfigs,
        state: SessionState,
        health: ModelAvailabilityService,
        chains: PolicyChains,
    ) -> None:
        self._models = models
        self._state = state
        self._health = health
        self._chains = chains

    def select(self, requested: str) -> HealthSelection:
        """Return the first available model of the chain that starts with `requested`.

        Without one, return the chain's last resort.
        """
        chain = self._chains.resolve(requested)
        selection = self._health.select_first_available(policy.model for policy in chain)
        if selection.model is not None:
            return selection
        last_resorts = (policy.model for policy in chain if policy.is_last_resort)
        return HealthSelection(model=next(last_resorts, DEFAULT_PRO))

    def apply(self, key: ModelConfigKey, *, consume_attempt: bool = True) -> Selection:
        """Choose the model for `key`; see `ModelAvailability.select`.

        An alias that resolves to another alias (`flash-lite`) loses its own config, because the
        config is resolved again by the concrete name, as upstream does.
        """
        resolved = self._models.resolve(key)
        selection = self.select(resolved.model)
        model = selection.model or resolved.model
        if model != resolved.model:
            resolved = self._models.resolve(replace(key, model=model))
        if key.is_chat_model:
            self._state.set_active_model(model)
        attempts = selection.attempts
        if attempts and consume_attempt:
            self._health.consume_sticky_attempt(model)
        if attempts is None:
            policy = self._chains.policy_of(model)
            attempts = None if policy is None else policy.max_attempts
        return Selection(model=model, config=resolved.config, max_attempts=attempts)

    def context_for(self, model: str) -> PolicyContext | None:
        """Return the policy of `model` in its own chain; `None` where it has others."""
        policy = self._chains.policy_of(model)
        return None if policy is None else PolicyContext(self._health, policy)
