"""What BeforeAgent and AfterAgent hooks make of one call of `GeminiClient`.

Source: core `core/client.ts` `fireBeforeAgentHookSafe`, `fireAfterAgentHookSafe`,
`sendMessageStream`.
"""

from __future__ import annotations

from dataclasses import dataclass

from runtimes.legacy.chats import Chats
from runtimes.legacy.events import AgentExecutionBlocked, AgentExecutionStopped
from runtimes.legacy.turn import Turn
from services.abort import AbortSignal
from services.hooks.prompt_hooks import PromptHooks
from services.wire import Part

__all__ = ["AgentVerdict", "ClientCall", "after_agent", "before_agent"]

AgentVerdict = AgentExecutionStopped | AgentExecutionBlocked
"""What hooks have against a call, as the client tells it."""


@dataclass(slots=True)
class ClientCall:
    """What came of one call of the client, for the hooks around it."""

    turn: Turn | None = None
    stop_hook_active: bool = False

    @property
    def pending_calls(self) -> bool:
        """Whether the last turn asked for tools."""
        return self.turn is not None and bool(self.turn.answer.calls)

    def continued(self) -> ClientCall:
        """The call that a blocking AfterAgent hook makes necessary."""
        return ClientCall(stop_hook_active=True)


async def before_agent(
    hooks: PromptHooks, chats: Chats, parts: list[Part], prompt_id: str, signal: AbortSignal
) -> tuple[AgentVerdict | None, list[Part]]:
    """What ends the call before it begins, if anything; and the request, perhaps with more.

    A request that is stopped stands in history all the same.
    """
    said = await hooks.begin(prompt_id, parts, signal)
    if said is None:
        return None, parts
    if said.stops:
        chats.current.add_history({"role": "user", "parts": parts})
        return AgentExecutionStopped(said.reason, said.system_message), parts
    if said.blocks:
        return AgentExecutionBlocked(said.reason, said.system_message), parts
    if said.additional_context:
        parts = [*parts, {"text": f"<hook_context>{said.additional_context}</hook_context>"}]
    return None, parts


async def after_agent(
    hooks: PromptHooks,
    parts: list[Part],
    prompt_id: str,
    signal: AbortSignal,
    call: ClientCall,
) -> tuple[AgentVerdict | None, list[Part] | None]:
    """What is told of AfterAgent, if anything; and the request that it makes necessary."""
    said = await hooks.after_agent(
        prompt_id,
        parts,
        response_text=call.turn.answer.text if call.turn is not None else "",
        has_pending_calls=call.pending_calls,
        stop_hook_active=call.stop_hook_active,
        signal=signal,
    )
    if said is None:
        return None, None
    if said.stops:
        told = (said.reason, said.system_message, said.clears_context)
        return AgentExecutionStopped(*told), None
    if said.blocks:
        told = (said.reason, said.system_message, said.clears_context)
        return AgentExecutionBlocked(*told), [{"text": said.reason}]
    return None, None
