"""Asks the user about agents of the project that are not acknowledged.

Source: core `agents/registry.ts`; `packages/cli` `ui/AppContainer.tsx`.
"""

from __future__ import annotations

from services.interaction.asides import Asides
from services.interaction.questions import NewAgent, NewAgentsChoice, NewAgentsQuestion
from services.subagents.registry import AgentRegistry

__all__ = ["ask_about_new_agents"]


def ask_about_new_agents(registry: AgentRegistry, asides: Asides) -> None:
    """Ask about all waiting agents in one question; a yes acknowledges them."""
    waiting = registry.waiting()
    if not waiting:
        return

    async def take(choice: NewAgentsChoice) -> None:
        if choice == NewAgentsChoice.ACKNOWLEDGE:
            for agent in waiting:
                await registry.acknowledge(agent.name)

    shown = tuple(NewAgent(name=each.name, description=each.description) for each in waiting)
    asides.ask(NewAgentsQuestion(agents=shown), take)
