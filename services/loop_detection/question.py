"""`LoopPrompt`: asks the user about loop detection once a loop has ended a stream.

Source: `packages/cli` `ui/hooks/useGeminiStream.ts`, which shows its dialog when the stream is
over; core `services/loopDetectionService.ts`, `disableForSession`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent_protocol.events import AgentEnd, AgentEvent, AgentStart, ErrorEvent
from services.interaction.asides import Asides
from services.interaction.questions import LoopChoice, LoopQuestion

__all__ = ["LoopPrompt"]

_LOOP_DETECTED: Final = "LOOP_DETECTED"


class LoopPrompt:
    """A subscriber of one agent.

    Args:
        asides: Asks the question.
        prompt_id: The id of the agent's prompts.
        disable: Switches the detection off for the session.
    """

    def __init__(self, asides: Asides, *, prompt_id: str, disable: Callable[[], None]) -> None:
        self._asides = asides
        self._prompt_id = prompt_id
        self._disable = disable
        self._looped = False

    def __call__(self, event: AgentEvent) -> None:
        """Take in the agent's next event."""
        match event:
            case AgentStart():
                self._looped = False
            case ErrorEvent(meta=meta) if meta and meta.get("code") == _LOOP_DETECTED:
                self._looped = True
            case AgentEnd(reason=reason):
                # After an abort the user has decided already.
                if self._looped and reason != "aborted":
                    self._asides.ask(LoopQuestion(prompt_id=self._prompt_id), self._take)
                self._looped = False
            case _:
                pass  # The other events say nothing about a stream's end.

    async def _take(self, choice: LoopChoice) -> None:
        if choice == LoopChoice.DISABLE:
            self._disable()
