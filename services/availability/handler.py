"""The question what to do when a model is not available, as a client answers it.

Source: core `fallback/types.ts`, `FallbackModelHandler` and `FallbackIntent`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FallbackIntent", "FallbackModelHandler", "FallbackQuestion"]


class FallbackIntent(StrEnum):
    """What a client may want; the wire's strings."""

    RETRY_ALWAYS = "retry_always"
    RETRY_ONCE = "retry_once"
    RETRY_WITH_CREDITS = "retry_with_credits"
    STOP = "stop"
    RETRY_LATER = "retry_later"
    UPGRADE = "upgrade"


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackQuestion:
    """`failed_model` cannot be used; shall it be `fallback_model`?

    The two are the same where there is nothing to fall back to. `error` is the error's class name.
    """

    failed_model: str
    fallback_model: str
    error: str


FallbackModelHandler = Callable[[FallbackQuestion], Awaitable[FallbackIntent | None]]
"""Asks whoever decides; `None` leaves it to the error."""
