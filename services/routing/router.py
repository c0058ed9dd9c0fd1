"""`ModelRouter`: which model a request is for.

The first strategy that has an opinion decides; the last one always has. Source: core
`routing/modelRouterService.ts` and `routing/strategies/compositeStrategy.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from services.availability.availability import Availability
from services.clock import Clock
from services.ids import RandomSource
from services.model.configs import ModelConfigs
from services.model.generator import ContentGenerator
from services.model.utility import UtilityModel
from services.routing.classifiers import (
    ClassifierParts,
    ClassifierStrategy,
    NumericalClassifierStrategy,
)
from services.routing.decision import RoutingContext, RoutingDecision, RoutingStrategy
from services.routing.local import GemmaClassifierStrategy
from services.routing.options import RoutingOptions
from services.routing.strategies import (
    ApprovalModeStrategy,
    DefaultStrategy,
    FallbackStrategy,
    OverrideStrategy,
)
from services.state import CoreEvents, SessionState, UserFeedback

__all__ = [
    "CompositeStrategy",
    "ModelRouter",
    "RoutingContext",
    "RoutingDecision",
    "RoutingServices",
]

logger = logging.getLogger(__name__)


def _no_plan() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingServices:
    """What strategies may use.

    Attributes:
        availability: The models' health.
        utility: Asks the classifier.
        clock: How long a decision took.
        rng: Part of the prompt id of a question that has none.
        events: Told when routing cannot go on.
        options: The switches.
        approved_plan: Where the plan is that has been approved, if there is one.
        local: The local classifier's endpoint.
        observer: Told of every decision.
    """

    availability: Availability
    utility: UtilityModel
    clock: Clock
    rng: RandomSource
    events: CoreEvents
    options: RoutingOptions = field(default_factory=RoutingOptions)
    approved_plan: Callable[[], str | None] = _no_plan
    local: ContentGenerator | None = None
    observer: Callable[[RoutingDecision], None] | None = None


class CompositeStrategy:
    """Asks strategies in order; `last` decides where none of them does.

    A strategy that fails is logged and passed over, all but the last one.
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
        """The decision, its source prefixed with this strategy's name.

        Raises:
            Exception: whatever the last strategy raised.
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
    """Decides by strategies, in the order in which `strategies` names them.

    Without `services` there are only forced models and the default.
    """

    def __init__(
        self,
        *,
        models: ModelConfigs,
        state: SessionState,
        services: RoutingServices | None = None,
    ) -> None:
        self._state = state
        self._now_ms = services.clock.now_ms if services is not None else _no_time
        self._observer = services.observer if services is not None else None
        self._options = services.options if services is not None else RoutingOptions()
        strategies: Sequence[RoutingStrategy] = (OverrideStrategy(models, state),)
        if services is not None:
            strategies = _strategies(models, state, services)
        self._composite = CompositeStrategy(
            strategies,
            DefaultStrategy(models, state),
            now_ms=self._now_ms,
            events=None if services is None else services.events,
            name="agent-router",
        )

    @property
    def strategies(self) -> list[str]:
        """The names of the strategies that are asked before the default, in order."""
        return [strategy.name for strategy in self._composite.strategies]

    async def route(self, context: RoutingContext) -> RoutingDecision:
        """The model for this request; the configured one where deciding failed altogether."""
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
        if self._observer is not None:
            self._observer(decision)
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
                "enable_numerical_routing": self._options.numerical_routing,
                "classifier_threshold": f"{self._options.threshold:g}",
            },
        )


def _no_time() -> int:
    return 0


def _strategies(
    models: ModelConfigs, state: SessionState, services: RoutingServices
) -> list[RoutingStrategy]:
    options = services.options
    parts = ClassifierParts(
        models=models,
        state=state,
        health=services.availability.health,
        utility=services.utility,
        clock=services.clock,
        rng=services.rng,
        options=options,
    )
    strategies: list[RoutingStrategy] = [
        FallbackStrategy(models, state, services.availability),
        OverrideStrategy(models, state),
        ApprovalModeStrategy(
            models, state, services.clock, services.approved_plan, options.plan_routing
        ),
    ]
    if options.gemma_enabled:
        strategies.append(
            GemmaClassifierStrategy(
                models=models,
                state=state,
                clock=services.clock,
                generator=services.local,
                model=options.gemma_model,
            )
        )
    return [*strategies, ClassifierStrategy(parts), NumericalClassifierStrategy(parts)]
