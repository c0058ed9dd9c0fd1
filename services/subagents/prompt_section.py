"""What the main agent is told of the agents that it may call, in its system instruction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["AgentSummary", "agents_section"]

_INTRODUCTION: Final = """\
Other agents can do work for you. `invoke_agent` starts one: by its name, with a prompt that says \
everything it has to know, for it sees nothing of this conversation. What you get back is its \
result alone, which keeps this conversation short.
- Hand over what an agent is made for, and what would take many calls or read a great deal.
- Do small things yourself.
- Agents that may change the same files must not run at the same time. Others may.
The agents:"""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """What the main agent is told of an agent."""

    name: str
    description: str


def agents_section(agents: Iterable[AgentSummary]) -> str:
    """The section of the system instruction about `agents`; empty where there are none."""
    lines = [f"- {agent.name}: {agent.description}" for agent in agents]
    return "\n".join((_INTRODUCTION, *lines)) if lines else ""
