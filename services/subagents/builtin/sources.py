"""What a built-in agent is to the registry: something that says anew what it is when asked.

What some of them are depends on the session: on its model, its mode, its tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.subagents.definition import LocalAgentDefinition

__all__ = ["BuiltInAgent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInAgent:
    """One of the product's own agents."""

    name: str
    describe: Callable[[], str]
    """Its description, without making the whole definition."""
    make: Callable[[], LocalAgentDefinition]
    """The definition as it is now."""
