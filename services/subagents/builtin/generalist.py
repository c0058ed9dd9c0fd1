"""`generalist`: does work that would fill the main conversation.

Source: core `agents/generalist-agent.ts`; the texts are this product's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from services.state import ApprovalMode, SessionState
from services.subagents.definition import (
    AgentModel,
    AgentPrompt,
    BuiltInAgent,
    LocalAgentDefinition,
    OutputConfig,
    RunLimits,
)
from services.wire import JsonObject

__all__ = ["generalist"]

_NAME: Final = "generalist"
_DESCRIPTION: Final = (
    "Does anything, with all tools. For work that takes many turns or a great deal of data, so "
    "that this conversation need not carry it: "
)
_FOR_PLANS: Final = "looking through much of the code, planning changes to many files."
_FOR_WORK: Final = (
    "the same change or mend in many files, commands that say much, trying out what may come to "
    "nothing."
)
_RESULT: Final[JsonObject] = {
    "type": "object",
    "properties": {"response": {"type": "string", "description": "What came of it."}},
    "required": ["response"],
    "additionalProperties": False,
}


def generalist(
    state: SessionState,
    tool_names: Callable[[], Sequence[str]],
    core_instruction: Callable[[], str],
) -> BuiltInAgent:
    """Make the agent.

    Args:
        state: plan mode changes the agent's description.
        tool_names: the session's tools; the agent gets all of them.
        core_instruction: the main agent's instruction for a session without a user, without memory
            and other agents.
    """

    def describe() -> str:
        planning = state.approval_mode is ApprovalMode.PLAN
        return _DESCRIPTION + (_FOR_PLANS if planning else _FOR_WORK)

    def make() -> LocalAgentDefinition:
        return LocalAgentDefinition(
            name=_NAME,
            display_name="Generalist Agent",
            description=describe(),
            input_name="request",
            output=OutputConfig(name="result", description="What came of it.", schema=_RESULT),
            model=AgentModel(model="inherit"),
            limits=RunLimits(max_time_minutes=10, max_turns=20),
            tools=tuple(tool_names()),
            prompt=AgentPrompt(system=core_instruction(), query="${request}"),
        )

    return BuiltInAgent(name=_NAME, describe=describe, make=make)
