"""The question to the client about a model that is not available.

Source: core `fallback/types.ts`, `FallbackModelHandler` and `FallbackIntent`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FallbackIntent", "FallbackModelHandler", "FallbackQuestion"]


class FallbackIntent(StrEnum):
    """The client's answer; the values are the wire's."""

    RETRY_ALWAYS = "retry_always"
    RETRY_ONCE = "retry_once"
    RETRY_WITH_CREDITS = "retry_with_credits"
    STOP = "stop"
    RETRY_LATER = "retry_later"
    UPGRADE = "upgrade"


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackQuestion:
    """Whether to use `fallback_model` instead of `failed_model`.

    The two are equal where no other model is available. `error` is the error's class name.
    """

    failed_model: str
    fallback_model: str
    error: str


FallbackModelHandler = Callable[[FallbackQuestion], Awaitable[FallbackIntent | None]]
"""Asks the client; a result of `None` is an error."""
