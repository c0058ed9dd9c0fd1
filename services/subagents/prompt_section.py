"""The section about agents in the main agent's system instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["agents_section"]

_INTRODUCTION: Final = """\
Other agents can do work for you. `invoke_agent` starts one: by its name, with a prompt that says \
everything it has to know, for it sees nothing of this conversation. What you get back is its \
result alone, which keeps this conversation short.
- Hand over what an agent is made for, and what would take many calls or read a great deal.
- Do small things yourself.
- Agents that may change the same files must not run at the same time. Others may.
The agents:"""


def agents_section(descriptions: Mapping[str, str]) -> str:
    """Return the section about the agents with these names and descriptions; empty without any."""
    lines = [f"- {name}: {description}" for name, description in descriptions.items()]
    return "\n".join((_INTRODUCTION, *lines)) if lines else ""
