"""`ModelRouter`: chooses the model for a request.

The first strategy that decides wins; the last one always decides. Source: core
`routing/modelRouterService.ts` and `routing/strategies/compositeStrategy.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from services.availability.availability import Availability
from services.model.configs import ModelConfigs
from services.model.utility import UtilityModel
from services.routing.classifiers import (
    THRESHOLD,
    ClassifierParts,
    ClassifierStrategy,
    NumericalClassifierStrategy,
)
from services.routing.decision import RoutingContext, RoutingDecision, RoutingStrategy
from services.routing.strategies import (
    ApprovalModeStrategy,
    DefaultStrategy,
    FallbackStrategy,
    OverrideStrategy,
)
from services.session import Session
from services.state import CoreEvents, UserFeedback

__all__ = [
    "CompositeStrategy",
    "ModelRouter",
    "RoutingContext",
    "RoutingDecision",
]

logger = logging.getLogger(__name__)


class CompositeStrategy:
    """Calls strategies in order; `last` decides where none of them does.

    A strategy that fails is logged and skipped, except the last one.
    """

    def __init__(
        self,
        strategies: Sequence[RoutingStrategy],
        last: RoutingStrategy,
        *,
        now_ms: Callable[[], int],
        events: CoreEvents | None = None,
        name: str = "composite",
    ) -> None:
        self.strategies = tuple(strategies)
        self._last = last
        self._now_ms = now_ms
        self._events = events
        self.name = name

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Return the decision, with this strategy's name before its source.

        Raises:
            Exception: the last strategy failed.
        """
        started_ms = self._now_ms()
        for strategy in self.strategies:
            try:
                decision = await strategy.route(context)
            except Exception:  # one strategy's failure must not keep the others from deciding
                logger.debug("[Routing] Strategy '%s' failed", strategy.name, exc_info=True)
                continue
            if decision is not None:
                return self._finished(decision, started_ms)
        try:
            decision = await self._last.route(context)
        except Exception:
            if self._events is not None:
                message = (
                    f"[Routing] Critical Error: Terminal strategy '{self._last.name}' failed. "
                    "Routing cannot proceed. Error:"
                )
                self._events.emit(UserFeedback(severity="error", message=message))
            raise
        return None if decision is None else self._finished(decision, started_ms)

    def _finished(self, decision: RoutingDecision, started_ms: int) -> RoutingDecision:
        return replace(
            decision,
            source=f"{self.name}/{decision.source}",
            latency_ms=decision.latency_ms or self._now_ms() - started_ms,
        )


class ModelRouter:
    """Chooses models by a fixed order of strategies."""

    def __init__(
        self,
        session: Session,
        *,
        models: ModelConfigs,
        availability: Availability,
        utility: UtilityModel,
    ) -> None:
        """Make the router of a session.

        Args:
            session: Its state has the configured model and the approval mode.
            models: Resolves names and tiers.
            availability: The models' health.
            utility: Answers the classifiers' requests.
        """
        state, clock = session.state, session.clock
        self._state = state
        self._now_ms = clock.now_ms
        parts = ClassifierParts(
            models=models,
            state=state,
            health=availability.health,
            utility=utility,
            clock=clock,
            rng=session.rng,
        )
        self._composite = CompositeStrategy(
            (
                FallbackStrategy(models, state, availability),
                OverrideStrategy(models, state),
                ApprovalModeStrategy(models, state, session.settings.plan_model_routing),
                ClassifierStrategy(parts),
                NumericalClassifierStrategy(parts),
            ),
            DefaultStrategy(models, state),
            now_ms=self._now_ms,
            events=session.events,
            name="agent-router",
        )

    @property
    def strategies(self) -> list[str]:
        """The names of the strategies before the default, in order."""
        return [strategy.name for strategy in self._composite.strategies]

    async def route(self, context: RoutingContext) -> RoutingDecision:
        """Choose the model for a request; the configured model where all strategies fail."""
        started_ms = self._now_ms()
        try:
            decision = await self._composite.route(context)
            error = "no strategy decided"
        except Exception as problem:  # the request must go on with some model
            logger.debug("[Routing] Exception during routing", exc_info=True)
            decision, error = None, str(problem)
        if decision is None:
            decision = RoutingDecision(
                model=self._state.model,
                source="router-exception",
                reasoning="An exception occurred during routing.",
                latency_ms=self._now_ms() - started_ms,
                error=error,
            )
        logger.debug("routed to %s (%s): %s", decision.model, decision.source, decision.reasoning)
        self._log(decision)
        return decision

    def _log(self, decision: RoutingDecision) -> None:
        """Source: core `telemetry/types.ts` (`ModelRoutingEvent`)."""
        self._state.log(
            "model_routing",
            f"Model routing decision. Model: {decision.model}, Source: {decision.source}",
            {
                "decision_model": decision.model,
                "decision_source": decision.source,
                "routing_latency_ms": decision.latency_ms,
                "failed": decision.error is not None,
                "approval_mode": str(self._state.approval_mode),
                "reasoning": decision.reasoning or None,
                "error_message": decision.error,
                "enable_numerical_routing": True,
                "classifier_threshold": f"{THRESHOLD:g}",
            },
        )
