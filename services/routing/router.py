"""`ModelRouter`: which model a request is for.

The first strategy that has an opinion decides; the last one always has. Source: core
`routing/modelRouterService.ts` and `routing/strategies`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from services.abort import AbortSignal
from services.model.configs import ModelConfigs
from services.model.names import is_auto_model, resolve_model
from services.state import SessionState
from services.wire import Content, Part

__all__ = ["ModelRouter", "RoutingContext", "RoutingDecision"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext:
    """What there is to decide on.

    Attributes:
        history: The curated history, without the request.
        request: The request's parts.
        signal: Ends the decision.
        requested_model: The configured model; None: ask the session.
    """

    history: Sequence[Content]
    request: Sequence[Part]
    signal: AbortSignal
    requested_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingDecision:
    """A concrete model, which strategy chose it (`agent-router/<strategy>`), and why, in words."""

    model: str
    source: str
    reason: str


_Strategy = Callable[[RoutingContext], Awaitable[RoutingDecision | None]]


class ModelRouter:
    """Decides by strategies, in order. Routing leaves the custom-tools variant to the chains."""

    def __init__(self, *, models: ModelConfigs, state: SessionState) -> None:
        self._models = models
        self._state = state
        self._strategies: Sequence[_Strategy] = (self._forced,)

    async def route(self, context: RoutingContext) -> RoutingDecision:
        """The model for this request."""
        for strategy in self._strategies:
            decision = await strategy(context)
            if decision is not None:
                return _routed(decision)
        return _routed(self._default())

    async def _forced(self, context: RoutingContext) -> RoutingDecision | None:
        """A model that was asked for by name is taken, whatever the request."""
        requested = context.requested_model
        if requested is None:
            requested = self._state.model
        if is_auto_model(requested):
            return None
        return RoutingDecision(
            model=self._resolve(requested),
            source="override",
            reason=f"Routing bypassed by forced model directive. Using: {requested}",
        )

    def _default(self) -> RoutingDecision:
        model = self._resolve(self._state.model)
        return RoutingDecision(
            model=model, source="default", reason=f"Routing to default model: {model}"
        )

    def _resolve(self, model: str) -> str:
        return resolve_model(model, self._models.access.without_custom_tools())


def _routed(decision: RoutingDecision) -> RoutingDecision:
    return replace(decision, source=f"agent-router/{decision.source}")
