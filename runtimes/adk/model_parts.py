"""What the model layer works with, and what makes its requests those of one kind of session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from google.genai import types

from runtimes.adk.answer_reader import Requested
from runtimes.adk.conversation import Conversation
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.run import Run, RunLink
from runtimes.adk.tools import Toolbox
from services.bundle import Services
from services.chat import tool_call_request
from services.model.generator import LlmRole

__all__ = ["Asking", "Instruction", "ModelParts"]


class Instruction:
    """The system instruction, and what was last said of it.

    The flow asks when it begins a request, the model layer when it sends one: the approval mode,
    and with it the instruction, may have changed in between.
    """

    def __init__(self, provider: Callable[[], str]) -> None:
        self._provider = provider
        self.said = ""

    def __call__(self) -> str:
        """The instruction as it is now."""
        self.said = self._provider()
        return self.said


def _scheduled(services: Services, run: Run) -> Requested:
    return lambda call, response_id: tool_call_request(
        services.tools, run.prompt_id, call, response_id
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a kind of session asks the model."""

    role: LlmRole = LlmRole.MAIN
    names_calls: bool = True
    """Calls that have no id get one, which history keeps."""
    outlives_stops: bool = False
    """An answer that a hook stopped is over, but the run goes on with what clients got of it."""
    announces_retries: bool = False
    """An event says that the answer begins anew, so that its reader may leave."""
    requested: Callable[[Services, Run], Requested] = _scheduled
    """How a function call becomes what the batch of calls runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """What the model layer works with."""

    services: Services
    conversation: Conversation
    pending: Callable[[], types.Content | None]
    """The user-role turn that waits to be sent."""
    link: RunLink
    tools: Toolbox
    instruction: Instruction
    hooks: HookBridgePlugin | None = None
    """The user's hooks around model calls, where there are any."""
    asking: Asking = field(default_factory=Asking)
