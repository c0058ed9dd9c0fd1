"""How many tokens a model takes. Source: core `core/tokenLimits.ts`."""

from __future__ import annotations

from typing import Final

from services.model.names import GEMMA_4_26B, GEMMA_4_31B

__all__ = ["DEFAULT_TOKEN_LIMIT", "token_limit"]

DEFAULT_TOKEN_LIMIT: Final = 1_048_576
_LIMITS: Final = {GEMMA_4_31B: 256_000, GEMMA_4_26B: 256_000}
_OTHERS: Final = (
    ("claude-", 200_000),
    ("gpt-4o", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-5", 272_000),
    ("gpt-6", 272_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
)
"""Models of other providers, by the beginnings of their names: what their documentation gives for
every account."""


def token_limit(model: str) -> int:
    """The context window of `model`, a concrete name, in tokens."""
    if model in _LIMITS:
        return _LIMITS[model]
    limits = (limit for name, limit in _OTHERS if model.startswith(name))
    return next(limits, DEFAULT_TOKEN_LIMIT)
