"""The features of our own engines beyond plain turns, by the names of a cassette's needs.

Both engines have the same services, so there is one list.
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
        "plan_mode",
        "reset",
        "resume",
        "rewind",
        "routing",
        "steering",
        "subagents",
    }
)
