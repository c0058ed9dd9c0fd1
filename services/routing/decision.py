"""The input and the result of routing. Source: core `routing/routingStrategy.ts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.abort import AbortSignal
from services.wire import Content, Part

__all__ = ["RoutingContext", "RoutingDecision", "RoutingStrategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext:
    """The input of a decision.

    Attributes:
        history: The curated history, without the request.
        request: The request's parts.
        signal: Ends the decision.
        requested_model: The configured model; None: the session's.
        prompt_id: The prompt id of a classifier's request; None: a generated one.
    """

    history: Sequence[Content]
    request: Sequence[Part]
    signal: AbortSignal
    requested_model: str | None = None
    prompt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingDecision:
    """The chosen model.

    Attributes:
        model: Its concrete name.
        source: Which strategy chose it (`agent-router/<strategy>`), or `router-exception`.
        reasoning: Why, in words.
        latency_ms: The duration of the decision.
        error: Why no strategy decided.
    """

    model: str
    source: str
    reasoning: str
    latency_ms: int = 0
    error: str | None = None


class RoutingStrategy(Protocol):
    """One way to decide."""

    @property
    def name(self) -> str:
        """Its name in logs."""
        ...

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Return the decision, or None to leave it to the next strategy."""
        ...
