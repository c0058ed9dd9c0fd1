"""The strategies that decide without a model.

Source: core `routing/strategies/{fallback,override,approvalMode,default}Strategy.ts`. All but the
approval mode's ignore the model variant for custom tools.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.availability.availability import Availability
from services.model.configs import ModelConfigs
from services.model.names import ALIAS_FLASH, ALIAS_PRO
from services.routing.decision import RoutingContext, RoutingDecision
from services.state import ApprovalMode, SessionState

__all__ = ["ApprovalModeStrategy", "DefaultStrategy", "FallbackStrategy", "OverrideStrategy"]


@dataclass(frozen=True, slots=True)
class FallbackStrategy:
    """Replaces an unavailable model by the first available one of its chain."""

    models: ModelConfigs
    state: SessionState
    availability: Availability
    name: str = "fallback"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide where the requested model is unavailable and another is available."""
        requested = _requested(context, self.state)
        resolved = self.models.concrete(requested, custom_tools=False)
        snapshot = self.availability.health.snapshot(resolved)
        if snapshot.available:
            return None
        chosen = self.availability.selector.select(requested).model
        if chosen is None or chosen == requested:
            return None
        return RoutingDecision(
            model=chosen,
            source=self.name,
            reasoning=(
                f"Model {requested} is unavailable ({snapshot.reason}). Using fallback: {chosen}"
            ),
        )


@dataclass(frozen=True, slots=True)
class OverrideStrategy:
    """Uses a model that was requested by name."""

    models: ModelConfigs
    state: SessionState
    name: str = "override"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide where the requested model is not an auto model."""
        requested = _requested(context, self.state)
        if self.models.is_auto(requested):
            return None
        return RoutingDecision(
            model=self.models.concrete(requested, custom_tools=False),
            source=self.name,
            reasoning=f"Routing bypassed by forced model directive. Using: {requested}",
        )


@dataclass(frozen=True, slots=True)
class ApprovalModeStrategy:
    """Chooses a pro model in plan mode, and a flash model once a plan is approved."""

    models: ModelConfigs
    state: SessionState
    enabled: bool = True
    name: str = "approval-mode"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide for an auto model, in plan mode or with an approved plan."""
        requested = _requested(context, self.state)
        if not self.enabled or not self.models.is_auto(requested):
            return None
        approved = self.state.approved_plan
        if self.state.approval_mode is ApprovalMode.PLAN:
            tier, why = ALIAS_PRO, "Routing to Pro model because ApprovalMode is PLAN."
        elif approved is not None:
            tier = ALIAS_FLASH
            why = f"Routing to Flash model because an approved plan exists at {approved}."
        else:
            return None
        return RoutingDecision(
            model=self.models.for_tier(requested, tier), source=self.name, reasoning=why
        )


@dataclass(frozen=True, slots=True)
class DefaultStrategy:
    """Chooses the configured model."""

    models: ModelConfigs
    state: SessionState
    name: str = "default"

    async def route(self, context: RoutingContext) -> RoutingDecision:
        """Always decide."""
        model = self.models.concrete(self.state.model, custom_tools=False)
        return RoutingDecision(
            model=model, source=self.name, reasoning=f"Routing to default model: {model}"
        )


def _requested(context: RoutingContext, state: SessionState) -> str:
    return state.model if context.requested_model is None else context.requested_model
