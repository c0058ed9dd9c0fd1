"""How routing is set. Source: core `config/config.ts`, the getters that the strategies ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from services.settings import Settings

__all__ = ["RoutingOptions"]

_DEFAULT_THRESHOLD: Final = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingOptions:
    """The switches of routing; the defaults are those of a session without experiments.

    Attributes:
        plan_routing: Whether plan mode chooses the tier.
        numerical_routing: Whether Gemini 3 requests are rated by number.
        remote_threshold: From which score on pro is chosen, if somebody else said so.
        gemma_enabled: Whether a local classifier is asked before the others.
        gemma_model: The local classifier; only `gemma3-1b-gpu-custom` is accepted.
    """

    plan_routing: bool = True
    numerical_routing: bool = True
    remote_threshold: float | None = None
    gemma_enabled: bool = False
    gemma_model: str = "gemma3-1b-gpu-custom"

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """What a session's settings say; experiments, which they know nothing of, are off."""
        return cls(
            plan_routing=settings.plan_model_routing,
            gemma_enabled=settings.gemma_router_enabled,
            gemma_model=settings.gemma_router_model,
        )

    @property
    def threshold(self) -> float:
        """The score in force: the remote one within 0 to 100, else 90."""
        remote = self.remote_threshold
        return remote if remote is not None and 0 <= remote <= 100 else _DEFAULT_THRESHOLD
