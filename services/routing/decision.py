"""What routing decides on, and what it decides. Source: core `routing/routingStrategy.ts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.abort import AbortSignal
from services.wire import Content, Part

__all__ = ["RoutingContext", "RoutingDecision", "RoutingStrategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext:
    """What there is to decide on.

    Attributes:
        history: The curated history, without the request.
        request: The request's parts.
        signal: Ends the decision.
        requested_model: The configured model; None: ask the session.
        prompt_id: Under which id a strategy asks a model; None: one of its own.
    """

    history: Sequence[Content]
    request: Sequence[Part]
    signal: AbortSignal
    requested_model: str | None = None
    prompt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingDecision:
    """A model, and how it came to be.

    Attributes:
        model: Its concrete name.
        source: Which strategy chose it (`agent-router/<strategy>`), or `router-exception`.
        reasoning: Why, in words.
        latency_ms: How long it took.
        error: What went wrong, where nothing could be decided.
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
        """What logs call it."""
        ...

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """The decision, or None to leave it to the next one."""
        ...
