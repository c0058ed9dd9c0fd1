"""The features of our own engines beyond plain turns, by the names of a cassette's needs.

Both engines have the same services, so there is one list.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BUILT"]

BUILT: Final = frozenset(
    {
        "checkpoints",
        "compression",
        "confirmations",
        "fallback_handler",
        "hooks",
        "interactive",
        "loop_question",
        "masking",
        "mcp",
        "new_agents_question",
        "next_speaker",
        "plan_mode",
        "reset",
        "resume",
        "revert",
        "rewind",
        "routing",
        "sign_in_question",
        "steering",
        "subagents",
        "trust_question",
        "validation_question",
    }
)
