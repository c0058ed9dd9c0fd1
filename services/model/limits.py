"""How many tokens a model takes. Source: core `core/tokenLimits.ts`."""

from __future__ import annotations

from typing import Final

from services.model.names import GEMMA_4_26B, GEMMA_4_31B

__all__ = ["DEFAULT_TOKEN_LIMIT", "token_limit"]

DEFAULT_TOKEN_LIMIT: Final = 1_048_576
_LIMITS: Final = {GEMMA_4_31B: 256_000, GEMMA_4_26B: 256_000}


def token_limit(model: str) -> int:
    """The context window of `model`, a concrete name, in tokens."""
    return _LIMITS.get(model, DEFAULT_TOKEN_LIMIT)
