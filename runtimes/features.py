"""What the engines built here can do beyond plain turns, by the names of a cassette's needs.

Both engines are given the same services, so the list is one.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BUILT"]

BUILT: Final = frozenset(
    {
        "compression",
        "confirmations",
        "fallback_handler",
        "hooks",
        "interactive",
        "masking",
        "mcp",
        "next_speaker",
        "reset",
        "resume",
        "rewind",
        "routing",
        "steering",
        "subagents",
    }
)
